"""``circlet exec``: one program in a sandbox, with no model and no loom."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ...sandbox import Execution, Limits, Sandbox
from ...sandbox.packages import check_packages
from .console import clean, complain, show_value
from .faults import Code, UsageFault

MAX_SOURCE = 10_000_000
"""Longest program that is read, in bytes."""


def execute(
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="A Python file; - is standard input.")
    ] = "-",
    eval_ms: Annotated[
        int, typer.Option(help="Time that the program may take, in milliseconds.")
    ] = Limits().eval_ms,
    memory_mb: Annotated[
        int, typer.Option(help="Memory that it may take, in MiB.")
    ] = Limits().memory_mb,
    backend: Annotated[
        Literal["auto", "kernel", "portable"], typer.Option(help="What it runs in.")
    ] = "auto",
    package: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A package that it may import; can be repeated."),
    ] = None,
) -> None:
    """Run a Python program in a sandbox of its own.

    What it prints goes to standard output, and after it the value of its last
    line, or what it gives to done(). An error goes to standard error, and the
    exit code is 1.
    """
    source = _source(file)
    try:
        limits = Limits(eval_ms=eval_ms, memory_mb=memory_mb, output_chars=10_000_000)
        packages = check_packages(package or ())
    except ValueError as error:
        raise UsageFault(str(error)) from None
    with Sandbox(limits=limits, backend=backend, packages=packages) as box:
        execution = box.run(source)
    _show(execution)
    if execution.status not in ("ok", "done"):
        raise typer.Exit(Code.FAILED)


def _source(file: str) -> str:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_SOURCE + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(MAX_SOURCE + 1)
        if len(data) > MAX_SOURCE:
            raise UsageFault(f"the program {file} is longer than {MAX_SOURCE:,} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageFault(f"the program {file} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageFault(f"the program {file} is not UTF-8 text (byte {error.start})") from None


def _show(execution: Execution) -> None:
    if execution.stdout:
        typer.echo(clean(execution.stdout), nl=not execution.stdout.endswith("\n"))
    if execution.shown is not None:
        typer.echo(clean(execution.shown))
    if execution.status == "done":
        show_value(execution.answer)
    elif execution.error is not None:
        typer.echo(clean(execution.error.traceback.rstrip("\n")), err=True)
    elif execution.status != "ok":
        complain(f"the program ended with status {execution.status}")
