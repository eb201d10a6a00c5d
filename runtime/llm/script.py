"""The written form of a ``ScriptedLLM``'s replies: its keys, and how a file of them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from ..errors import ScriptError
from .base import Usage

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


class Call(BaseModel):
    """A tool call as a script writes it."""

    model_config = _STRICT

    gate: str
    args: dict[str, JsonValue] = {}
    id: str | None = None


class Result(BaseModel):
    """A tool result as a script writes it, which no model may give (LLM-7)."""

    model_config = _STRICT

    tool_call_id: str
    content: str | None = None


class Failure(BaseModel):
    """A provider's error as a script writes it; without a status it couldn't be reached."""

    model_config = _STRICT

    status: int | None = None
    message: str = "scripted error"


class Tokens(BaseModel):
    """A usage as a script writes it."""

    model_config = _STRICT

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)


class Line(BaseModel):
    """One reply of a script; ``ScriptedLLM`` says what each key does."""

    model_config = _STRICT

    content: str | None = None
    code: str | None = None
    tool_calls: list[Call] | None = None
    tool_result: Result | None = None
    raw_response: dict[str, JsonValue] | None = None
    thinking: str | None = None
    usage: Tokens | None = None
    error: Failure | None = None
    delay_ms: float = Field(default=0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _stands_alone(self) -> Line:
        """An error or a raw response takes the place of all that a reply says."""
        for key in ("error", "raw_response"):
            beside = self.model_fields_set - {key, "usage", "delay_ms"}
            if getattr(self, key) is not None and beside:
                raise PydanticCustomError(
                    "beside", "{key} can't stand beside {other}", {"key": key, "other": min(beside)}
                )
        return self


@dataclass(frozen=True, slots=True)
class Script:
    """What a script file holds, not yet checked line by line.

    Attributes:
        replies: A list of replies, or a mapping from patterns to such lists.
        usage: Tokens of each reply that says none.
    """

    replies: Any
    usage: Any = None


def parse_lines(replies: Any, where: str) -> list[Line]:
    """Check the replies of a list.

    Args:
        replies: The list.
        where: What errors call it.

    Raises:
        ScriptError: It isn't a list of mappings, or one is written wrongly.
    """
    if isinstance(replies, (str, bytes)) or not isinstance(replies, Sequence):
        raise ScriptError(f"{where}: a list of mappings is wanted, not {_kind(replies)}")
    return [_parse(Line, reply, f"{where}[{place}]") for place, reply in enumerate(replies)]


def parse_usage(usage: Any) -> Usage:
    """A usage from what a script says of it; None is zero.

    Raises:
        ScriptError: It has a key that isn't known, or a number that isn't a count.
    """
    if usage is None or isinstance(usage, Usage):
        return usage or Usage()
    tokens = _parse(Tokens, usage, "usage")
    return Usage(tokens.prompt_tokens, tokens.completion_tokens, tokens.cached_tokens)


_Model = TypeVar("_Model", bound=BaseModel)


def _parse(model: type[_Model], value: Any, where: str) -> _Model:
    if isinstance(value, model):
        return value
    if not isinstance(value, Mapping):
        raise ScriptError(f"{where}: a mapping is wanted, not {_kind(value)}")
    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        raise ScriptError(f"{where}{_first(error.errors()[0], model)}") from None


def _first(error: ErrorDetails, model: type[BaseModel]) -> str:
    """The first thing that is wrong, after the place where it is."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
    if error["type"] == "extra_forbidden":
        known = f"; the keys are {', '.join(model.model_fields)}" if len(error["loc"]) == 1 else ""
        return f"{place}: no such key{known}"
    return f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__


def read_script(path: Path) -> Script:
    """Read a script file, and the code files that it names.

    Raises:
        ScriptError: A file can't be read, isn't YAML, or has another form; it is named.
    """
    content = _load(path)
    if isinstance(content, list):
        return Script(_with_code(content, path))
    if not isinstance(content, dict):
        raise ScriptError(f"script {path}: a list of replies or a mapping is wanted")
    unknown = [key for key in content if key not in ("replies", "by_intent", "usage")]
    if unknown or ("replies" in content) == ("by_intent" in content):
        what = f"no such key: {unknown[0]!r}" if unknown else "replies or by_intent is wanted"
        raise ScriptError(f"script {path}: {what}; the keys are usage, and replies or by_intent")
    if "replies" in content:
        return Script(
            _with_code(_typed(content["replies"], list, path), path), content.get("usage")
        )
    by_intent = _typed(content["by_intent"], dict, path)
    replies = {pattern: _with_code(lines, path) for pattern, lines in by_intent.items()}
    return Script(replies, content.get("usage"))


def _load(path: Path) -> Any:
    try:
        return yaml.safe_load(_read(path, f"script {path}"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise ScriptError(f"script {path}{line}: {problem}") from None


def _read(path: Path, title: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"{title} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScriptError(f"{title} can't be read: it is not UTF-8 text") from None


def _typed(value: Any, kind: type, path: Path) -> Any:
    if not isinstance(value, kind):
        wanted = "replies must be a list" if kind is list else "by_intent must be a mapping"
        raise ScriptError(f"script {path}: {wanted}")
    return value


def _with_code(lines: Any, path: Path) -> Any:
    """The replies with each ``code: {file: NAME}`` replaced by what the file holds."""
    if not isinstance(lines, list):
        return lines  # what is wrong with it is said where lines are checked
    return [
        line | {"code": _code(line["code"], path)} if _names_file(line) else line for line in lines
    ]


def _names_file(line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get("code"), dict)


def _code(code: dict[Any, Any], path: Path) -> str:
    name = code.get("file")
    if set(code) != {"file"} or not isinstance(name, str):
        raise ScriptError(f"script {path}: code is a text or {{file: NAME}}")
    return _read(path.parent / name, f"script {path}: the code file {name}")
