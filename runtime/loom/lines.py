"""A loom as lines of JSON: what ``loom.jsonl`` holds, and an export that withholds nothing.

The first line is the head: ``format``, ``version``, ``circlet``, ``redaction``. Each other is a
record (``n``, ``at``, ``kind``, its fields by name, ``chain``; a reply's ``tokens`` stand in front
too, for a loom to be opened quickly) or, in an export, a ``blob`` before the first record that
refers to it. JSON doesn't have all types: an encoded value stands as
``{"value": ..., "codec": BASE64}``, whose bytes count and whose ``value`` is for readers. Where
JSON can't give the fields back as they were, ``body`` has the record's bytes, and those count.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from ...sandbox import wire
from ...sandbox.errors import CodecError
from ..errors import LoomError
from ..jsonable import MAX_INT_BITS, to_json
from .brief import Brief, brief_of
from .store import Row

Redaction = Literal["default", "none"]
"""``default`` withholds secrets; ``none`` gives all, and the exact bytes of each value too."""
FORMAT = "circlet-loom"
VERSION = 2
"""Version of the lines' layout, in the first of them."""
HEAD_BEGINS = b'{"format":"circlet-loom",'
"""What every first line begins with."""
DIGESTS = frozenset({"asked"})
"""Fields whose bytes are a digest, which stands in hex; those of all others are the codec's."""


class Blob(NamedTuple):
    """A line that bears a blob.

    Attributes:
        digest: Its SHA-256, in hex.
        data: Its bytes.
    """

    digest: str
    data: bytes


def line(content: dict[str, Any]) -> str:
    """A line of JSON, in ASCII."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def head_line(redaction: Redaction = "none") -> str:
    """The first line."""
    head = {"format": FORMAT, "version": VERSION, "circlet": version("circlet")}
    return line({**head, "redaction": redaction})


def row_line(row: Row) -> str:
    """A record's line, from which ``read_line`` makes the same row again.

    Raises:
        LoomError: Its body is no record's.
    """
    fields = _fields_of(row)
    body = {}
    try:
        if wire.dumps(fields) != row.body:
            raise _Inexact
        written = {name: _exact(name, value) for name, value in fields.items()}
    except _Inexact:
        written = {name: to_json(value) for name, value in fields.items()}
        body = {"body": _base64(row.body)}
    head: dict[str, Any] = {"n": row.n, "at": row.at, "kind": row.kind}
    if row.kind == "reply":
        head["tokens"] = row.brief[2:]
    return line({**head, **written, **body, "chain": row.chain.hex()})


def blob_line(digest: str, data: bytes) -> str:
    """The line of a blob, for an export to bear what its records refer to."""
    return line({"kind": "blob", "digest": digest, "data": _base64(data)})


def opened(data: bytes) -> Any:
    """What the codec's bytes stand for; what a program made too costly to read is told of."""
    try:
        return wire.loads(data, unseal=True)
    except CodecError as error:
        return wire.Described("value that can't be read", str(error))


def read_head(text: bytes) -> None:
    """Check the first line.

    Raises:
        LoomError: It is no loom's, of another version, or something is withheld from it.
    """
    head = _object(text)
    if head.get("format") != FORMAT:
        raise LoomError(f"its first line doesn't tell the format {FORMAT!r}: it is no loom")
    if head.get("version") != VERSION:
        advice = "upgrade circlet" if _is_newer(head.get("version")) else "export it again"
        raise LoomError(
            f"it has version {head.get('version')!r}, this circlet reads {VERSION}: {advice}"
        )
    if head.get("redaction") != "none":
        raise LoomError(
            "it is redacted, so that what was withheld is not in it: "
            "export the loom again with redaction='none'"
        )


def read_line(text: bytes) -> Row | Blob:
    """What a line after the first bears.

    Raises:
        LoomError: It is no record and no blob; the text says what is wrong.
    """
    content = _object(text)
    if content.get("kind") == "blob":
        return Blob(_taken(content, "digest", str), _decoded("data", content.get("data")))
    n, at, kind = (_taken(content, *each) for each in (("n", int), ("at", str), ("kind", str)))
    chain = _taken(content, "chain", str)
    try:
        if "body" in content:
            body = _decoded("body", content["body"])
            fields = wire.loads(body)
        else:
            fields = {name: _read(name, it) for name, it in content.items() if name not in _OUTER}
            body = wire.dumps(fields)
        return Row(n, at, kind, brief_of(kind, fields), body, bytes.fromhex(chain))
    except (CodecError, ValueError) as error:
        raise LoomError(f"the {kind} record can't be read: {error}") from None


