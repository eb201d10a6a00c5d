"""From ``provider:model`` to a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..errors import UnknownModel, UnknownProvider
from .base import LLM
from .openai import OpenAILLM

LOCAL_KEY = "LOCAL_API_KEY"
"""The environment variable with the key of a ``local:`` endpoint, where it wants one."""


def llm(spec: str, **options: Any) -> LLM:
    """Build the model that ``spec`` names.

    Args:
        spec: ``openai:MODEL``, ``openrouter:VENDOR/MODEL``, or ``local:URL#MODEL`` for any
            server that speaks Chat Completions, such as ``local:http://localhost:1234/v1#qwen``.
        **options: Passed on to the provider's class: ``api_key``, ``timeout_s``, ``client``.

    Returns:
        The model; nothing has been asked yet.

    Raises:
        UnknownProvider: No provider of that name is there.
        UnknownModel: The model's part is missing.
        LLMError: A local server's address is no http URL.
        MissingExtra: The provider's SDK is not installed.
        MissingKey: The provider's key is not set.
    """
    provider, colon, model = spec.partition(":")
    build = _PROVIDERS.get(provider)
    if build is None or not colon:
        raise UnknownProvider(
            f"{spec!r} names no provider that there is: write PROVIDER:MODEL, "
            f"the provider one of {', '.join(sorted(_PROVIDERS))}"
        )
    return build(model, options)


def _openai(model: str, options: dict[str, Any]) -> LLM:
    if not model:
        raise UnknownModel("'openai:' names no model: write openai:MODEL")
    return OpenAILLM(model, **options)


def _openrouter(model: str, options: dict[str, Any]) -> LLM:
    if not model:
        raise UnknownModel("'openrouter:' names no model: write openrouter:VENDOR/MODEL")
    return OpenAILLM(
        model,
        base_url="https://openrouter.ai/api/v1",
        provider="openrouter",
        key_variable="OPENROUTER_API_KEY",
        **options,
    )


def _local(place: str, options: dict[str, Any]) -> LLM:
    url, _, model = place.partition("#")
    if not url or not model:
        raise UnknownModel(
            f"'local:{place}' names no model: write local:URL#MODEL, "
            "such as local:http://localhost:1234/v1#qwen"
        )
    # A key of its own, which a local server need not have: OpenAI's goes to nobody else.
    options.setdefault("api_key", os.environ.get(LOCAL_KEY) or None)
    return OpenAILLM(model, base_url=url, **options)


_PROVIDERS: dict[str, Callable[[str, dict[str, Any]], LLM]] = {
    "openai": _openai,
    "openrouter": _openrouter,
    "local": _local,
}
