"""Verifiers: functions and commands that say whether an entity's work is good (an oracle).

A function is given the result and answers with True or False, or with a number: the reward,
which passes where it is above 0. A cast that came to no result has failed; no function is asked.

A command is run without a shell, whatever the cast came to. It finds the result as JSON on its
standard input (``null`` where there is none) and the facts in its environment: ``CIRCLET_ENTITY``,
``CIRCLET_CAST``, ``CIRCLET_NODE``, ``CIRCLET_INTENT``, ``CIRCLET_OUTCOME``, ``CIRCLET_REASON``, and
``CIRCLET_LOOM`` (the run's directory) where the loom has one. Exit code 0 means that it passes.
Where the last line that it prints is a number, that is the reward; else it is 1 for a pass and 0
for none. What it prints to its standard error is for whoever runs it.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import math
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import anyio

from ...sandbox.execution import clip
from ...sandbox.preview import show
from ..errors import LoomError, VerifierError
from ..jsonable import to_json
from .attempts import Attempt, attempts
from .index import Index
from .records import RewardRecord
from .turn import Thread
from .values import Verdict

Verifier = Callable[[Any], Any] | Sequence[str] | str
"""A function (``ajudge`` takes async ones), or a command: a list, or a line that is split."""
TIMEOUT_S = 60.0
"""How long a verifier may take, in seconds, where nothing else is said."""
INTENT_CHARS = 10_000
"""Characters of the intent that a command finds in its environment."""
TAIL_BYTES = 4_096
"""Bytes at the end of a command's output that are looked at for its last line."""
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:inf|nan)", re.IGNORECASE)
TEXT_CHARS = 500
"""Characters of a criterion, and of an oracle's name, that are kept."""


class Judged(Protocol):
    """A cast, as ``Cantrip.cast`` gives it back."""

    @property
    def entity_id(self) -> str:
        """Who worked on it."""

    @property
    def number(self) -> int:
        """Ordinal of the cast within the entity, from 1."""

    @property
    def result(self) -> Any:
        """What it came to."""


@dataclass(frozen=True)
class Work:
    """What a verifier is to judge.

    Attributes:
        attempt: The cast.
        read: Reads its result.
        directory: The loom's, or None.
    """

    attempt: Attempt
    read: Callable[[], Any]
    directory: Path | None

    @property
    def has_result(self) -> bool:
        """Whether it came to a result."""
        return self.attempt.end is not None and self.attempt.end.result is not None


def reward_of(given: Any) -> float | None:
    """A reward as a float: True is 1, False 0; None where it is no finite number."""
    try:
        reward = float(given) if isinstance(given, int | float) else math.nan
    except OverflowError:  # an int past all floats
        return None
    return reward if math.isfinite(reward) else None


def work_of(index: Index, of: Judged | Thread | str, directory: Path | None) -> Work:
    """What is to be judged, found in a loom.

    Args:
        index: The loom's index.
        of: A cast; or a thread or the id of a node, for the cast that ended there; or the id of an
            entity, for its newest cast.
        directory: The loom's, or None.

    Raises:
        LoomError: It isn't in the loom, has not ended, or came to no turn that could be judged.
    """
    attempt = _attempt_of(index, of)
    if attempt.end is None:
        raise LoomError(f"{attempt.entity_id!r} is still at work: judge it when its cast has ended")
    if attempt.node is None:
        raise LoomError(
            f"the cast {attempt.name} came to no turn ({attempt.outcome}: {attempt.reason}): there "
            "is nothing that could be judged"
        )
    if isinstance(of, str | Thread):
        return Work(attempt, lambda: attempt.result, directory)
    return Work(attempt, lambda: of.result, directory)


def _attempt_of(index: Index, of: Judged | Thread | str) -> Attempt:
    if isinstance(of, Thread):
        if not of:
            raise LoomError("the thread has no turns: there is nothing that could be judged")
        of = of[-1].id
    if not isinstance(of, str):
        if not isinstance(getattr(of, "entity_id", None), str) or not hasattr(of, "number"):
            raise LoomError(
                "a cast, a thread, or the id of an entity or a node can be judged, not "
                f"{show(of, 100)}"
            )
        found = [one for one in attempts(index, of.entity_id) if one.cast == of.number]
        if not found:
            raise LoomError(f"the cast of {of.entity_id!r} is of another loom")
        return found[0]
    if of in index.entities:
        found = attempts(index, of)
        if not found:
            raise LoomError(f"{of!r} is still at work: judge it when its cast has ended")
        return found[-1]
    for attempt in attempts(index, index.node(of).entity):
        if attempt.node == of:
            return attempt
    raise LoomError(
        f"no cast ended at the turn {of!r}: give an entity's id, or reward the turn itself"
    )


