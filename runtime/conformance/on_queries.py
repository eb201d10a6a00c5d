"""Expectations of queries: what a model was sent."""

from __future__ import annotations

from typing import Any

from ...gates.frozen import thawed
from ..llm import Message, Request
from . import vocabulary
from .acting import Play
from .checks import Check, compare_fields
from .keys import CaseFault, fields, items, text, whole
from .on_casts import Checks


def _requests(play: Play, key: str, model: str) -> list[Request]:
    if model not in play.stage.models:
        known = ", ".join(play.stage.models) or "none"
        raise CaseFault(f"unknown key {key!r}: the setup has no model {model!r}, only: {known}")
    return play.stage.models[model].llm.requests


def check_invocations(play: Play, key: str, expected: Any, model: str) -> Checks:
    """The queries of a model: an exact count, or what each of the first ones held."""
    requests = _requests(play, key, model)
    if not isinstance(expected, list):
        count = whole(expected, key)
        yield Check.equal(key, count, len(requests), f"the number of queries that {model} got")
        return
    for place, wanted in enumerate(expected):
        where = f"{key}[{place}]"
        said = fields(wanted, where, vocabulary.QUERY)
        yield Check.that(
            where,
            place < len(requests),
            f"{model} got a query number {place + 1}",
            f"{len(requests)} queries",
        )
        if place < len(requests):
            for name, value in said.items():
                yield from _about_query(f"{where}.{name}", name, value, requests[place])


def _about_query(where: str, name: str, wanted: Any, request: Request) -> Checks:
    messages = request.messages
    if name == "messages":
        listed = items(wanted, where)
        yield Check.equal(f"{where}.length", len(listed), len(messages), "the number of messages")
        for place, (one, message) in enumerate(zip(listed, messages, strict=False)):
            yield from _about_message(f"{where}[{place}]", one, message)
    elif name == "message_count":
        yield Check.equal(where, wanted, len(messages), "the number of messages of the query")
    elif name == "message_count_below":
        most, seen = whole(wanted, where), len(messages)
        yield Check.that(where, seen < most, f"fewer than {most} messages in the query", seen)
    elif name in ("first_message", "last_message"):
        message = messages[0 if name == "first_message" else -1]
        yield from _about_message(where, wanted, message)
    else:
        contents = "\n".join(message.content or "" for message in messages)
        check = Check.contains if name.endswith(("include", "includes")) else Check.excludes
        for part in wanted if isinstance(wanted, list) else [wanted]:
            yield check(where, text(part, where), contents, "the contents of the query's messages")


def _about_message(where: str, wanted: Any, message: Message) -> Checks:
    said = fields(wanted, where, vocabulary.MESSAGE)
    seen = {"role": message.role, "content": message.content}
    exact = {name: value for name, value in said.items() if name in seen}
    yield from compare_fields(where, exact, seen, "the message as the model was sent it")
    if "content_contains" in said:
        part = text(said["content_contains"], where)
        yield Check.contains(where, part, message.content or "", "the message's content")


def check_tool_choice(play: Play, key: str, expected: Any, model: str) -> Checks:
    """Which tools a model had to call, on every query."""
    requests = _requests(play, key, model)
    yield Check.that(key, bool(requests), f"{model} was queried", f"{len(requests)} queries")
    for place, request in enumerate(requests):
        how = f"tool_choice of query {place + 1}"
        yield Check.equal(key, expected, request.tool_choice, how)


def check_tools(play: Play, key: str, expected: Any, model: str) -> Checks:
    """The tools that a model was offered on every query: these, in this order, and no other."""
    requests = _requests(play, key, model)
    wanted = [
        fields(one, f"{key}[{place}]", vocabulary.TOOL)
        for place, one in enumerate(items(expected, key))
    ]
    yield Check.that(key, bool(requests), f"{model} was queried", f"{len(requests)} queries")
    for number, request in enumerate(requests, 1):
        names = [tool.name for tool in request.tools]
        how = f"the tools of query {number}, in order"
        yield Check.equal(key, [one.get("name") for one in wanted], names, how)
        for place, (one, tool) in enumerate(zip(wanted, request.tools, strict=False)):
            where = f"{key}[{place}]"
            if "parameters" in one:
                seen = thawed(tool.parameters)
                yield Check.equal(f"{where}.parameters", one["parameters"], seen, how)
            if "description_contains" in one:
                part = text(one["description_contains"], where)
                yield Check.contains(where, part, tool.description, how)
