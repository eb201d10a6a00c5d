"""``circlet loom``: what a run recorded, and what is done with it."""

from __future__ import annotations

import typer

from .export import export
from .fork import fork
from .importing import import_
from .resume import resume
from .reward import reward
from .show import show
from .threads import threads
from .verify import verify

app = typer.Typer(no_args_is_help=True, help="Look at what a run recorded.")
app.command("export")(export)
app.command("fork")(fork)
app.command("import")(import_)
app.command("resume")(resume)
app.command("reward", context_settings={"ignore_unknown_options": True})(reward)
app.command("show")(show)
app.command("threads")(threads)
app.command("verify")(verify)
