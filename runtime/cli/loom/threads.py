"""``circlet loom threads``: the casts of a run side by side, ranked where they are judged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ...loom import Attempt, Group, Loom
from ...redaction import redact
from ..console import count, one_line, stdout
from ..faults import UsageFault
from .directory import Directory, opened
from .marks import mark_of, told

LINE_CHARS, REASON_CHARS = 500, 60
"""Characters of an intent and of a reason that are kept, however wide the terminal is."""
INTENT_CHARS, OUTCOME_CHARS = 10, 22
"""Columns that an intent and an outcome have at least: those of an outcome do for most wards."""
GAP = 2
"""Columns between two others."""


def threads(
    directory: Directory,
    k: Annotated[
        str | None,
        typer.Option(
            "--k", metavar="K,...", help="Estimate pass@k and pass^k for each K, such as 1,4,8."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all as JSON.")] = False,
) -> None:
    """List the casts of a run: how each ended, its reward, and its rank among those at its task.

    Casts with the same intent and context, at one level and with one past, are
    at one task: so are forks of one turn. Equal rewards share a rank, which "="
    marks. pass@k is the chance that one of k casts passes, pass^k that all do:
    the mean over the tasks that have k judged casts.
    """
    ks = [] if k is None else _numbers(k)
    with opened(directory) as loom:
        groups = loom.groups()
        rows = _rows(loom, groups)
        estimates = [_estimate(groups, number) for number in ks]
        if as_json:
            report = {
                "threads": [_report(row) for row in rows],
                "k": [vars(estimate) for estimate in estimates],
            }
            typer.echo(json.dumps(report, indent=2, allow_nan=False))
            return
        console = stdout()
        if rows:
            console.print(_table(rows, console.width))
        console.print(Text(_summary(groups), "bold"), soft_wrap=True)
        for estimate in estimates:
            console.print(_line(estimate), soft_wrap=True)


@dataclass(frozen=True)
class _Row:
    """One cast, with what it is shown by."""

    attempt: Attempt
    group: Group
    tokens: int
    is_only: bool

    @property
    def rank(self) -> int | None:
        """Its rank, where others at its task are judged too."""
        return self.group.ranks.get(self.attempt.name) if len(self.group.judged) > 1 else None


@dataclass(frozen=True)
class _Estimate:
    """Both chances for one ``k``, over the tasks that have so many judged casts.

    ``unjudged`` casts at those tasks count for nothing, and ``left_out`` is how many tasks do.
    """

    k: int
    pass_at_k: float
    pass_hat_k: float
    tasks: int
    left_out: int
    unjudged: int


def _numbers(text: str) -> list[int]:
    numbers = [int(part) for part in text.split(",") if part.strip().isdecimal()]
    if len(numbers) != text.count(",") + 1 or min(numbers) < 1:
        raise UsageFault(f"--k takes numbers from 1 on, with commas between them, not {text!r}")
    return numbers


def _rows(loom: Loom, groups: list[Group]) -> list[_Row]:
    """The casts in the order in which their entities began."""
    group_of = {attempt.name: group for group in groups for attempt in group.attempts}
    rows = []
    for entity in loom.entities.values():
        attempts = loom.attempts(entity.id)
        for attempt in attempts:
            replies = map(entity.reply, attempt.turns)
            tokens = (
                entity.usage.total_tokens
                if len(attempts) == 1
                else sum(reply.usage.total_tokens for reply in replies if reply is not None)
            )
            rows.append(_Row(attempt, group_of[attempt.name], tokens, len(attempts) == 1))
    return rows


def _estimate(groups: list[Group], k: int) -> _Estimate:
    judged = [group for group in groups if group.judged]
    enough = [group for group in judged if len(group.judged) >= k]
    if not enough:
        most = max((len(group.judged) for group in judged), default=0)
        there = f"the most for one task are {most}" if most else "no cast is judged"
        raise UsageFault(f"no task has {count(k, 'judged cast')} for --k {k}: {there}")
    return _Estimate(
        k,
        fmean(group.pass_at_k(k) for group in enough),
        fmean(group.pass_hat_k(k) for group in enough),
        len(enough),
        len(judged) - len(enough),
        sum(len(group.attempts) - len(group.judged) for group in enough),
    )


def _table(rows: list[_Row], width: int) -> Table:
    """The casts, an entity and its figures whole, the texts cut to what is left of the width."""
    is_judged = any(row.attempt.judged for row in rows)
    head = ["entity", "turns", "tokens", *(["reward", "rank"] if is_judged else [])]
    figures = [_figures(row)[: len(head)] for row in rows]
    left = (
        width
        + GAP
        - sum(max(map(cell_len, column)) + GAP for column in zip(head, *figures, strict=True))
    )
    outcomes = [_outcome(row.attempt) for row in rows]
    widest = max(outcome.cell_len for outcome in outcomes)
    most = min(widest, max(OUTCOME_CHARS, left * 2 // 5))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    table.add_column(head[0], style="dim", no_wrap=True)
    table.add_column("intent", max_width=max(left - most - 2 * GAP, INTENT_CHARS))
    table.add_column("outcome", width=most)
    for name in head[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for row, outcome, (entity, *others) in zip(rows, outcomes, figures, strict=True):
        intent = _cut("  " * row.attempt.depth + one_line(redact(row.attempt.intent))[:LINE_CHARS])
        table.add_row(entity, intent, outcome, *others)
    return table


def _figures(row: _Row) -> list[str]:
    """The cells that are never cut."""
    attempt = row.attempt
    return [
        attempt.entity_id if row.is_only else attempt.name,
        f"{len(attempt.turns):,}",
        f"{row.tokens:,}",
        "" if attempt.reward is None else f"{attempt.reward:.3g}",
        _rank(row),
    ]


def _outcome(attempt: Attempt) -> Text:
    mark, colour = mark_of(attempt.outcome)
    text = _cut((f"{mark} ", colour), told(attempt.outcome))
    if attempt.reason is not None and attempt.outcome != "terminated":
        text.append(f": {one_line(redact(attempt.reason))[:REASON_CHARS]}", "dim")
    return text


def _cut(*pieces: str | tuple[str, str]) -> Text:
    """A text that is cut at its column's width."""
    return Text.assemble(*pieces, no_wrap=True, overflow="ellipsis")


