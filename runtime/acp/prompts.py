"""A prompt's blocks as an intent and a context."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from acp import RequestError
from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from .loose import INVALID_PARAMS

Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)
Context = dict[str, str | bytes]


def read_prompt(blocks: Sequence[Block]) -> tuple[str, Context | None]:
    """An intent and a context for it.

    Texts, one after the other, are the intent. A link stands in it as ``[name](uri)``: nothing
    is fetched. An embedded resource stands in it as its URI, and its content, a text or bytes,
    is in the context under that URI.

    Args:
        blocks: The prompt.

    Returns:
        The intent, and the context by URI; None where nothing is embedded.

    Raises:
        RequestError: A block is an image or a sound, or holds no base64.
    """
    said: list[str] = []
    context: Context = {}
    for number, block in enumerate(blocks, 1):
        match block:
            case TextContentBlock():
                said.append(block.text)
            case ResourceContentBlock():
                said.append(f"[{block.name}]({block.uri})")
            case EmbeddedResourceContentBlock():
                said.append(_keep(context, block.resource, number))
            case _:
                raise _fault(number, f"is of type {block.type}; only text and resources are taken")
    return "".join(_spaced(said)), context or None


def _keep(context: Context, resource: Any, number: int) -> str:
    """Put a resource into the context; gives its key, one of its own."""
    key, copy = resource.uri, 1
    while key in context:
        copy += 1
        key = f"{resource.uri} ({copy})"
    if isinstance(resource, TextResourceContents):
        context[key] = resource.text
    else:
        try:
            context[key] = base64.b64decode(resource.blob, validate=True)
        except (binascii.Error, ValueError) as error:
            raise _fault(number, f"holds a blob that is no base64: {error}") from None
    return str(key)


def _spaced(said: Sequence[str]) -> list[str]:
    """The pieces with a space between two that would run together."""
    spaced: list[str] = []
    for piece in said:
        if spaced and piece and not spaced[-1][-1:].isspace() and not piece[0].isspace():
            spaced.append(" ")
        spaced.append(piece)
    return spaced


def _fault(number: int, what: str) -> RequestError:
    return RequestError(INVALID_PARAMS, f"block {number} of the prompt {what}")
