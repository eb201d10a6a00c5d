"""Models asked through the official ``openai`` SDK, which is imported when one is built."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ..errors import (
    ContextLimit,
    LLMError,
    MalformedReply,
    MissingExtra,
    MissingKey,
    ProviderError,
)
from ..shapes import without_shapes
from .base import LLM, Reply, Request, check_linkage, check_reply
from .chat import chat_messages, chat_settings, is_context_limit, normalise
from .windows import known_window

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
MAX_ERROR_CHARS = 300
"""How much of a provider's own words an error repeats."""
CONNECT_S = 10.0
"""Longest wait for a connection, in seconds."""
NO_KEY = "none"
"""Sent where there is no key: the SDK insists on one, a local server doesn't look at it."""


class OpenAILLM(LLM):
    """A model behind OpenAI's endpoint, or behind any other that speaks Chat Completions.

    Args:
        model: The model's name, as the endpoint knows it.
        base_url: Where the endpoint is, ``/v1`` included. Default: OpenAI's own, or what
            ``OPENAI_BASE_URL`` says.
        api_key: The key. Default: what ``key_variable`` holds.
        timeout_s: Longest silence within a query, in seconds.
        provider: What names and errors call the endpoint. Default: ``openai``; ``local`` when
            there is a ``base_url``.
        key_variable: The environment variable with the key. Default: ``OPENAI_API_KEY``; none
            when there is a ``base_url``, so that OpenAI's key goes to nobody else.
        client: An ``openai.AsyncOpenAI`` to ask through, instead of one made here. Its maker
            closes it, and sets its ``max_retries`` to 0, for ``with_retry`` does that.

    Raises:
        MissingExtra: The SDK is not installed.
        MissingKey: There is no key, neither given nor in the variable.
        LLMError: The address is no http URL.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 600.0,
        *,
        provider: str | None = None,
        key_variable: str | None = None,
        client: AsyncOpenAI | None = None,
    ) -> None:
        _sdk()
        self._model = model
        self._base_url = base_url
        _check_url(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        self._timeout_s = timeout_s
        self._provider = provider or ("local" if base_url else "openai")
        self._key_variable = key_variable or (None if base_url else "OPENAI_API_KEY")
        self._client = client
        self._key = client.api_key if client is not None else self._key_found(api_key)
        # A client's connections belong to the event loop that opened them.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI]
        self._clients = WeakKeyDictionary()
        self.name = f"{self._provider}:{model}"
        # A local server serves a model with whatever window it was started with.
        self.window = None if self._provider == "local" else known_window(model)

    def __repr__(self) -> str:
        return f"OpenAILLM({self.name!r})"

    @property
    def secrets(self) -> Mapping[str, str]:
        """Its key, where it has one."""
        name = self._key_variable or f"{self._provider} key"
        return {name: self._key} if isinstance(self._key, str) else {}

    def _key_found(self, given: str | None) -> str | None:
        variable = self._key_variable
        key = (given or (os.environ.get(variable, "") if variable else "")).strip()
        if not key and variable:
            raise MissingKey(f"{self._provider} needs a key: set {variable} in the environment")
        if not key.isascii() or not key.isprintable():
            where = "api_key" if given else variable
            raise MissingKey(f"what {where} holds is no key: it is not one line of ASCII")
        return key or None

    async def query(self, request: Request) -> Reply:
        """Ask once; what it raises is told at ``LLM.query``."""
        check_linkage(request.messages)
        sdk = _sdk()
        messages, body = chat_messages(request), self._body(request)
        try:
            answer = await self._connected().chat.completions.with_raw_response.create(
                model=self._model, messages=messages, extra_body=body
            )
        except sdk.APIStatusError as error:
            raise self._refused(error) from None
        except sdk.APITimeoutError:
            raise ProviderError(
                f"{self._provider} did not answer within {self._timeout_s:g} s"
            ) from None
        except sdk.APIConnectionError as error:
            raise self._unreachable(error) from None
        except sdk.OpenAIError as error:
            raise LLMError(f"{self._provider} can't be asked: {self._clean(error)}") from None
        return check_reply(self._read(answer.http_response.text))

    async def aclose(self) -> None:
        """Close the connections that were opened in this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def _connected(self) -> AsyncOpenAI:
        if self._client is not None:
            return self._client
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            sdk = _sdk()
            self._clients[loop] = sdk.AsyncOpenAI(
                api_key=self._key or NO_KEY,
                base_url=self._base_url,
                timeout=sdk.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s)),
                max_retries=0,
            )
        return self._clients[loop]

    def _body(self, request: Request) -> dict[str, Any]:
        body = chat_settings(request)
        if self._provider == "openai" and "max_tokens" in body:
            # OpenAI's newer models refuse the old name; other servers know no other.
            body["max_completion_tokens"] = body.pop("max_tokens")
        return body

    def _read(self, text: str) -> Reply:
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            raise MalformedReply(
                f"{self._provider} answered no JSON object; it begins {self._clean(text)[:80]!r}: "
                "check the endpoint's address"
            )
        try:
            return normalise(raw)
        except ProviderError as error:
            raise type(error)(f"{self._provider}: {self._clean(error)}", error.status) from None

    def _refused(self, error: APIStatusError) -> ProviderError:
        """The error for an answer with a status of 4xx or 5xx."""
        status, text = error.status_code, self._clean(error.message)
        text = text.removeprefix(f"Error code: {status}").removeprefix(" - ")
        line = f"{self._provider} answered {status}: {text or 'no reason given'}"
        if status in (400, 413, 422) and is_context_limit(error.code, f"{error.type} {text}"):
            return ContextLimit(f"{line}; fold or shorten the messages", status)
        if status == 401:
            line += f"; check {self._key_variable or 'LOCAL_API_KEY, or api_key='}"
        elif status == 404:
            line += f"; check the model's name, {self._model!r}, and the endpoint's address"
        return ProviderError(line, status, retry_after_s=_retry_after_s(error.response.headers))

    def _unreachable(self, error: APIConnectionError) -> ProviderError:
        url = urlsplit(str(error.request.url))
        cause = self._clean(error.__cause__ or "") or self._clean(error)
        return ProviderError(f"{self._provider} can't be reached at {url.hostname}: {cause}")

    def _clean(self, text: object) -> str:
        """A provider's words as one bounded line, without keys, should they repeat one."""
        line = " ".join(str(text).split())
        if self._key:
            line = line.replace(self._key, "***")
        line = without_shapes(line)
        return line if len(line) <= MAX_ERROR_CHARS else line[:MAX_ERROR_CHARS] + "..."


def _sdk() -> ModuleType:
    try:
        import openai
    except ImportError:
        raise MissingExtra(
            "the openai extra is not installed: pip install 'circlet[openai]'"
        ) from None
    return openai


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise LLMError(f"{url!r} is no http address; write one like http://localhost:1234/v1")


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer asks to wait, from either of its two headers."""
    text = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif text.replace(".", "", 1).isdigit():
            seconds = float(text)
        else:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