def read_brief(text: str, start: int, end: int) -> tuple[int, str, Brief] | Blob:
    """The ``n``, the kind and the brief of a line; a blob whole.

    Args:
        text: Some lines, each byte of them a character.
        start: Where the line begins in them.
        end: Where it ends.

    Raises:
        LoomError: As ``read_line`` does, but for what is not needed here: a line of a frequent
            kind is not looked at beyond its brief.
    """
    if found := _CALL.match(text, start, end):
        n, entity, turn, k = found.groups()
        return int(n), "call", (entity, int(turn), int(k))
    if found := _REPLY.match(text, start, end):
        n, prompt, completion, cached, entity, turn = found.groups()
        return int(n), "reply", (entity, int(turn), int(prompt), int(completion), int(cached))
    if found := _NODE.match(text, start, end):
        n, node, parent, entity, sequence, turn = found.groups()
        return int(n), "node", (node, parent, entity, int(sequence), int(turn))
    row = read_line(text[start:end].encode("latin-1"))
    return row if isinstance(row, Blob) else (row.n, row.kind, row.brief)


_OUTER = frozenset({"n", "at", "kind", "tokens", "chain"})
"""What a record's line has beside the record's own fields."""
# How the lines begin that there are most of.
_ID = r'"([\x20\x21\x23-\x5b\x5d-\x7e]*)"'
_START = r'\{"n":(\d+),"at":"[^"]*","kind":'
_CALL = re.compile(rf'{_START}"call","entity":{_ID},"turn":(\d+),"k":(\d+),')
_REPLY = re.compile(rf'{_START}"reply","tokens":\[(\d+),(\d+),(\d+)\],"entity":{_ID},"turn":(\d+),')
_NODE = re.compile(
    rf'{_START}"node","id":{_ID},"parent":(?:{_ID}|null),"entity":{_ID},"sequence":(\d+),'
    r'"turn":(\d+),'
)
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two lone surrogates that JSON would give back as one character."""
_MAX_LEVELS = 90
"""How deep a value is written as it is, below what readers of JSON take."""


def _fields_of(row: Row) -> dict[str, Any]:
    try:
        fields = wire.loads(row.body)
    except CodecError as error:
        raise LoomError(f"the {row.kind} record can't be read: {error}") from None
    if type(fields) is not dict or not all(type(name) is str for name in fields):
        raise LoomError(f"the {row.kind} record can't be read: it must be a mapping")
    return fields


class _Inexact(Exception):
    """JSON can't give a value back as it was."""


def _exact(name: str, value: Any, levels: int = _MAX_LEVELS) -> Any:
    """A field's value, or one in it, as JSON that ``_read`` makes the same value of."""
    kind = type(value)
    if kind is bytes:
        if name in DIGESTS:
            return value.hex()
        return {"value": to_json(opened(value)), "codec": _base64(value)}
    if kind is list and levels:
        return [_exact("", item, levels - 1) for item in value]
    if kind is dict and levels and _is_plain(value):
        return {key: _exact("", item, levels - 1) for key, item in value.items()}
    if value is None or kind is bool or _stays(value):
        return value
    raise _Inexact


def _is_plain(value: dict[Any, Any]) -> bool:
    """Whether a mapping can't be taken for what stands for another value."""
    names_stay = all(type(name) is str and _stays(name) for name in value)
    return names_stay and "codec" not in value


def _stays(value: Any) -> bool:
    """Whether JSON gives a text or a number back as it was."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _PAIR.search(value) is None
    if kind is int:
        return bool(value.bit_length() <= MAX_INT_BITS)
    return kind is float and math.isfinite(value)


def _read(name: str, value: Any) -> Any:
    """The value that ``_exact`` wrote so."""
    if name in DIGESTS and isinstance(value, str):
        return bytes.fromhex(value)
    if isinstance(value, list):
        return [_read("", item) for item in value]
    if isinstance(value, dict):
        if "codec" in value:
            return _decoded("codec", value["codec"])
        return {key: _read("", item) for key, item in value.items()}
    return value


def _object(text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise LoomError(f"it is not JSON: {error}") from None
    if type(content) is not dict:
        raise LoomError("it is not a JSON object")
    return content


def _taken(content: dict[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if type(value) is not kind:
        wanted = {str: "a text", int: "a whole number"}[kind]
        raise LoomError(f"{name!r} must be {wanted}")
    return value


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decoded(name: str, text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise LoomError(f"{name!r} must be base64: {error}") from None


def _is_newer(told: Any) -> bool:
    return type(told) is int and told > VERSION
