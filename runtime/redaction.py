"""Redaction: what a secret looks like, and what stands in its place.

There are two kinds. A *known value* was handed in, or is a key that the runtime itself uses: it
is masked before a gate's result reaches a program, so neither model nor loom has it. A *shape*
is how providers write their keys: what looks so is left alone where work is done, for a program
may need it, and is masked in all that is shown or handed on: events, logs, exports, views.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, AnyStr, TypeVar
from urllib.parse import quote, quote_plus

from ..sandbox.outcomes import Outcome, Truncated
from ..sandbox.wire import Described, Sealed, dumps, loads, seal
from .errors import CantripError
from .failures import error_of, failure_of
from .shapes import mask_of, without_shapes

MIN_CHARS = 4
"""Length of the shortest value that can be withheld: a shorter one is part of ordinary words."""
NAMED_CHARS = 8
"""Length from which an environment variable with a secret's name counts as one."""
KEY_CHARS = 16
"""Length from which a provider's key counts: local servers are given words such as ``none``."""
MIN_ENCODED = 12
"""Length of the shortest encoded form that is looked for, in characters."""
KEY_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "LOCAL_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
)
"""The environment variables that models take their keys from."""
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:API)?KEY|PAT|TOKEN|SECRETS?|PASSW(?:OR)?D|PASS|CREDENTIALS?)(?:_|$)|_PWD$",
    re.IGNORECASE,
)
_WITHHELD = "[redacted]"

T = TypeVar("T")


class Secrets:
    """Values that are withheld, each under the name that its mask tells. Never changed.

    A value is found as it is, and as JSON, an address (percent-encoded) and base64 write it.
    Other encodings of it, and parts of it, are not found.

    Args:
        values: The values by name, or a list of them.

    Raises:
        CantripError: A value is no text, or too short to be told from ordinary text; or a name
            is none, or tells a value. The error says which, and not what it holds.
    """

    def __init__(self, values: Mapping[str, str] | Iterable[str] = ()) -> None:
        self._values = _named(values)
        self._texts: dict[str, str] = {}
        for name, value in self._values.items():
            mask = mask_of(name)
            for form in _forms(value):
                self._texts.setdefault(form, mask)
        self._check_masks()
        self._bytes = {_raw(form): _raw(mask) for form, mask in self._texts.items()}
        if self._values:
            with _lock:
                _in_force.add(self)

    @classmethod
    def of_keys(cls, keys: Mapping[str, str | None]) -> Secrets:
        """The keys of models; what is shorter than ``KEY_CHARS`` is none."""
        return cls({name: key for name, key in keys.items() if key and len(key) >= KEY_CHARS})

    @staticmethod
    def of_environment() -> Secrets:
        """The keys that the environment holds for models."""
        return _keys(tuple(os.environ.get(name, "").strip() for name in KEY_VARIABLES))

    @classmethod
    def of_variables(cls, variables: Mapping[str, str]) -> Secrets:
        """Of variables those that are named like secrets, such as ``DB_PASSWORD``.

        What is shorter than ``NAMED_CHARS`` is taken for a placeholder.
        """
        return cls(
            {
                name: value
                for name, value in variables.items()
                if _SECRET_NAME.search(name) and len(value) >= NAMED_CHARS
            }
        )

    def __or__(self, other: Secrets) -> Secrets:
        """Both together; a name that both have means the first one's value."""
        mine = set(self._values.values())
        more = {name: value for name, value in other._values.items() if value not in mine}
        if not more:
            return self
        if not self._values:
            return other
        for name in set(more) & set(self._values):
            more[_other_name(name, {*more, *self._values})] = more.pop(name)
        return Secrets({**self._values, **more})

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return f"<Secrets: {', '.join(self._values) or 'none'}>"

    # -- what enters a program -------------------------------------------------------------------

    def sealed(self, value: Any) -> tuple[Any, Sealed]:
        """A value for handing on, and the same sealed: both without what is known.

        Raises:
            CodecError: Part of the value can't be encoded, or it is too large.
        """
        sealed = seal(value)
        if isinstance(value, Sealed) or not self._finds(sealed.data):
            return value, sealed
        masked = self.mask(loads(sealed.data))
        return masked, seal(masked)

    def error(self, error: Exception) -> Exception:
        """An error without what is known: the same one, or one that passes for it."""
        if not self._values:
            return error
        failure = failure_of(error)
        if not self._finds(failure):
            return error
        return error_of(dumps(self.mask(loads(failure))))

    def mask(self, value: T) -> T:
        """A value, or all texts and bytes in one, without what is known."""
        if not self._values:
            return value
        masked: T = _rewritten(value, self._mask_text, self._mask_bytes)
        return masked

    # -- what is shown or handed on --------------------------------------------------------------

    def redact(self, value: T) -> T:
        """A value, or all texts and bytes in one, without what is known or looks like a secret."""
        redacted: T = _rewritten(value, self._redact_text, self._redact_bytes)
        return redacted

    def _redact_text(self, text: str) -> str:
        return without_shapes(self._mask_text(text))

    def _redact_bytes(self, data: bytes) -> bytes:
        # Every byte is a character of Latin-1, and the shapes are ASCII.
        return without_shapes(self._mask_bytes(data).decode("latin-1")).encode("latin-1")

    def _mask_text(self, text: str) -> str:
        return _without(text, self._texts, _WITHHELD, "")

    def _mask_bytes(self, data: bytes) -> bytes:
        return _without(data, self._bytes, _WITHHELD.encode(), b"")

    def _finds(self, data: bytes) -> bool:
        return any(form in data for form in self._bytes)

    def _check_masks(self) -> None:
        for number, name in enumerate(self._values, 1):
            if any(form in mask_of(name) or form in _WITHHELD for form in self._texts):
                raise CantripError(
                    f"secrets: what would stand for number {number}, [redacted: NAME], holds one "
                    "of the values itself: give it another name, or leave that value out"
                )


