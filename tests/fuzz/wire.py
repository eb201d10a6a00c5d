"""Worker's bytes that nobody meant, fed to the host's side of the wire; a script too.

    python tests/fuzz/wire.py random 100000     mutated conversations; prints what they came to
    python tests/fuzz/wire.py atheris 60        guided by coverage, for so many seconds

Either ends with an error as soon as the host raises anything but its own errors.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from circlet.sandbox.codec import Described
from circlet.sandbox.dialogue import CallGate, Done, Receive, Turn
from circlet.sandbox.errors import (
    CannotDump,
    CodecError,
    ImageError,
    NoSuchVariable,
    ProtocolError,
)
from circlet.sandbox.images.steps import dumping, loading
from circlet.sandbox.limits import Limits
from circlet.sandbox.outcomes import ChildFailed, Truncated
from circlet.sandbox.record import played
from circlet.sandbox.variables import getting, setting
from circlet.sandbox.wire import ESCAPES, HEADER, Inbox, Op, dumps, frame, imaged, seal

LIMITS = Limits(eval_ms=600_000)
GIVEN_UP = (ProtocolError, TimeoutError, ConnectionError)
"""What a host may raise over a worker, which it then ends."""

# -- the host -------------------------------------------------------------------------------------


def drive(steps: Any, data: bytes) -> Any:
    """The host's side of a talk whose other side says ``data`` and then ends."""
    inbox = Inbox()
    step = next(steps)
    try:
        while True:
            match step:
                case CallGate(name, args, kwargs):
                    answer = args[0] if args else kwargs
                    step = steps.send(Done(answer) if name == "done" else answer)
                case Receive():
                    taken, data = _next_frame(inbox, data)
                    step = steps.send(taken)
                case _:
                    step = steps.send(None)
    except StopIteration as stop:
        return stop.value


def _next_frame(inbox: Inbox, data: bytes) -> Any:
    while (taken := inbox.take()) is None:
        if not data:
            raise ConnectionError("the worker closed its socket")
        with inbox.buffer() as room:
            count = min(len(room), len(data))
            room[:count] = data[:count]
        inbox.advance(count)
        data = data[count:]
    return taken, data


def run_turn(data: bytes) -> str:
    """A turn whose worker says ``data``; gives what it came to."""
    turn = Turn(LIMITS)
    try:
        execution = drive(turn.steps("x = 1"), data)
    except GIVEN_UP as error:
        execution = turn.given_up(error)
    str(execution)
    played("x = 1", turn.exchanges, turn.calls, execution)
    for read in (lambda: execution.value, lambda: execution.answer):
        with suppress(CodecError):
            read()
    return str(execution.status)


def get_variable(data: bytes) -> str:
    """A variable is asked for; gives what that came to."""
    try:
        drive(getting("x"), data).open()
    except (*GIVEN_UP, CodecError, NoSuchVariable) as error:
        return type(error).__name__
    return "value"


def set_variable(data: bytes) -> str:
    """A variable is set; gives what that came to."""
    try:
        drive(setting("x", seal(1), LIMITS), data)
    except (*GIVEN_UP, CodecError) as error:
        return type(error).__name__
    return "taken"


def dump_image(data: bytes) -> str:
    """The state is asked for; gives what that came to."""
    try:
        drive(dumping(), data).check(skip=False)
    except (*GIVEN_UP, CannotDump) as error:
        return type(error).__name__
    return "dumped"


def load_image(data: bytes) -> str:
    """A state is to be taken up; gives what that came to."""
    try:
        drive(loading(b"state"), data)
    except (*GIVEN_UP, ImageError) as error:
        return type(error).__name__
    return "loaded"


TALKS: tuple[Callable[[bytes], str], ...] = (
    *(run_turn, get_variable, set_variable),
    *(dump_image, load_image),
)


# -- honest conversations, and what is done to them -----------------------------------------------

VALUES: list[Any] = [
    *(None, True, 0, -1, 1 << 40, 1 << 200, 1.5, "text", "\ud800", b"bytes", [], {}, (), set()),
    *({"a": [1, {"b": 2}]}, {1: 2, (3, 4): 5}, {1, "b"}, frozenset({frozenset({1})}), ((1,), [2])),
    *(Decimal("1.50"), Decimal("-Infinity"), Fraction(1, 3), 2 + 1j, dt.timedelta(1, 2, 3)),
    *(dt.datetime(2020, 2, 29, tzinfo=dt.UTC), dt.date(2020, 1, 1), dt.time(23, 59, fold=1)),
    *(Described("Odd", "<Odd>"), ChildFailed("why", "how", "e1"), Truncated("max_turns", [1])),
    seal({"deep": [(1, 2), {3}]}),
]


def conversation(values: list[Any], text: str) -> list[bytes]:
    """What an honest worker sends in a turn that prints, calls gates and ends with a value."""
    frames = [frame(Op.OUTPUT, text.encode("utf-8", "replace"))]
    frames.append(frame(Op.ESCAPED, text.encode(ESCAPES)))
    frames += [frame(Op.GATE, dumps(["echo", [value], {"key": value}])) for value in values]
    error = {"type": "ValueError", "message": text, "line": 1, "traceback": text}
    report = {"status": "ok", "omitted": 0, "shown": text, "value": seal(values), "error": error}
    frames.append(frame(Op.GATE, dumps(["done", [seal(values)], {}])))
    return [*frames, frame(Op.RESULT, dumps(report))]


