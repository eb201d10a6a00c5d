"""The models of a case: scripted ones, with the promises that a case makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..llm import LLM, Request, ScriptedLLM
from . import vocabulary
from .checks import Check
from .keys import CaseFault, fields, flag, items, mapping, text

PROVIDERS = ("mock_openai",)
MEDIA = {
    "code": "code",
    "code_circle": "code",
    "conversation": "conversation",
    "tool": "conversation",
}
"""The media, by the names that a case may have for them."""
_MODEL = re.compile(r"llm|child_llm(_l[1-9]\d*)?|\w+_llm|llm_\w+")

Render = Callable[[str, str], str]
"""Gives the Python of a program: its place, the program."""


@dataclass(frozen=True)
class Model:
    """A model of a case.

    Attributes:
        key: What the case calls it.
        llm: The model itself.
        name: The name that a request for a child has for it, or None.
        says: What the case says of it.
    """

    key: str
    llm: ScriptedLLM
    name: str | None
    says: dict[str, Any]

    def checks(self, entities: int) -> Iterator[Check]:
        """What the case promises of the model by its setup alone.

        Args:
            entities: How many entities there were, at most, to ask it.
        """
        requests = self.llm.requests
        if MEDIA.get(self.says.get("type", "")) == "code":
            tools = [[tool.name for tool in request.tools] for request in requests]
            yield Check.that(
                f"setup.{self.key}.type",
                all(names == ["python"] for names in tools),
                "every request offers the code circle's one tool, python",
                tools,
            )
        if self.says.get("stateless"):
            yield self._stateless(entities)
        if self.says.get("retry_behavior"):
            yield self._retried()

    def _stateless(self, entities: int) -> Check:
        """Each request holds all that an earlier one held, and what was answered to it."""
        requests = self.llm.requests
        begun = [one for one in requests if not _speakers(one)]
        incomplete = [
            place
            for place, request in enumerate(requests)
            if _speakers(request)
            and not any(_continues(request, earlier) for earlier in requests[:place])
        ]
        return Check.that(
            f"setup.{self.key}.stateless",
            not incomplete and len(begun) <= entities,
            "every request but an entity's first holds the whole of an earlier one, and its reply",
            {"first requests": len(begun), "entities": entities, "not whole": incomplete},
        )

    def _retried(self) -> Check:
        """After an error of the script the very same request comes again."""
        lines = items(self.says.get("responses"), f"{self.key}.responses")
        sent = [one.neutral() for one in self.llm.requests]
        failed = [
            place for place, line in enumerate(lines) if mapping(line, "a reply").get("error")
        ]
        return Check.that(
            f"setup.{self.key}.retry_behavior",
            bool(failed) and all(sent[at : at + 1] == sent[at + 1 : at + 2] != [] for at in failed),
            "after each error of the script the same request is made again",
            f"{len(sent)} requests, errors at {failed}",
        )


def is_model(key: str) -> bool:
    """Whether a key of a setup is a model's."""
    return _MODEL.fullmatch(key) is not None


def build_models(setup: dict[str, Any], render: Render) -> dict[str, Model]:
    """The models of a setup, by their keys; one that is null is left out.

    Raises:
        CaseFault: A key is unknown, or a program can't be rendered.
        ScriptError: A reply is written wrongly.
    """
    return {
        key: _model(key, said, render)
        for key, said in setup.items()
        if is_model(key) and said is not None
    }


def by_depth(models: dict[str, Model]) -> dict[int, LLM]:
    """The models of children by their level, where a case has such."""
    found: dict[int, LLM] = {}
    for key, model in models.items():
        level = re.fullmatch(r"child_llm_l(\d+)", key)
        if level:
            found[int(level[1])] = model.llm
    return found


def _model(key: str, said: Any, render: Render) -> Model:
    says = fields(said, f"setup.{key}", vocabulary.MODEL)
    if says.get("provider", PROVIDERS[0]) not in PROVIDERS:
        raise CaseFault(f"setup.{key}.provider must be one of {', '.join(PROVIDERS)}")
    if says.get("type", "code") not in MEDIA:
        raise CaseFault(f"setup.{key}.type must be one of {', '.join(MEDIA)}")
    for promise in ("record_inputs", "stateless", "retry_behavior"):
        flag(says.get(promise, False), f"setup.{key}.{promise}")
    name = says.get("name")
    if name is not None:
        text(name, f"setup.{key}.name")
    return Model(key, ScriptedLLM(_replies(key, says, render), key, says.get("usage")), name, says)


def _replies(key: str, says: dict[str, Any], render: Render) -> list[Any]:
    if "raw_response" in says:
        if "responses" in says:
            raise CaseFault(f"setup.{key} has responses and a raw_response; leave one out")
        return [{"raw_response": says["raw_response"]}]
    if "responses" not in says:
        raise CaseFault(f"setup.{key} needs responses or a raw_response")
    replies = []
    for place, reply in enumerate(items(says["responses"], f"setup.{key}.responses")):
        where = f"{key}[{place}]"
        reply = mapping(reply, f"setup.{where}")
        if reply.get("code") is not None:
            reply["code"] = render(where, text(reply["code"], f"setup.{where}.code"))
        replies.append(reply)
    return replies


def _speakers(request: Request) -> int:
    return sum(message.role == "assistant" for message in request.messages)


def _continues(request: Request, earlier: Request) -> bool:
    length = len(earlier.messages)
    return (
        request.messages[:length] == earlier.messages
        and len(request.messages) > length
        and request.messages[length].role == "assistant"
        and request.tools == earlier.tools
    )
