"""The commands, put together, and what every one of them needs."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from .acp import acp
from .conform import conform
from .doctor import doctor
from .exec import execute
from .faults import Commands
from .loom import app as loom
from .replay import replay
from .run import run as run_spell

app = typer.Typer(
    name="circlet",
    cls=Commands,
    help="Runs recursive entities: language models that act by writing Python.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run_spell)
app.command("exec")(execute)
app.command("acp")(acp)
app.command("conform")(conform)
app.add_typer(loom, name="loom")
app.command("replay")(replay)
app.command("doctor")(doctor)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"circlet {version('circlet')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command that the arguments name, and exit with its code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before this began
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.set_int_max_str_digits(0)  # an answer may be a huge int, which the codec bounds
    app(prog_name="circlet")
