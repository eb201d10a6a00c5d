"""What clients send, made strict: JSON-RPC messages as the protocol's library takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from acp import AGENT_METHODS, RequestError
from acp.schema import (
    CancelNotification,
    CloseSessionRequest,
    InitializeRequest,
    NewSessionRequest,
    PromptRequest,
)
from pydantic import BaseModel, ValidationError

from ...gates.arguments import explain

MAX_LINE = 64 * 1024 * 1024
"""Longest message that is read, in bytes."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

INITIALIZE = AGENT_METHODS["initialize"]
NEW = AGENT_METHODS["session_new"]
PROMPT = AGENT_METHODS["session_prompt"]
CANCEL = AGENT_METHODS["session_cancel"]
CLOSE = AGENT_METHODS["session_close"]

_MODELS: dict[str, type[BaseModel]] = {
    INITIALIZE: InitializeRequest,
    NEW: NewSessionRequest,
    PROMPT: PromptRequest,
    CANCEL: CancelNotification,
    CLOSE: CloseSessionRequest,
}


def parse(line: bytes) -> Any:
    """What a line says, as JSON has it.

    Raises:
        RequestError: It is no JSON, or too long.
    """
    if len(line) > MAX_LINE:
        raise RequestError(PARSE_ERROR, f"the line is longer than {MAX_LINE:,} bytes")
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(PARSE_ERROR, f"the line is no JSON: {error}") from None


def id_of(message: Any) -> str | int | float | None:
    """The id that an answer to a message bears: its own, or None where it has none that will do."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, float) and not math.isfinite(found):
        return None  # 1e400, which no answer can bear
    return found if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def is_response(message: Mapping[str, Any]) -> bool:
    """Whether a message answers a request."""
    return (
        "method" not in message and "id" in message and ("result" in message or "error" in message)
    )


def expects_answer(message: Mapping[str, Any]) -> bool:
    """Whether a message is answered: all are but notifications and responses."""
    return "id" in message if "method" in message else not is_response(message)


def strict(message: Any, last_session: str | None) -> dict[str, Any]:
    """A message as the protocol's library takes it; its id stays as it was sent.

    What may be left out: ``params``, the protocol's version, a session's ``cwd`` and
    ``mcpServers``, and the ``sessionId``, for which the newest session is taken. A prompt may
    be a text, one block, or a list of both, under ``prompt`` or ``content``.

    Args:
        message: What was sent.
        last_session: Id of the connection's newest session, or None.

    Raises:
        RequestError: It can't be made strict; the text says what to change.
    """
    if not isinstance(message, dict):
        _refuse_request(f"a message must be a JSON object, not {_kind(message)}")
    if is_response(message):
        return message
    method = message.get("method")
    if not isinstance(method, str):
        _refuse_request("a message needs a method, such as session/prompt")
    if message.get("id") is not None and id_of(message) is None:
        _refuse_request(f"an id must be a text or a number, not {_kind(message['id'])}")
    params = {} if message.get("params") is None else message["params"]
    if not isinstance(params, dict):
        _refuse_params(method, f"params must be an object, not {_kind(params)}")
    # The library would take the client's own notes for arguments.
    params = {name: value for name, value in params.items() if name != "_meta"}
    if method not in _MODELS:
        known = ", ".join(_MODELS)
        raise RequestError(METHOD_NOT_FOUND, f"there is no method {method!r:.100}; use: {known}")
    params = _COMPLETE[method](params, last_session)
    _check(method, params)
    return {**message, "jsonrpc": "2.0", "params": params}


def _check(method: str, params: dict[str, Any]) -> None:
    """See that the library will take the parameters, for its own complaint names nothing."""
    try:
        _MODELS[method].model_validate(params)
    except ValidationError as error:
        _refuse_params(method, explain(error))


def _of_connection(params: dict[str, Any], _: str | None) -> dict[str, Any]:
    return {"protocolVersion": 1, **params}


def _of_new_session(params: dict[str, Any], _: str | None) -> dict[str, Any]:
    return {"cwd": ".", "mcpServers": [], **params}


def _of_session(params: dict[str, Any], last_session: str | None) -> dict[str, Any]:
    if "sessionId" in params:
        return params
    if last_session is None:
        raise RequestError(
            INVALID_PARAMS, f"there is no session yet: open one with {NEW}, or name a sessionId"
        )
    return {**params, "sessionId": last_session}


def _of_prompt(params: dict[str, Any], last_session: str | None) -> dict[str, Any]:
    params = _of_session(params, last_session)
    said = params.pop("content", None)
    return {**params, "prompt": _blocks(params.get("prompt", said))}


def _blocks(said: Any) -> Any:
    """A prompt as a list of blocks; what is none stays, for the library's types to refuse."""
    if isinstance(said, list):
        return [_block(one) for one in said]
    if isinstance(said, dict) and "type" not in said and "content" in said:
        return _blocks(said["content"])
    return [_block(said)]


def _block(said: Any) -> Any:
    if isinstance(said, str):
        return {"type": "text", "text": said}
    if isinstance(said, dict) and "type" not in said and "text" in said:
        return {"type": "text", **said}
    return said


_COMPLETE: dict[str, Callable[[dict[str, Any], str | None], dict[str, Any]]] = {
    INITIALIZE: _of_connection,
    NEW: _of_new_session,
    PROMPT: _of_prompt,
    CANCEL: _of_session,
    CLOSE: _of_session,
}


def _refuse_request(why: str) -> NoReturn:
    raise RequestError(INVALID_REQUEST, why)


def _refuse_params(method: str, why: str) -> NoReturn:
    raise RequestError(INVALID_PARAMS, f"{method}: {why}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    kinds = ((str, "a text"), (list, "a list"), (dict, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")
