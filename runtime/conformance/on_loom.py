"""Expectations of the loom: its turns, its threads, its root, what is exported of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..loom import EntityView, FoldRecord, IdentityRecord, Loom, Thread, Turn
from . import vocabulary
from .acting import Play
from .checks import Check, compare_fields, meets
from .keys import CaseFault, fields, items, mapping, shown, text
from .on_casts import Checks, last_cast

_KIN = re.compile(r"(parent|child|grandchild)(_\d+)?")
_LEVELS = {"parent": 0, "child": 1, "grandchild": 2}
_REFERENCE = re.compile(r"turns\[(\d+)\]\.id")


def check_loom(play: Play, key: str, expected: Any) -> Checks:
    """What the loom holds."""
    loom = play.stage.loom
    counts = {
        "turn_count": loom.turn_count,
        "utterance_count": loom.utterance_count,
        "entity_count": len(loom.entities),
    }
    said = fields(expected, key, vocabulary.LOOM)
    for name, wanted in said.items():
        where = f"{key}.{name}"
        if name in counts:
            yield Check.equal(where, wanted, counts[name], f"the loom's {name}")
        elif name == "identity":
            yield from _about_root(where, mapping(wanted, where), loom)
        elif name == "folds":
            yield Check.equal(
                where, wanted, _folds(loom), "the spans that the loom says are folded"
            )
        else:
            yield from _about_turns(where, items(wanted, where), list(loom.turns), loom)
    seen = len(loom.turns)
    yield Check.equal(f"{key}.turns", loom.turn_count, seen, "turns and their count agree")


def _folds(loom: Loom) -> list[list[int]]:
    records = (record for _, _, record in loom.records())
    return [[one.first, one.last] for one in records if isinstance(one, FoldRecord)]


def _about_root(where: str, wanted: Mapping[str, Any], loom: Loom) -> Checks:
    """The identity: the first of the loom's records."""
    first = next((record for _, _, record in loom.records()), None)
    is_root = isinstance(first, IdentityRecord)
    yield Check.that(where, is_root, "the loom's first record is an identity", type(first).__name__)
    if isinstance(first, IdentityRecord):
        seen = {
            "system_prompt": first.system_prompt,
            "tool_choice": first.tool_choice,
            **first.hyperparameters,
        }
        yield from compare_fields(where, wanted, seen, "the loom's first record")


def _about_turns(where: str, wanted: list[Any], turns: list[Turn], loom: Loom) -> Checks:
    """The first turns, in order."""
    kin: dict[str, str] = {}
    for place, one in enumerate(wanted):
        at = f"{where}[{place}]"
        said = fields(one, at, vocabulary.TURN)
        yield Check.that(at, place < len(turns), f"there is a turn {place}", f"{len(turns)} turns")
        if place < len(turns):
            for name, value in said.items():
                yield from _about_turn(f"{at}.{name}", name, value, turns, place, loom, kin)


def _about_turn(
    where: str,
    name: str,
    wanted: Any,
    turns: list[Turn],
    place: int,
    loom: Loom,
    kin: dict[str, str],
) -> Checks:
    turn = turns[place]
    if name == "entity_id" and isinstance(wanted, str) and _KIN.fullmatch(wanted):
        yield _is_kin(where, wanted, loom.entities[turn.entity_id], kin, loom)
    elif name == "observation_contains":
        observed = turn.observation
        told = [observed.text, *(call.result for call in observed.records), observed.printed]
        how = "the turn's observation, its calls' results and its output"
        yield Check.contains(where, text(wanted, where), "\n".join(told), how)
    elif name == "metadata":
        said = fields(wanted, where, vocabulary.METADATA)
        seen = {each: getattr(turn.metadata, each) for each in vocabulary.METADATA}
        yield from compare_fields(where, said, seen, "the turn's metadata in the loom")
    else:
        yield Check.equal(
            where, _resolved(wanted, turns), getattr(turn, name), f"the turn's {name} in the loom"
        )


def _resolved(wanted: Any, turns: list[Turn]) -> Any:
    """An expected value, with ``turns[i].id`` replaced by the id that it stands for."""
    reference = _REFERENCE.fullmatch(wanted) if isinstance(wanted, str) else None
    if reference is None:
        return wanted
    place = int(reference[1])
    if place >= len(turns):
        raise CaseFault(f"{wanted} names a turn that is not there: there are {len(turns)}")
    return turns[place].id