class Judgement:
    """One verifier's judgement of one piece of work.

    Args:
        work: The work.
        verifier: The verifier.
        criterion: What is asked. Default: the first line of a function's docstring, or the
            oracle's name.
        by: Who judges, as the record has it. Default: the oracle's name.
        timeout_s: How long it may take, in seconds.

    Raises:
        VerifierError: The verifier is neither a function nor a command, or the timeout is no
            positive number.
    """

    def __init__(
        self,
        work: Work,
        verifier: Verifier,
        criterion: str | None,
        by: str | None,
        timeout_s: float,
    ) -> None:
        if not timeout_s > 0:
            raise VerifierError(f"timeout_s must be a number above 0, not {timeout_s!r}")
        self._work = work
        self._timeout_s = timeout_s
        self._function = verifier if callable(verifier) else None
        self._argv = [] if callable(verifier) else _argv(verifier)
        self._oracle = clip(
            _name_of(verifier) if self._function else shlex.join(self._argv), TEXT_CHARS
        )
        self._criterion = clip(criterion or _first_line(self._function) or self._oracle, TEXT_CHARS)
        self._by = by or self._oracle

    def pronounce(self) -> RewardRecord:
        """Ask the verifier, in this thread.

        Raises:
            VerifierError: It is async, fails, or answers with what is no judgement.
        """
        if self._function is None:
            return self._of_command()
        if inspect.iscoroutinefunction(inspect.unwrap(self._function)):
            raise VerifierError(f"the verifier {self._oracle} is async: judge with ajudge")
        if not self._work.has_result:
            return self._reward(0.0, passed=False)
        with self._told():
            answer = self._function(self._work.read())
        if inspect.isawaitable(answer):
            _close(answer)
            raise VerifierError(f"the verifier {self._oracle} is async: judge with ajudge")
        return self._of_answer(answer)

    async def apronounce(self) -> RewardRecord:
        """Ask the verifier; one that is not async runs in a thread of its own.

        Raises:
            VerifierError: It fails, takes too long, or answers with what is no judgement.
        """
        if self._function is None:
            return await anyio.to_thread.run_sync(self._of_command)
        if not self._work.has_result:
            return self._reward(0.0, passed=False)
        with self._told():
            answer = await anyio.to_thread.run_sync(partial(self._function, self._work.read()))
            if inspect.isawaitable(answer):
                answer = await self._awaited(answer)
        return self._of_answer(answer)

    async def _awaited(self, answer: Awaitable[Any]) -> Any:
        with anyio.move_on_after(self._timeout_s):
            return await answer
        raise self._too_long()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of an error of a function's own with its name."""
        try:
            yield
        except VerifierError:
            raise
        except (Exception, SystemExit) as error:  # a verifier is no place to end the host from
            why = clip(f"{type(error).__name__}: {error}", TEXT_CHARS)
            raise VerifierError(
                f"the verifier {self._oracle} raised {why}; nothing is recorded"
            ) from error

    def _of_answer(self, answer: Any) -> RewardRecord:
        reward = reward_of(answer)
        if reward is None:
            raise VerifierError(
                f"the verifier {self._oracle} answered with {show(answer, 100)}: it must be True, "
                "False or a finite number"
            )
        return self._reward(reward, passed=reward > 0)

    # -- commands --------------------------------------------------------------------------------

    def _of_command(self) -> RewardRecord:
        value = to_json(self._work.read()) if self._work.has_result else None
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
            given.write(json.dumps(value, allow_nan=False).encode("ascii"))
            given.seek(0)
            code = self._run(given, printed)
            number = _last_number(printed)
        if code < 0:
            raise VerifierError(
                f"the verifier {self._oracle} was killed by signal {-code} before it had judged; "
                "nothing is recorded"
            )
        passed = code == 0
        if number is None:
            return self._reward(float(passed), passed=passed, exit_code=code)
        if not math.isfinite(number):
            raise VerifierError(
                f"the verifier {self._oracle} printed {number}: a reward is a finite number"
            )
        return self._reward(number, passed=passed, exit_code=code)

    def _run(self, given: IO[bytes], printed: IO[bytes]) -> int:
        """Run the command, and give its exit code."""
        try:
            process = subprocess.Popen(
                self._argv,
                stdin=given,
                stdout=printed,
                env={**os.environ, **_facts(self._work)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise VerifierError(f"the verifier {self._oracle} can't be started: {why}") from None
        try:
            return process.wait(self._timeout_s)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise self._too_long() from None
            raise

    def _too_long(self) -> VerifierError:
        return VerifierError(
            f"the verifier {self._oracle} took longer than {self._timeout_s:g} s and was stopped; "
            "nothing is recorded: give it a longer timeout_s, or make it faster"
        )

    def _reward(self, value: float, *, passed: bool, exit_code: int | None = None) -> RewardRecord:
        verdict = Verdict(self._criterion, self._oracle, passed, exit_code)
        return RewardRecord(self._work.attempt.node or "", value, self._by, verdict)


def _argv(command: Sequence[str] | str) -> list[str]:
    try:
        argv = shlex.split(command) if isinstance(command, str) else list(command)
    except TypeError:
        argv = []
    except ValueError as error:
        raise VerifierError(f"the verifier {command!r} is no command: {error}") from None
    if not argv or not all(isinstance(word, str) for word in argv):
        raise VerifierError(
            f"a verifier is a function, a list of texts or a command line, not {command!r}"
        )
    return argv


def _name_of(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def _first_line(function: Any) -> str:
    text = inspect.getdoc(function) if inspect.isroutine(function) else None
    return (text or "").strip().partition("\n")[0]


def _close(answer: Any) -> None:
    if inspect.iscoroutine(answer):
        answer.close()


def _facts(work: Work) -> dict[str, str]:
    """What a command finds in its environment."""
    attempt = work.attempt
    facts = {
        "ENTITY": attempt.entity_id,
        "CAST": str(attempt.cast),
        "NODE": attempt.node or "",
        "INTENT": clip(attempt.intent, INTENT_CHARS),
        "OUTCOME": attempt.outcome or "",
        "REASON": clip(attempt.reason or "", TEXT_CHARS),
    }
    if work.directory is not None:
        facts["LOOM"] = str(work.directory.resolve())
    return {f"CIRCLET_{name}": _plain(text) for name, text in facts.items()}


def _plain(text: str) -> str:
    """A text as an environment can hold it."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _last_number(printed: IO[bytes]) -> float | None:
    """The number that the last line is, or None."""
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(size - TAIL_BYTES, 0))
    lines = printed.read().rstrip().splitlines()
    is_whole = len(lines) > 1 or size <= TAIL_BYTES
    last = lines[-1].strip() if lines and is_whole else b""
    return float(last) if _NUMBER.fullmatch(last) else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that runs, and all of its session."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
