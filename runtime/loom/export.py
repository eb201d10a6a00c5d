"""A loom as JSON lines: one a record, in order, for readers and programs other than this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ..jsonable import to_json
from ..redaction import Secrets
from .index import decoded
from .lines import DIGESTS, Redaction, blob_line, head_line, line, opened, row_line
from .records import ImageRecord, Record
from .store import LoomStore, Row, chain_of
from .values import ContextRef


def export_lines(
    rows: Iterable[Row],
    store: LoomStore,
    secrets: Secrets,
    redaction: Redaction = "default",
) -> Iterator[str]:
    """The lines of an export, each made when it is reached, so that one record is held at a time.

    Where nothing is redacted they are those of ``loom.jsonl`` (see ``loom.lines``), and a blob
    is a line before the first record that refers to it. Else an entity's own values are JSON as
    ``jsonable.to_json`` has it, and neither digests nor the chain are told.

    Args:
        rows: What is exported.
        store: Where blobs are.
        secrets: The values that are known to be secret.
        redaction: What is withheld.

    Raises:
        LoomError: A record is damaged, or a blob is gone or damaged.
    """
    yield head_line(redaction)
    if redaction == "none":
        yield from _whole(rows, store)
        return
    for row in rows:
        fields = _redacted(decoded(row), secrets)
        yield line({"n": row.n, "at": row.at, "kind": row.kind, **fields})


def blobs_of(record: Record) -> Iterator[str]:
    """Digests of the blobs that a record refers to."""
    context = getattr(record, "context", None)
    if isinstance(context, ContextRef) and context.digest is not None:
        yield context.digest
    if isinstance(record, ImageRecord):
        yield record.digest


def _whole(rows: Iterable[Row], store: LoomStore) -> Iterator[str]:
    given: set[str] = set()
    chain = b""
    for row in rows:
        # What an older loom lacks is made up for, or the export could not be gone on with.
        chain = row.chain or chain_of(chain, row.n, row.at, row.kind, row.body)
        for digest in blobs_of(decoded(row)):
            if digest not in given:
                given.add(digest)
                yield blob_line(digest, store.get(digest))
        yield row_line(row._replace(chain=chain))


def _redacted(value: Any, secrets: Secrets, name: str = "") -> Any:
    """A record, or what stands in one, without secrets; ``name`` is its field's."""
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names = list(value._fields)
    elif isinstance(value, tuple):
        return [_redacted(item, secrets, name) for item in value]
    elif isinstance(value, bytes):
        # A digest could be guessed by.
        return None if name in DIGESTS else to_json(secrets.redact(opened(value)))
    else:
        return to_json(secrets.redact(value))
    return {name: _redacted(getattr(value, name), secrets, name) for name in names}