def _is_kin(where: str, wanted: str, entity: EntityView, kin: dict[str, str], loom: Loom) -> Check:
    """Whose turn it is: one name is one entity, at its level, spawned by one with a name."""
    known = kin.setdefault(wanted, entity.id)
    others = [each for name, each in kin.items() if name != wanted]
    level = _LEVELS[wanted.partition("_")[0]]
    spawner = entity.spawned_by and loom.turn(entity.spawned_by.node).entity_id
    holds = (
        known == entity.id
        and entity.id not in others
        and entity.depth == level
        and (spawner in others if level else spawner is None)
    )
    expected = f"one and the same entity for {wanted!r}, at its level of the tree"
    return Check.that(where, holds, expected, f"{entity.id} at depth {entity.depth}")


# -- threads -----------------------------------------------------------------------------------


def _utterances(thread: Thread) -> int:
    return len({(turn.entity_id, turn.turn) for turn in thread})


def check_thread(play: Play, key: str, expected: Any) -> Checks:
    """The extracted thread, or else the newest cast's: its half-turns, or its turns."""
    thread = play.thread if play.thread is not None else last_cast(play).thread
    if isinstance(expected, list):
        yield from _half_turns(key, expected, thread)
        return
    for name, wanted in fields(expected, key, vocabulary.THREAD).items():
        where = f"{key}.{name}"
        if name == "length":
            yield Check.equal(where, wanted, len(thread), "the number of the thread's turns")
        elif name == "result":
            yield Check.equal(where, wanted, thread.result, "the result at the thread's tip")
        else:
            yield from _about_turns(where, items(wanted, where), thread.turns, play.stage.loom)


def _half_turns(key: str, expected: list[Any], thread: Thread) -> Checks:
    """Utterances and observations in the order in which they came."""
    roles: list[str] = []
    for turn in thread:
        if turn.part == 1:
            roles.append(turn.role if turn.utterance is not None else "nobody")
        if turn.last:
            roles.append("circle" if turn.observation is not None else "nobody")
    half_turns = [fields(one, key, vocabulary.HALF_TURN) for one in expected]
    wanted = [one.get("role") for one in half_turns]
    yield Check.equal(key, wanted, roles, "the thread's utterances and observations, in order")


def check_threads(play: Play, key: str, expected: Any) -> Checks:
    """How many threads there are."""
    seen = len(play.stage.loom.threads())
    yield Check.equal(key, expected, seen, "the paths from a root to a leaf of the loom")


def check_thread_at(play: Play, key: str, expected: Any, place: int) -> Checks:
    """One of the loom's threads, by its place."""
    threads = play.stage.loom.threads()
    if place >= len(threads):
        yield Check.that(key, False, f"a thread number {place}, from 0", f"{len(threads)} threads")
        return
    thread = threads[place]
    for name, wanted in fields(expected, key, vocabulary.NUMBERED_THREAD).items():
        where, how = f"{key}.{name}", f"thread {place} of the loom"
        if name == "turns":
            yield Check.equal(where, wanted, _utterances(thread), f"the utterances in {how}")
        elif name == "result":
            yield Check.equal(where, wanted, thread.result, f"the result at the tip of {how}")
        else:
            last = len(thread) - 1
            said = fields(wanted, where, vocabulary.TURN)
            for each, value in said.items():
                at = f"{where}.{each}"
                yield from _about_turn(at, each, value, thread.turns, last, play.stage.loom, {})


# -- exports -----------------------------------------------------------------------------------


def check_export(play: Play, key: str, expected: Any, holds: bool) -> Checks:
    """What must, or must not, stand in what was exported."""
    if not play.exports:
        raise CaseFault(f"{key}: nothing was exported")
    for export in play.exports:
        lines = [line for line in export.splitlines() if line.strip()]
        whole = bool(lines) and all(map(_is_json, lines))
        yield Check.that(key, whole, "an export of JSON lines", f"{len(lines)} lines")
        check = Check.contains if holds else Check.excludes
        for part in expected if isinstance(expected, list) else [expected]:
            yield check(key, text(part, key), export, f"all {len(lines)} lines of the export")


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def check_fork(play: Play, key: str, expected: Any) -> Checks:
    """Where the newest cast's entity left another's path, and how its state was made again."""
    entity = play.stage.loom.entities[last_cast(play).entity_id]
    point = entity.forked_from
    seen = {
        "strategy": point.strategy if point else None,
        "node": point.node if point else None,
    }
    said = fields(expected, key, vocabulary.FORKED_FROM)
    for name, wanted in said.items():
        wanted = _resolved(wanted, list(play.stage.loom.turns))
        yield Check(
            f"{key}.{name}",
            shown(wanted),
            shown(seen[name]),
            meets(wanted, seen[name]),
            "the entity's record in the loom",
        )
