"""Every key that a case may expect something by, and who checks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from .acting import Play
from .checks import Check
from .keys import CaseFault, mapping, text, unknown_key
from .on_casts import (
    Checks,
    check_child,
    check_cumulative_usage,
    check_entities,
    check_events,
    check_gate_results,
    check_gate_runs,
    check_gates_called,
    check_ids_unique,
    check_logs_exclude,
    check_observation,
    check_reason,
    check_responses,
    check_result,
    check_result_contains,
    check_results,
    check_summary_contains,
    check_terminated,
    check_truncated,
    check_turns,
    check_usage,
)
from .on_loom import (
    check_export,
    check_fork,
    check_loom,
    check_thread,
    check_thread_at,
    check_threads,
)
from .on_queries import check_invocations, check_tool_choice, check_tools

Checker = Callable[[Play, str, Any], Checks]


def check_error(play: Play, key: str, expected: Any) -> Checks:
    """What the library refused, or what failed: its text has that in it."""
    error = play.error
    seen = "no error" if error is None else f"{type(error).__name__}: {error}"
    message = "" if error is None else str(error)
    holds = error is not None and text(expected, key) in message
    yield Check(key, f"an error with {expected!r}", seen, holds, "the error that was raised")


EXPECTATIONS: dict[str, Checker] = {
    "error": check_error,
    "result": check_result,
    "result_contains": check_result_contains,
    "results": check_results,
    "turns": check_turns,
    "terminated": check_terminated,
    "truncated": check_truncated,
    "reason": check_reason,
    "summary_contains": check_summary_contains,
    "entities": check_entities,
    "entity_ids_unique": check_ids_unique,
    "gate_calls_executed": check_gates_called,
    "gate_call_order": check_gates_called,
    "gate_results": check_gate_results,
    "gate_runs": check_gate_runs,
    "usage": check_usage,
    "cumulative_usage": check_cumulative_usage,
    "child_turns": check_child,
    "child_truncated": check_child,
    "child_terminated": check_child,
    "child_reason": check_child,
    "child_result": check_child,
    "child_medium": check_child,
    "child_model": check_child,
    "child_wards": check_child,
    "events": check_events,
    "acp_responses": check_responses,
    "logs_exclude": check_logs_exclude,
    "loom": check_loom,
    "thread": check_thread,
    "threads": check_threads,
    "forked_from": check_fork,
    "loom_export_include": partial(check_export, holds=True),
    "loom_export_exclude": partial(check_export, holds=False),
}
"""By key, who checks it."""

_NUMBERED: list[tuple[re.Pattern[str], Callable[[str], Checker]]] = [
    (re.compile(r"turn_([1-9]\d*)_observation"), lambda n: partial(check_observation, turn=int(n))),
    (re.compile(r"thread_(\d+)"), lambda n: partial(check_thread_at, place=int(n))),
    (re.compile(r"(\w*llm\w*)_invocations"), lambda name: partial(check_invocations, model=name)),
    (
        re.compile(r"(\w*llm\w*)_received_tool_choice"),
        lambda name: partial(check_tool_choice, model=name),
    ),
    (re.compile(r"(\w*llm\w*)_received_tools"), lambda name: partial(check_tools, model=name)),
]
"""Keys with a number or a model's name in them."""
FAMILIES = (
    "turn_N_observation",
    "thread_N",
    "LLM_invocations",
    "LLM_received_tool_choice",
    "LLM_received_tools",
)
"""How those keys are written in a list of all keys."""


def check_all(play: Play, expected: Any) -> list[Check]:
    """Check all that a case expects, and what its setup promises of its models.

    An error that the case doesn't expect is a failure, and then nothing else is looked at.

    Raises:
        CaseFault: A key is unknown, or something can't be checked.
    """
    said = mapping(expected, "expect")
    if not said:
        raise CaseFault("expect is empty: the case asserts nothing")
    checkers = {key: find_checker(key) for key in said}
    if play.error is not None and "error" not in said:
        seen = f"{type(play.error).__name__}: {play.error}"
        return [Check("expect", "no error", seen, False, "whether an error was raised")]
    checks: list[Check] = []
    for key, checker in checkers.items():
        found = list(checker(play, f"expect.{key}", said[key]))
        if not found:
            raise CaseFault(f"expect.{key} is empty: it asserts nothing")
        checks += found
    if play.error is None:
        entities = len(play.stage.loom.entities)
        for model in play.stage.models.values():
            checks += model.checks(entities)
    return checks


def find_checker(key: str) -> Checker:
    """Who checks a key.

    Raises:
        CaseFault: Nobody knows it.
    """
    if key in EXPECTATIONS:
        return EXPECTATIONS[key]
    for pattern, make in _NUMBERED:
        found = pattern.fullmatch(key)
        if found:
            return make(found[1])
    raise unknown_key(key, "expect", (*EXPECTATIONS, *FAMILIES))
