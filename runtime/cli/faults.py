"""Which exit code an error comes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from ...sandbox.errors import CircletError
from .console import complain


class Code(IntEnum):
    """The exit codes."""

    TERMINATED = 0
    FAILED = 1
    USAGE = 2
    TRUNCATED = 3
    INTERRUPTED = 130


class UsageFault(CircletError):
    """Something about how a command was called won't do: its spell, its options, its files."""


@contextmanager
def usage() -> Iterator[None]:
    """Count the errors that come up inside as faults of how the command was called."""
    try:
        yield
    except CircletError as error:
        raise UsageFault(str(error)) from error


class Commands(TyperGroup):
    """The commands; an error that one of them raises is told in one line, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except UsageFault as error:
            complain(str(error))
            raise typer.Exit(Code.USAGE) from None
        except CircletError as error:
            complain(str(error))
            raise typer.Exit(Code.FAILED) from None
        except BrokenPipeError:
            raise  # whoever reads the output has enough; click ends the command in silence
        except OSError as error:
            complain(f"the output can't be written: {error.strerror}")
            raise typer.Exit(Code.FAILED) from None