def answers(value: Any) -> list[list[bytes]]:
    """What an honest worker answers where a variable is asked for, or set."""
    return [
        [frame(Op.VALUE, dumps(["value", seal(value)]))],
        [frame(Op.VALUE, dumps(["error", "it took too long"]))],
        [frame(Op.TAKEN)],
        [b"".join(imaged(Op.IMAGE, {"left_out": {}, "reason": None}, seal(value).data))],
        [b"".join(imaged(Op.IMAGE, {"left_out": {"x": "it is open"}, "reason": "no room"}))],
    ]


_BYTES = (0x00, 0x01, 0x7F, 0x80, 0x90, 0xC1, 0xC4, 0xC7, 0xC9, 0xD4, 0xD8, 0xDB, 0xDD, 0xDF, 0xFF)
"""First bytes of what msgpack has, and the ends of ranges."""


def mutate(frames: list[bytes], rng: random.Random) -> bytes:
    """A conversation with one to four things wrong in it."""
    frames = list(frames)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(frames))
        if len(frames[place]) >= HEADER.size:  # or it has been cut off already
            frames[place] = rng.choice(_MUTATIONS)(frames[place], frames, rng)
    return b"".join(frames)


def _bytes(one: bytes, _frames: list[bytes], rng: random.Random) -> bytes:
    changed = bytearray(one)
    for _ in range(rng.randint(1, 3)):
        value = rng.choice(_BYTES) if rng.random() < 0.5 else rng.randrange(256)
        changed[rng.randrange(len(changed))] = value
    return bytes(changed)


def _content(one: bytes, frames: list[bytes], rng: random.Random) -> bytes:
    """Bytes of the body changed, and the length right."""
    body = bytearray(one[HEADER.size :]) or bytearray(1)
    other = rng.choice(frames)[HEADER.size :]
    first, last = sorted(rng.choices(range(len(body) + 1), k=2))
    match rng.randrange(4):
        case 0:
            body[rng.randrange(len(body))] = rng.choice(_BYTES)
        case 1:
            del body[first:last]
        case 2:
            body[first:first] = body[first:last]
        case _:
            body[first:last] = other[: rng.randint(0, len(other))]
    return HEADER.pack(len(body), one[4]) + body


def _length(one: bytes, _frames: list[bytes], rng: random.Random) -> bytes:
    length = rng.choice([0, 1, len(one), 65_536, 1 << 20, (256 << 20) + 1, 0xFFFFFFFF])
    return HEADER.pack(length, one[4]) + one[HEADER.size :]


def _opcode(one: bytes, _frames: list[bytes], rng: random.Random) -> bytes:
    return one[:4] + bytes([rng.choice([*Op, 0, 99, 255])]) + one[5:]


def _order(one: bytes, frames: list[bytes], rng: random.Random) -> bytes:
    return (
        rng.choice([b"", one * 2, rng.choice(frames), one[: rng.randint(0, len(one))]]) or one[:4]
    )


_MUTATIONS = (_bytes, _content, _content, _content, _length, _opcode, _order)


# -- the script -----------------------------------------------------------------------------------

FORBIDDEN = (
    *("compile", "exec", "import", "open", "marshal.loads", "pickle.find_class", "code.__new__"),
    *("os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.connect", "subprocess.Popen"),
    *("ctypes.dlopen", "builtins.input", "object.__setattr__"),
)
"""What no bytes of a worker's may bring the host to, by the names of Python's audit events."""


def run_random(count: int) -> dict[str, Any]:
    """Mutated conversations, seeded; gives how many came to what, and what else they caused."""
    import resource

    rng = random.Random(4)
    talks = [(run_turn, conversation(rng.sample(VALUES, 3), "printed \ud800")) for _ in range(200)]
    talks += [(talk, one) for talk in TALKS[1:] for value in VALUES for one in answers(value)]
    outcomes: Counter[str] = Counter()
    caused: Counter[str] = Counter()
    for talk, frames in talks:
        outcomes[f"honest {talk(b''.join(frames))}"] += 1  # and all is loaded that will be
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    watching = True

    def note(event: str, _arguments: Any) -> None:
        if watching and event in FORBIDDEN:
            caused[event] += 1

    sys.addaudithook(note)
    for _ in range(count):
        talk, frames = rng.choice(talks)
        outcomes[talk(mutate(frames, rng))] += 1
    watching = False
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"outcomes": dict(outcomes), "caused": dict(caused), "grown_kib": grown}


def run_atheris(seconds: int) -> None:
    """As many inputs as there is time for, each made from those that reached something new."""
    import atheris  # type: ignore[import-not-found]

    def one_input(data: bytes) -> None:
        TALKS[data[0] % len(TALKS) if data else 0](data[1:])

    corpus = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    places = []
    if corpus is not None:
        corpus.mkdir(parents=True, exist_ok=True)
        for number, value in enumerate(VALUES):
            data = b"\x00" + b"".join(conversation([value], "text"))
            (corpus / f"turn-{number}").write_bytes(data)
            for kind, frames in enumerate(answers(value)):
                data = bytes([1 + kind % (len(TALKS) - 1)]) + b"".join(frames)
                (corpus / f"answer-{number}-{kind}").write_bytes(data)
        places = [str(corpus)]
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *places], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1] == "atheris":
        run_atheris(int(sys.argv[2]))
    else:
        print(json.dumps(run_random(int(sys.argv[2]))))  # noqa: T201 - a script's answer