def _rank(row: _Row) -> str:
    if row.rank is None:
        return ""
    tie = "=" if row.attempt.name in row.group.tied else ""
    return f"{row.rank}{tie} of {len(row.group.judged)}"


def _summary(groups: list[Group]) -> str:
    casts = sum(len(group.attempts) for group in groups)
    judged = sum(len(group.judged) for group in groups)
    parts = [f"{count(casts, 'cast')} at {count(len(groups), 'task')}", f"{judged:,} judged"]
    if judged:
        parts.append(f"{sum(group.passes for group in groups):,} passed")
    return ", ".join(parts)


def _line(estimate: _Estimate) -> Text:
    k = estimate.k
    text = Text(f"pass@{k} {estimate.pass_at_k:.3f}, pass^{k} {estimate.pass_hat_k:.3f}")
    about = f"  over {count(estimate.tasks, 'task')}"
    if estimate.left_out:
        about += f"; {count(estimate.left_out, 'task')} left out, with fewer judged casts"
    if estimate.unjudged:
        about += f"; {count(estimate.unjudged, 'cast')} not judged and not counted"
    return text.append(about, "dim")


def _report(row: _Row) -> dict[str, Any]:
    attempt, group = row.attempt, row.group
    judged = attempt.judged
    return {
        "entity": attempt.entity_id,
        "cast": attempt.cast,
        "depth": attempt.depth,
        "model": attempt.model,
        "intent": redact(attempt.intent),
        "turns": len(attempt.turns),
        "tokens": row.tokens,
        "outcome": attempt.outcome,
        "reason": None if attempt.reason is None else redact(attempt.reason),
        "reward": attempt.reward,
        "by": None if judged is None else redact(judged.by),
        "passed": attempt.passed,
        "task": group.name,
        "rank": row.rank,
        "tied": attempt.name in group.tied,
        "advantage": group.advantages.get(attempt.name),
    }
