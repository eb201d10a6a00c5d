"""How providers write their keys, as data: what looks like a secret, whoever's it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


def mask_of(name: str) -> str:
    """What stands in a secret's place: it says what was withheld, and nothing of the value."""
    return f"[redacted: {name}]"


class Shape(NamedTuple):
    """How one kind of secret is written.

    Attributes:
        name: What its mask says was there.
        hints: Texts that such a secret begins with; the pattern is tried only where one stands.
        pattern: The secret; only its group ``secret`` is masked where there is one.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_BEGINNING = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
"""No letter or digit stands before a key, but for one of an escaped character."""


def _key(name: str, prefixes: str, rest: str) -> Shape:
    """A key that begins with one of some prefixes."""
    starts = tuple(prefixes.split())
    either = "|".join(map(re.escape, starts))
    return Shape(name, starts, re.compile(rf"{_BEGINNING}(?:{either}){rest}"))


SHAPES: tuple[Shape, ...] = (
    # Its prefix begins as OpenAI's does: the longer one is tried first.
    _key("Anthropic key", "sk-ant-", r"[A-Za-z0-9_-]{12,}"),
    # The same.
    _key("OpenRouter key", "sk-or-", r"[A-Za-z0-9_-]{12,}"),
    # Kinds of key are words with hyphens (sk-proj-...), and many other providers write theirs so.
    _key("OpenAI key", "sk-", r"[A-Za-z0-9_-]{16,}"),
    # 39 characters in all, always.
    _key("Google key", "AIza", r"[A-Za-z0-9_-]{35}"),
    # The client secret of a Google application.
    _key("Google secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    # One letter says whose token it is: a person's, an application's, a server's, a refresh.
    _key("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,}"),
    # The newer tokens of narrower rights.
    _key("GitHub token", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    # A person's token.
    _key("GitLab token", "glpat-", r"[A-Za-z0-9_-]{20,}"),
    # 20 characters in all: a lasting key and a temporary one.
    _key("AWS key id", "AKIA ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    # 40 characters of base64: only its name tells it.
    Shape(
        "AWS secret key",
        ("ecret_access_key", "ECRET_ACCESS_KEY", "ecretAccessKey"),
        re.compile(r"(?i:ecret_?access_?key)\W{1,6}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    ),
    # Bots, people, applications, legacy ones and refreshes.
    _key("Slack token", "xoxb- xoxp- xoxa- xoxe- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]{10,}"),
    # A person's or an organisation's token.
    _key("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}"),
    # Whole keys and restricted ones; test keys open test accounts.
    _key("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}"),
    # Models behind other endpoints of the same protocol.
    _key("Groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _key("xAI key", "xai-", r"[A-Za-z0-9]{40,}"),
    _key("Perplexity key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _key("Replicate token", "r8_", r"[A-Za-z0-9]{35,}"),
    # Who has one publishes packages in another's name.
    _key("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    _key("PyPI token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    # Two parts, of 22 and 43 characters.
    _key("SendGrid key", "SG.", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}"),
    # Header and claims are JSON objects in base64, and both begin with {" there.
    _key("JSON web token", "eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    # A token of any make in a header; one with no digit is prose.
    Shape(
        "bearer token",
        ("earer ", "EARER "),
        re.compile(
            r"(?<=[Bb])(?i:earer) +"
            r"(?P<secret>(?=[A-Za-z._~+/-]{0,200}[0-9])[A-Za-z0-9._~+/-]{16,}=*)"
        ),
    ),
    # User and password in a header.
    Shape(
        "basic authorization",
        ("uthorization", "UTHORIZATION"),
        re.compile(r"(?i:uthorization\W{1,6}basic) +(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"),
    ),
    # From its first line to its last, or to the end of a text that was cut.
    Shape(
        "private key",
        ("-----BEGIN ",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?s:.*?)(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    # user:password@ before a host, as in the addresses of databases.
    Shape(
        "password in an address",
        ("://",),
        re.compile(r"://[^\s/:@\"']{0,100}:(?P<secret>[^\s/@\"']{1,200})@"),
    ),
)
"""How secrets are written, the first that fits counts."""

_BY_HINT = tuple((hint, shape) for shape in SHAPES for hint in shape.hints)


def without_shapes(text: str) -> str:
    """A text with a mask in the place of all that looks like a secret."""
    for hint, shape in [pair for pair in _BY_HINT if pair[0] in text]:
        mask = mask_of(shape.name)
        pieces, kept = [], 0
        for start, end in _places(text, hint, shape):
            pieces += [text[kept:start], mask]
            kept = end
        text = "".join([*pieces, text[kept:]])
    return text


def _places(text: str, hint: str, shape: Shape) -> Iterator[tuple[int, int]]:
    """Where secrets of one shape stand. A pattern's own search would look at each character."""
    group = "secret" if "secret" in shape.pattern.groupindex else 0
    place = text.find(hint)
    while place >= 0:
        found = shape.pattern.match(text, place)
        if found is not None:
            yield found.span(group)
        place = text.find(hint, place + 1 if found is None else found.end())
