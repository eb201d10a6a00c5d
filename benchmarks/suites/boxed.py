"""Programs in a sandbox, each in a session of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from circlet import Execution, Sandbox

from .program import Outcome, Program, Turn


def run(programs: Sequence[Program]) -> list[Outcome]:
    """Run programs in sandboxes, as many at a time as there are processors."""
    Sandbox().close()  # what sessions share is started by a thread that outlives them
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(_run, programs))


def _run(program: Program) -> Outcome:
    with Sandbox() as sandbox:
        return tuple(_turn(sandbox.run(source)) for source in program.turns)


def _turn(ran: Execution) -> Turn:
    if ran.error is not None:
        return Turn(ran.stdout, ran.error.type, ran.error.message)
    return Turn(ran.stdout, "" if ran.status in ("ok", "done") else ran.status)
