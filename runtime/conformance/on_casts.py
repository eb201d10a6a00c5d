"""Expectations of casts: what they came to, their turns, their calls, their children."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..cast import Cast
from ..events import Event
from ..llm import Usage
from ..loom import CallRecord, EntityView, Turn
from ..texts import TEXT_CHARS, as_text
from . import vocabulary
from .acting import Play
from .checks import Check, compare_fields
from .keys import CaseFault, fields, items, mapping, text, whole

Checks = Iterator[Check]


def last_cast(play: Play) -> Cast:
    """The newest cast.

    Raises:
        CaseFault: There is none.
    """
    if not play.casts:
        raise CaseFault("there was no cast to look at")
    return play.casts[-1]


def turns_of(play: Play, entity_id: str) -> list[Turn]:
    """An entity's own nodes, in order."""
    return play.stage.loom.entities[entity_id].turns


def check_result(play: Play, key: str, expected: Any) -> Checks:
    """The newest cast's result, with its type, on the cast and in the loom."""
    cast = last_cast(play)
    yield Check.equal(key, expected, cast.result, "the newest cast's result, type included")
    recorded = play.stage.loom.entities[cast.entity_id].result
    yield Check.equal(key, expected, recorded, "the same result, read from the loom")


def check_result_contains(play: Play, key: str, expected: Any) -> Checks:
    """The newest cast's result is a text with that in it."""
    result = last_cast(play).result
    seen = result if isinstance(result, str) else f"no text but {type(result).__name__}"
    yield Check.contains(key, text(expected, key), seen, "the newest cast's result, a text")


def check_results(play: Play, key: str, expected: Any) -> Checks:
    """The results of all casts, in order."""
    seen = [cast.result for cast in play.casts]
    yield Check.equal(key, items(expected, key), seen, "the results of all casts, types included")


def check_turns(play: Play, key: str, expected: Any) -> Checks:
    """The newest cast's utterances, as it says and as the loom has them."""
    cast = last_cast(play)
    yield Check.equal(key, expected, cast.turns, "the newest cast's count of utterances")
    entity = play.stage.loom.entities[cast.entity_id]
    if sum(one.entity_id == cast.entity_id for one in play.casts) == 1:
        seen = entity.utterance_count
        yield Check.equal(key, expected, seen, "the utterances that the loom has of its entity")


def check_terminated(play: Play, key: str, expected: Any) -> Checks:
    """Whether the newest cast ended by itself, on the cast and in the loom."""
    cast = last_cast(play)
    yield Check.equal(key, expected, cast.terminated, "on the newest cast")
    yield Check.equal(key, expected, cast.thread.terminated, "at the tip of its thread in the loom")


def check_truncated(play: Play, key: str, expected: Any) -> Checks:
    """Whether a ward ended the newest cast, on the cast and in the loom."""
    cast = last_cast(play)
    yield Check.equal(key, expected, cast.truncated, "on the newest cast")
    yield Check.equal(key, expected, cast.thread.truncated, "at the tip of its thread in the loom")


def check_reason(play: Play, key: str, expected: Any) -> Checks:
    """Why the newest cast ended, on the cast and in the loom."""
    cast = last_cast(play)
    yield Check.equal(key, expected, cast.reason, "on the newest cast")
    recorded = play.stage.loom.entities[cast.entity_id].reason
    yield Check.equal(key, expected, recorded, "the end that the loom has of its entity")


def check_summary_contains(play: Play, key: str, expected: Any) -> Checks:
    """What a truncated cast had done, on the cast and in the loom."""
    cast = last_cast(play)
    end = play.stage.loom.entities[cast.entity_id].end
    for where, seen in (("on the cast", cast.summary), ("in the loom", end and end.summary)):
        for part in expected if isinstance(expected, list) else [expected]:
            yield Check.contains(key, text(part, key), seen or "", f"the summary {where}")


def check_entities(play: Play, key: str, expected: Any) -> Checks:
    """How many entities there were."""
    seen = len(play.stage.loom.entities)
    yield Check.equal(key, expected, seen, "the entities that the loom has")


def check_ids_unique(play: Play, key: str, expected: Any) -> Checks:
    """Whether each cast was an entity of its own."""
    ids = [cast.entity_id for cast in play.casts]
    unique = len(set(ids)) == len(ids) > 1 and all(ids)
    yield Check.equal(key, expected, unique, f"the ids of at least two casts: {', '.join(ids)}")


# -- calls -------------------------------------------------------------------------------------


def _calls(play: Play) -> list[CallRecord]:
    """The gate calls of the newest cast's entity that came to an end, in order."""
    turns = turns_of(play, last_cast(play).entity_id)
    return [call for turn in turns for call in turn.calls if call.state == "ended"]


def check_gates_called(play: Play, key: str, expected: Any) -> Checks:
    """The gates that were called, in order."""
    seen = [call.gate for call in _calls(play)]
    yield Check.equal(key, items(expected, key), seen, "the calls that the loom has, in order")


def check_gate_results(play: Play, key: str, expected: Any) -> Checks:
    """What the gates answered, in order."""
    seen = [call.text for call in _calls(play)]
    wanted = [as_text(one, TEXT_CHARS) for one in items(expected, key)]
    yield Check.equal(key, wanted, seen, "the results of the calls that the loom has, as texts")


def check_gate_runs(play: Play, key: str, expected: Any) -> Checks:
    """How often the functions of described gates really ran."""
    for name, wanted in mapping(expected, key).items():
        seen = play.stage.gate_runs[name]
        yield Check.equal(f"{key}.{name}", wanted, seen, "how often the gate's function ran")