@lru_cache(maxsize=1)
def _keys(held: tuple[str, ...]) -> Secrets:
    """The keys in the environment; made again only when they have changed."""
    return Secrets.of_keys(dict(zip(KEY_VARIABLES, held, strict=True)))


_lock = threading.Lock()
_in_force: weakref.WeakSet[Secrets] = weakref.WeakSet()


def redact(text: str) -> str:
    """A text without what looks like a secret, or is a known value of anybody's in this process."""
    with _lock:
        known = list(_in_force)
    for secrets in (*known, Secrets.of_environment()):
        text = secrets.mask(text)
    return without_shapes(text)


# -- masks ---------------------------------------------------------------------------------------


def _named(values: Any) -> dict[str, str]:
    """The values by name, checked."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise CantripError("secrets are a list of texts, or a mapping of a name to each")
    if not isinstance(values, Mapping):
        values = {f"#{number}": value for number, value in enumerate(values, 1)}
    for name, value in values.items():
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 100:
            raise CantripError("secrets: a name is a text of one line, of 1 to 100 characters")
        if not isinstance(value, str):
            raise CantripError(f"secrets: {name} must be a text, not {type(value).__name__}")
        if len(value.strip()) < MIN_CHARS:
            raise CantripError(
                f"secrets: {name} has fewer than {MIN_CHARS} characters: it can't be told from "
                "ordinary text; leave it out, or use a longer one"
            )
    return dict(values)


def _other_name(name: str, taken: Iterable[str]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _forms(value: str) -> Iterable[str]:
    """A value as it is, and as others write it within their own texts."""
    in_json = [form for once in _in_json(value) for form in (once, *_in_json(once))]
    encoded = [*_in_addresses(value), *_in_base64(_raw(value))]
    forms = [value, value.strip(), *in_json, *(one for one in encoded if len(one) >= MIN_ENCODED)]
    return dict.fromkeys(forms)


def _in_json(text: str) -> Iterable[str]:
    """What JSON makes of a text: with escapes of either case or without, also of slashes."""
    escaped = json.dumps(text)[1:-1]
    in_capitals = re.sub(r"\\u[0-9a-f]{4}", lambda found: rf"\u{found[0][2:].upper()}", escaped)
    for form in (escaped, in_capitals, json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form
        yield form.replace("/", r"\/")


def _in_addresses(text: str) -> Iterable[str]:
    """What percent-encoding makes of a text in a path, in a query, and in a form."""
    data = _raw(text)
    for form in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield form
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form)


def _in_base64(data: bytes) -> Iterable[str]:
    """What base64 makes of some bytes wherever they begin among others.

    The characters at both ends that the bytes beside them have a share in are left out.
    """
    for before, shared in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).decode("ascii").rstrip("=")
        end = len(whole) - bool((before + len(data)) % 3)
        yield whole[shared:end]
        yield whole[shared:end].translate(str.maketrans("+/", "-_"))


def _without(
    text: AnyStr, masks: Mapping[AnyStr, AnyStr], whole: AnyStr, nothing: AnyStr
) -> AnyStr:
    """A text with the mask in the place of each value that is in it.

    Values that overlap are masked as one, so that no end of one is left over.
    """
    found = [
        (start, start + len(form), mask)
        for form, mask in masks.items()
        if form in text
        for start in _places(text, form)
    ]
    if not found:
        return text
    found.sort()
    pieces: list[AnyStr] = []
    kept = 0
    for start, end, mask in found:
        if start >= kept:
            pieces += [text[kept:start], mask]
        kept = max(kept, end)
    pieces.append(text[kept:])
    made = nothing.join(pieces)
    # What stands around a mask may come to a value together with it.
    return whole if any(form in made for form in masks) else made


def _places(text: AnyStr, form: AnyStr) -> Iterable[int]:
    place = text.find(form)
    while place >= 0:
        yield place
        place = text.find(form, place + len(form))


# -- values --------------------------------------------------------------------------------------


def _rewritten(value: Any, text: Callable[[str], str], data: Callable[[bytes], bytes]) -> Any:
    """A value of the codec's types with every text and every bytes in it rewritten."""

    def rewrite(one: Any) -> Any:
        return _rewritten(one, text, data)

    kind = type(value)
    if kind is str:
        return text(value)
    if kind is bytes:
        return data(value)
    if kind is dict:
        return _rewritten_map(value, rewrite)
    if kind in (list, tuple, set, frozenset):
        return kind(map(rewrite, value))
    if kind is Described:
        return Described(text(value.type), text(value.text))
    if kind is Truncated:
        return Truncated(text(value.reason), rewrite(value.partial), text(value.summary))
    if isinstance(value, Outcome):
        return kind(text(value.reason), text(value.message), value.entity_id)
    return value


def _rewritten_map(value: dict[Any, Any], rewrite: Callable[[Any], Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, item in value.items():
        new = rewrite(key)
        if new in made and isinstance(new, str):  # two secrets of one kind
            new = _other_name(new, made)
        made[new] = rewrite(item)
    return made
