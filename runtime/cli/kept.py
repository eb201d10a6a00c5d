"""What a run keeps of its spell, so that it can be gone on with: a copy, and where it stood."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ..spell import Spell, read_spell
from .faults import UsageFault

COPY = "spell.yaml"
PLACE = "spell.path"
"""The file with the path of the spell that was copied: paths in it are relative to its folder."""


def keep_spell(directory: Path, spell: Spell) -> None:
    """Keep a spell in a run's directory.

    Raises:
        OSError: It can't be written.
    """
    (directory / COPY).write_bytes(spell.source.encode())
    (directory / PLACE).write_bytes(os.fsencode(spell.path.absolute()) + b"\n")


def kept_spell(directory: Path, llm: str | None = None) -> Spell:
    """The spell that a run began with.

    Args:
        directory: The run's directory.
        llm: A model, as ``provider:model``, instead of the spell's.

    Raises:
        UsageFault: The run keeps none, or it can't be read.
        SpellError: It can't be had any more as it was; the text gives the line.
    """
    path = directory / COPY
    try:
        source = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise UsageFault(
            f"{directory} holds no {COPY}: its run was begun by a program of its own, which has to "
            "go on with it"
        ) from None
    except OSError as error:
        raise UsageFault(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageFault(f"{path} is not UTF-8 text (byte {error.start})") from None
    return read_spell(source, path, llm, _folder(directory))


def _folder(directory: Path) -> Path:
    with contextlib.suppress(OSError):
        return Path(os.fsdecode((directory / PLACE).read_bytes().removesuffix(b"\n"))).parent
    return directory