def check_observation(play: Play, key: str, expected: Any, turn: int) -> Checks:
    """The observation of one utterance of the newest cast's entity."""
    parts = [one for one in turns_of(play, last_cast(play).entity_id) if one.turn == turn]
    if not parts:
        raise CaseFault(f"{key}: there is no turn {turn}")
    whole_text = "".join(part.observation.text for part in parts)
    is_error = any(part.observation.is_error for part in parts)
    for name, wanted in fields(expected, key, vocabulary.OBSERVATION).items():
        where, how = f"{key}.{name}", f"the observation of utterance {turn} in the loom"
        if name == "is_error":
            yield Check.equal(where, wanted, is_error, how)
        elif name == "content":
            yield Check.equal(where, wanted, whole_text, f"{how}, as it is")
        elif name == "max_chars":
            most, length = whole(wanted, where), len(whole_text)
            yield Check.that(where, length <= most, f"at most {most} characters", length)
        else:
            check = Check.contains if name == "content_contains" else Check.excludes
            for part in wanted if isinstance(wanted, list) else [wanted]:
                yield check(where, text(part, where), whole_text, how)


# -- tokens ------------------------------------------------------------------------------------


def _tokens(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "total_tokens": usage.total_tokens,
    }


def check_usage(play: Play, key: str, expected: Any) -> Checks:
    """Tokens of the newest utterance."""
    turns = turns_of(play, last_cast(play).entity_id)
    spoken = [turn.utterance for turn in turns if turn.utterance is not None]
    if not spoken:
        raise CaseFault(f"{key}: there was no utterance")
    seen = _tokens(spoken[-1].usage)
    yield from compare_fields(key, mapping(expected, key), seen, "the newest utterance's tokens")


def check_cumulative_usage(play: Play, key: str, expected: Any) -> Checks:
    """Tokens of all casts together, as they say and as the loom has them."""
    last_cast(play)
    summed = sum((cast.usage for cast in play.casts), Usage())
    wanted = mapping(expected, key)
    yield from compare_fields(key, wanted, _tokens(summed), "the casts' tokens, added up")
    recorded = _tokens(play.stage.loom.usage())
    yield from compare_fields(key, wanted, recorded, "the tokens that the loom has")


# -- children ----------------------------------------------------------------------------------


def _child(play: Play, key: str) -> EntityView:
    children = play.stage.loom.entities[last_cast(play).entity_id].children
    if len(children) != 1:
        raise CaseFault(f"{key} is about an only child, and there are {len(children)} children")
    return children[0]


def check_child(play: Play, key: str, expected: Any) -> Checks:
    """How the only child's cast went, as the loom has it."""
    child = _child(play, key)
    seen = {
        "turns": child.utterance_count,
        "truncated": child.outcome == "truncated",
        "terminated": child.outcome == "terminated",
        "reason": child.reason,
        "result": child.result,
        "medium": child.medium,
        "model": child.model,
        "wards": child.wards,
    }
    name = key.rpartition(".child_")[2]
    if name == "wards":
        how = "the wards in force on the only child, as the loom has them"
        yield from compare_fields(key, mapping(expected, key), seen["wards"], how)
    else:
        yield Check.equal(key, expected, seen[name], "the only child, as the loom has it")


# -- events, the agent, logs -------------------------------------------------------------------


def _kind(event: Event) -> str:
    return type(event).__name__


def check_events(play: Play, key: str, expected: Any) -> Checks:
    """The kinds of events that the root was told of, in order."""
    root = last_cast(play).entity_id
    seen = [_kind(event) for event in play.events if event.entity_id == root]
    yield Check.equal(key, items(expected, key), seen, "the events about the newest cast's entity")


def check_responses(play: Play, key: str, expected: Any) -> Checks:
    """What the agent answered, a response for each message."""
    if play.responses is None:
        raise CaseFault(f"{key}: nobody talked to the agent")
    wanted = items(expected, key)
    yield Check.equal(f"{key}.length", len(wanted), len(play.responses), "the number of responses")
    for place, (one, response) in enumerate(zip(wanted, play.responses, strict=False)):
        where = f"{key}[{place}]"
        for name, value in fields(one, where, vocabulary.RESPONSE).items():
            yield _about_response(f"{where}.{name}", name, value, response)


def _about_response(where: str, name: str, wanted: Any, response: dict[str, Any]) -> Check:
    result, how = response.get("result"), "the agent's response over the protocol"
    if name == "id":
        return Check.equal(where, wanted, response.get("id"), how)
    if name == "has_result":
        return Check.equal(where, wanted, result is not None and "error" not in response, how)
    if name == "stop_reason":
        reason = result.get("stopReason") if isinstance(result, dict) else None
        return Check.equal(where, wanted, reason, how)
    part = result if name == "result_contains" else response.get("error")
    told = "" if part is None else json.dumps(part, ensure_ascii=False)
    return Check.contains(where, text(wanted, where), told, how)


def check_logs_exclude(play: Play, key: str, expected: Any) -> Checks:
    """What must stand in no log, nor in what the casts told while they ran."""
    log = "\n".join(play.logs)
    yield Check.excludes(key, text(expected, key), log, f"all {len(play.logs)} lines of the log")
    told = "\n".join(repr(event) for event in play.events)
    how = f"all {len(play.events)} events that were told"
    yield Check.excludes(key, text(expected, key), told, how)
