"""Folding: when a model is told of old turns in one message, and what that message says.

Its text comes from a template, never from a query. It is a view: the loom keeps every turn
whole (``LOOM-5``), and neither identity, capabilities, tools nor intents are ever folded
(``LOOM-6``).
"""

from __future__ import annotations

import keyword
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator

from pydantic import Field

from ..sandbox.execution import clip
from .loom import MORE_CALLS, Turn, Uttered
from .media.code import program_of
from .texts import error_line
from .value import Value

FOLD_CHARS = 6_000
"""Length of what stands for folded turns, in characters."""
_NAMES = 30
_GATES = 20
_ERRORS = 5
_RESULTS = 5
_OUTPUTS = 2
_LINE_CHARS = 200
_OUTPUT_CHARS = 600
_IN_LOOM = (
    'They are whole in `loom`: loom.turn(1) has .code, .observation and .calls; loom.search("text")'
    " finds turns; loom.printed(1) is all that was printed."
)
_BINDING = re.compile(
    r"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    r"|(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
"""A line at the left margin that binds names."""


class Folding(Value):
    """When old turns are folded (``PROD-4``).

    Args:
        after_turns: Fold when so many turns are told whole. Default: however many there are.
        share: Fold when so large a share of the model's window is used, above 0 and up to 1.
            Default 0.8.
        window: The window of the cantrip's model, in tokens, and of its children's models where
            theirs isn't known. Default: what is known of the model (see ``LLM.window``), else
            what its provider tells when it refuses messages that are too long.
        keep_turns: How many of the newest turns stay whole, if they fit; fewer where
            ``after_turns`` is no more than that. Default 3.

    Raises:
        CantripError: A field is unknown or its value is no good.
    """

    after_turns: int | None = Field(default=None, ge=1, strict=True)
    share: float = Field(default=0.8, gt=0, le=1)
    window: int | None = Field(default=None, ge=1, strict=True)
    keep_turns: int = Field(default=3, ge=1, strict=True)

    @property
    def kept_by_turns(self) -> int:
        """How many turns stay whole where ``after_turns`` folds."""
        return max(min(self.keep_turns, (self.after_turns or 0) - 1), 1)

    def room(self, window: int, reserved: int) -> int:
        """How many tokens of messages may be used.

        Args:
            window: The model's window.
            reserved: Tokens to be left for the reply; at most half of the window is.
        """
        return max(min(int(window * self.share), window - min(reserved, window // 2)), 1)


class Digest:
    """What is told of folded turns; it takes in one after the other.

    Args:
        in_code: Whether the entity can read its turns in ``loom``.
    """

    def __init__(self, in_code: bool) -> None:
        self._in_code = in_code
        self._calls: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._untold = 0
        self._names: dict[str, None] = {}
        self._errors: deque[str] = deque(maxlen=_ERRORS)
        self._results: deque[str] = deque(maxlen=_RESULTS)
        self._outputs: deque[str] = deque(maxlen=_OUTPUTS)

    def add(self, turn: Uttered) -> None:
        """Take in a turn."""
        for name in _bound(program_of(turn.reply) or ""):
            self._names.pop(name, None)  # the newest come last
            self._names[name] = None
        for part in turn.parts:
            self._count(part)
        if not turn.parts:
            return
        observation, end = turn.parts[-1].observation, turn.parts[-1].end
        if observation.is_error:
            error = error_line(observation.error or observation.text)
            self._errors.append(f"turn {turn.turn}: {clip(error, _LINE_CHARS)}")
        if observation.text:
            self._outputs.append(f"turn {turn.turn}: {clip(observation.text, _OUTPUT_CHARS)}")
        if end is not None and end.outcome == "terminated":
            self._results.append(f"turn {turn.turn}: {clip(end.result_text, _LINE_CHARS)}")

    def _count(self, part: Turn) -> None:
        told = [call for call in part.observation.records if call.gate != MORE_CALLS]
        for call in told:
            self._calls[call.gate] += 1
            self._failed[call.gate] += call.is_error
        self._untold += max(part.call_count - len(told), 0)

    def text(self, last: int, intents: Iterable[int] = (), limit: int = FOLD_CHARS) -> str:
        """What stands for the turns up to one.

        Args:
            last: The last of them.
            intents: Turns that were followed by a further intent.
            limit: Most characters of it. Default: ``FOLD_CHARS``.
        """
        named = list(self._names)[-_NAMES:]
        more = f"{len(self._names) - _NAMES:,} others, " if len(self._names) > _NAMES else ""
        after = ", ".join(str(turn) for turn in [*intents][-_RESULTS:])
        parts = [
            f"[Folded: turns 1-{last}]",
            "These turns are over; this stands for them.",
            f"A further intent was given after turn {after}." if after else "",
            self._gates(),
            f"Names bound: {more}{', '.join(named)}." if named else "",
            _listed("Results", self._results),
            _listed("Errors", self._errors),
            _listed("Last observed", self._outputs),
            _IN_LOOM if self._in_code else "",
        ]
        return clip("\n".join(part for part in parts if part), limit)

    def _gates(self) -> str:
        called = self._calls.most_common()
        if not called:
            return ""
        told = [f"{gate} {_times(count, self._failed[gate])}" for gate, count in called[:_GATES]]
        others = self._untold + sum(count for _, count in called[_GATES:])
        more = f", others {_times(others, 0)}" if others else ""
        return f"Gates called: {', '.join(told)}{more}."


def _bound(program: str) -> Iterator[str]:
    """Names that a program binds at its left margin, as far as its look tells."""
    for found in _BINDING.finditer(program):
        for name in re.findall(r"\w+", found[1] or found[2]):
            if not keyword.iskeyword(name):
                yield name


def _times(count: int, failed: int) -> str:
    times = "once" if count == 1 else f"{count:,} times"
    return f"{times} ({failed:,} failed)" if failed else times


def _listed(title: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f"{title}:\n{text}" if text else ""
