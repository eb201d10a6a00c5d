"""A worker that lies, at the other end of a real session: it is ended and told of, and no more."""

import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import msgpack
import pytest
from circlet.sandbox import AsyncSandbox, Execution, Limits, Sandbox
from circlet.sandbox.codec import MAX_ALIKE, MAX_LOOSE_KEYS, MAX_UNASKED
from circlet.sandbox.dialogue import MAX_CALL_BYTES, CallGate, Send, Turn
from circlet.sandbox.errors import CodecError, SandboxClosed
from circlet.sandbox.kernel import KernelWorker
from circlet.sandbox.limits import MAX_TURN_OUTPUT
from circlet.sandbox.reads import MAX_READS
from circlet.sandbox.record import MAX_RECORD, played
from circlet.sandbox.survey import MAX_DEPTH, MAX_SURROGATES, Ext
from circlet.sandbox.testing import SandboxOf, zygote_without
from circlet.sandbox.wire import HEADER, MAX_FRAME, Inbox, Op, dumps, frame, loads, seal

OK = {"status": "ok", "omitted": 0}
QUICK = Limits(eval_ms=50)
MODULUS = (1 << 61) - 1  # CPython hashes an int to its remainder by this


class Peer:
    """The worker's end of a session's socket, in the hands of a test."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._inbox = Inbox()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def read(self) -> Op:
        """Wait for the host's next frame."""
        while (taken := self._inbox.take()) is None:
            count = self.sock.recv_into(self._inbox.buffer())
            if not count:
                raise ConnectionError
            self._inbox.advance(count)
        return taken[0]

    def read_until(self, op: Op) -> None:
        while self.read() is not op:
            pass


Script = Callable[[Peer], None]


def honest(peer: Peer) -> None:
    """Runs every turn, and has nothing to say."""
    while True:
        peer.read_until(Op.RUN)
        peer.send(frame(Op.RESULT, dumps({**OK, "bound": "assigned `x` (int: 1)"})))


def saying(*data: bytes) -> Script:
    """Answers a turn with these bytes, and then waits for its end."""

    def script(peer: Peer) -> None:
        peer.read_until(Op.RUN)
        for piece in data:
            peer.send(piece)
        while True:
            peer.read()

    return script


class _Lying:
    """A session whose first worker is a script's; those after it are honest."""

    def __init__(self, script: Script, **settings: Any) -> None:
        self._scripts = [script]
        self.threads: list[threading.Thread] = []
        super().__init__(**{"limits": QUICK, **settings})

    def _pick_worker(self) -> KernelWorker:
        ours, theirs = socket.socketpair()
        script = self._scripts.pop(0) if self._scripts else honest
        self.threads.append(threading.Thread(target=self._play, args=(script, theirs)))
        self.threads[-1].start()
        return KernelWorker(ours, b"peer")

    @staticmethod
    def _play(script: Script, sock: socket.socket) -> None:
        with sock, suppress(OSError):
            script(Peer(sock))


class Lying(_Lying, Sandbox):
    """It blocks."""


class AsyncLying(_Lying, AsyncSandbox):
    """It is awaited."""


@contextmanager
def blocking(script: Script, **settings: Any) -> Iterator[Callable[[str], Execution]]:
    with Lying(script, **settings) as session:
        yield session.run
    for thread in session.threads:
        thread.join()


@contextmanager
def awaited(script: Script, **settings: Any) -> Iterator[Callable[[str], Execution]]:
    session = AsyncLying(script, **settings)
    with anyio.from_thread.start_blocking_portal() as portal:
        yield lambda source: portal.call(session.run, source)
        portal.call(session.aclose)
    for thread in session.threads:
        thread.join()


@pytest.fixture(params=[blocking, awaited])
def face(request: pytest.FixtureRequest) -> Any:
    """Each kind of session in turn."""
    return request.param


def ext(code: int, content: bytes) -> bytes:
    return msgpack.packb(msgpack.ExtType(code, content))


def result(**fields: Any) -> bytes:
    return frame(Op.RESULT, dumps({**OK, **fields}))


def gate(*arguments: bytes) -> bytes:
    """A call of ``take`` with arguments that are encoded already."""
    head = b"\x93" + dumps("take") + b"\xdc" + len(arguments).to_bytes(2, "big")
    return frame(Op.GATE, head + b"".join(arguments) + b"\x80")


def ints(values: Any) -> bytes:
    return b"".join(dumps(value) for value in values)


def array(count: int, items: bytes) -> bytes:
    return b"\xdd" + count.to_bytes(4, "big") + items


def mapping(count: int, items: bytes) -> bytes:
    return b"\xdf" + count.to_bytes(4, "big") + items


def nested(code: int, levels: int, inner: bytes = b"\x90") -> bytes:
    for _ in range(levels):
        inner = ext(code, b"\x91" + inner)
    return inner


def twins(levels: int) -> bytes:
    """A frozenset of two that hash alike, each of them such a frozenset again."""

    def half(level: int, number: int) -> bytes:
        if not level:
            return dumps(number * MODULUS + 7)
        pair = half(level - 1, 2 * number) + half(level - 1, 2 * number + 1)
        return ext(Ext.FROZENSET, b"\x92" + pair)

    return half(levels, 0)


ERROR = {"type": "E", "message": "", "line": 1, "traceback": ""}
LIES: dict[str, tuple[bytes, str]] = {
    # lengths and opcodes
    "a length past the limit": (HEADER.pack(MAX_FRAME + 1, Op.RESULT), "claims 268,435,457 bytes"),
    "the largest length": (HEADER.pack(0xFFFFFFFF, Op.RESULT), "claims 4,294,967,295 bytes"),
    "an opcode nobody knows": (HEADER.pack(0, 99), "unknown opcode 99"),
    "opcode nought": (HEADER.pack(0, 0), "unknown opcode 0"),
    **{
        f"a frame {op.name}": (frame(op), f"a frame {op.name} came in the middle of a turn")
        for op in Op
        if op not in (Op.OUTPUT, Op.ESCAPED, Op.GATE, Op.READS, Op.RESULT)
    },
    # reads of clocks and chance
    "reads that are no value": (frame(Op.READS, b"\xc1"), "malformed value"),
    "reads of no kind": (frame(Op.READS, dumps({"moon": b"12345678"})), "bytes by kind"),
    "reads that are cut short": (frame(Op.READS, dumps({"time": b"1234"})), "bytes by kind"),
    "reads of no number": (frame(Op.READS, dumps({"time": b"\xff" * 8})), "bytes by kind"),
    "more reads than are kept": (
        frame(Op.READS, dumps({"chance": b"x" * MAX_READS})) * 2,
        "more reads than are kept",
    ),
    # output
    "output that is no UTF-8": (frame(Op.OUTPUT, b"\xff"), "output that is no text"),
    "half a character": (frame(Op.OUTPUT, b"\xc3"), "output that is no text"),
    "a broken escape": (frame(Op.ESCAPED, b"\\x1"), "output that is no text"),
    "an escape of nothing": (frame(Op.ESCAPED, b"\\\\\\q"), "output that is no text"),
    "an escape by name": (frame(Op.ESCAPED, b"\\N{SPACE}"), "output that is no text"),
    "half an escape": (frame(Op.ESCAPED, b"x\\"), "output that is no text"),
    "an escape past Unicode": (frame(Op.ESCAPED, b"\\U00110000"), "output that is no text"),
    "more output than there may be": (
        frame(Op.OUTPUT, b"x" * MAX_TURN_OUTPUT) + frame(Op.OUTPUT, b"x"),
        "more output than a turn may have",
    ),
    "an output frame far too large": (
        frame(Op.ESCAPED, b"\\" * (10 * MAX_TURN_OUTPUT + 1)),
        "more output than a turn may have",
    ),
    # a turn's result
    "no result": (frame(Op.RESULT), "it ends early"),
    "a result that is a list": (frame(Op.RESULT, b"\x90"), "a mapping is wanted"),
    "a result with no status": (frame(Op.RESULT, b"\x80"), "unknown status"),
    "a status that is the host's to give": (result(status="crashed"), "unknown status"),
    "a status that is a list": (result(status=["ok"]), "unknown status"),
    "a status of bytes": (result(status=b"ok"), "unknown status"),
    "done, and no gate was called": (result(status="done"), "no gate has ended the work"),
    "a value that is not sealed": (result(value=1), "not sealed"),
    "a text that is a number": (result(shown=1), "a text is wanted"),
    "a text that is bytes": (result(bound=b"x"), "a text is wanted"),
    "a reason that is a list": (result(unsealed=["x"]), "a text is wanted"),
    "a text too long": (result(shown="x" * (MAX_TURN_OUTPUT + 1)), "a text is wanted"),
    "no count": (frame(Op.RESULT, dumps({"status": "ok"})), "a number is wanted"),
    "a count that is True": (result(omitted=True), "a number is wanted"),
    "a count below nought": (result(omitted=-1), "a number is wanted"),
    "a count that is a float": (result(omitted=1.0), "a number is wanted"),
    "a count of many digits": (result(omitted=10**5_000), "a number is wanted"),
    "an error that is none": (result(status="error"), "a mapping is wanted"),
    "half an error": (result(status="error", error={"type": "E"}), "a text is wanted"),
    "a line that is a text": (result(status="error", error={**ERROR, "line": "1"}), "a number"),
    "a line far off": (result(status="error", error={**ERROR, "line": 1 << 60}), "a number"),
    # gate calls
    "a call that is a text": (frame(Op.GATE, dumps("take")), "a gate call is not"),
    "a call without a mapping": (frame(Op.GATE, dumps(["take", []])), "a gate call is not"),
    "a call with too much": (frame(Op.GATE, dumps(["take", [], {}, 1])), "a gate call is not"),
    "a call of a number": (frame(Op.GATE, dumps([1, [], {}])), "a gate call is not"),
    "arguments in a tuple": (frame(Op.GATE, dumps(["take", (), {}])), "a gate call is not"),
    "a number as a keyword": (frame(Op.GATE, dumps(["take", [], {1: 2}])), "a gate call is not"),
    "bytes as a keyword": (frame(Op.GATE, dumps(["take", [], {b"x": 2}])), "a gate call is not"),
    "a name without end": (frame(Op.GATE, dumps(["x" * 1_001, [], {}])), "a gate call is not"),
    "a call after the end": (
        frame(Op.GATE, dumps(["done", [1], {}])) + gate(),
        "a gate was called after the work had been ended",
    ),
    # the codec: claims
    "a byte that begins nothing": (gate(b"\xc1"), "no value begins with the byte 193"),
    "nothing at all": (frame(Op.GATE), "it ends early"),
    "more after the end": (frame(Op.RESULT, dumps(OK) + b"\x00"), "more follows after its end"),
    "a list that claims too much": (gate(b"\xdd\xff\xff\xff\xff"), "100,000 items"),
    "a list that claims a little more": (gate(b"\xdd\x00\x01\x00\x00"), "more items than it has"),
    "a map that claims too much": (gate(b"\xdf\xff\xff\xff\xff"), "100,000 items"),
    "lists in lists that all claim": (gate(array(90_000, b"") * 1_000), "more items than it has"),
    "lists in extensions that claim": (gate(nested(Ext.TUPLE, 60, array(9, b""))), "more items"),
    "a text that claims too much": (gate(b"\xdb\xff\xff\xff\xff"), "it ends early"),
    "bytes that claim too much": (gate(b"\xc6\xff\xff\xff\xff"), "it ends early"),
    "an extension that claims too much": (gate(b"\xc9\xff\xff\xff\xff\x01"), "it ends early"),
    "an extension with more in it": (gate(ext(Ext.TUPLE, b"\x90\x90")), "more follows"),
    "an extension with half a list": (gate(ext(Ext.TUPLE, b"\x92\x01") + b"\x02"), "more items"),
    # the codec: bombs
    "items by the million": (gate(b"\x91" * 500 + array(2_000_000, b"\x90" * 2_000_000)), "items"),
    "many lists of many": (gate(*[array(60_000, b"\x90" * 60_000)] * 3), "100,000 items"),
    "extensions without end": (gate(nested(Ext.TUPLE, MAX_DEPTH + 1)), "deeper than 64 levels"),
    "lists without end": (gate(b"\x91" * 5_000 + b"\x90"), "StackError"),
    "more bytes than the host reads": (gate(dumps(b"x" * MAX_UNASKED)), "the limit is 16,777,216"),
    "lone surrogates without end": (
        gate(dumps("\ud800" * (MAX_SURROGATES + 1))),
        "1,000,000 lone surrogates",
    ),
    "half a surrogate": (gate(b"\xa2\xed\xa0"), "UnicodeDecodeError"),
    "many keys that are no texts": (
        gate(mapping(MAX_LOOSE_KEYS + 1, b"".join(dumps(n) + b"\xc0" for n in range(1_001)))),
        "keys that are not strings",
    ),
    "keys that collide": (
        gate(mapping(MAX_ALIKE + 1, b"".join(dumps(n * MODULUS) + b"\xc0" for n in range(33)))),
        "hash alike",
    ),
    "members that collide": (
        gate(ext(Ext.SET, array(33, ints(n * MODULUS for n in range(33))))),
        "hash alike",
    ),
    "sets of sets that collide": (gate(twins(10)), "hash alike"),
    "a key that can't be one": (gate(mapping(1, b"\x90\xc0")), "unhashable"),
    "a member that can't be one": (gate(ext(Ext.SET, b"\x91\x90")), "unhashable"),
    # the codec: types
    "an extension nobody knows": (gate(ext(99, b"\x90")), "no extension type 99"),
    "an instance of msgpack's own": (gate(b"\xd6\xff\0\0\0\1"), "no extension type 255"),
    "a huge int": (gate(ext(Ext.INT, b"\x7f" * 70_000)), "70,000 bytes"),
    "a Decimal of many digits": (gate(ext(Ext.DECIMAL, b"1" * 70_000)), "70,000 digits"),
    "a huge Decimal": (gate(ext(Ext.DECIMAL, b"1E+999999")), "exponent 999,999"),
    "a tiny Decimal": (gate(ext(Ext.DECIMAL, b"1E-999999")), "exponent -999,999"),
    "a Decimal that is a word": (gate(ext(Ext.DECIMAL, b"many")), "InvalidOperation"),
    "a Fraction over nought": (gate(ext(Ext.FRACTION, b"\x92\x01\x00")), "a Fraction is over"),
    "a Fraction of floats": (gate(ext(Ext.FRACTION, dumps([1.0, 2.0]))), "2 of type int"),
    "Fractions that take long": (
        gate(*[ext(Ext.FRACTION, dumps([3**100_000, 7**60_000]))] * 4),
        "too many digits",
    ),
    "a complex number of texts": (gate(ext(Ext.COMPLEX, dumps(["1j", 0]))), "2 of type float"),
    "a datetime that is a number": (gate(ext(Ext.DATETIME, dumps([1, 0]))), "1 of type str"),
    "a datetime that is none": (gate(ext(Ext.DATETIME, dumps(["today", 0]))), "Invalid isoformat"),
    "a fold that is none": (gate(ext(Ext.TIME, dumps(["10:00", 7]))), "fold"),
    "a date that is none": (gate(ext(Ext.DATE, b"\xff")), "UnicodeDecodeError"),
    "a time past all time": (gate(ext(Ext.TIMEDELTA, dumps([1 << 70, 0, 0]))), "OverflowError"),
    "a span of floats": (gate(ext(Ext.TIMEDELTA, dumps([1.5, 0, 0]))), "3 of type int"),
    "a description of numbers": (gate(ext(Ext.DESCRIBED, b"\x92\x01\x02")), "2 strings"),
    "an outcome of the worker's": (gate(ext(Ext.OUTCOME, dumps(["OSError", *"abc"]))), "no such"),
    "a tuple that is a map": (gate(ext(Ext.TUPLE, b"\x80")), "a list is wanted"),
    "a sealed value that is a list": (gate(ext(Ext.SEALED, b"\x92\x90\xa0")), "sealed"),
    "a sealed value of one part": (gate(ext(Ext.SEALED, b"\x91\xc4\x00")), "sealed"),
    "a sealed value's long text": (
        gate(ext(Ext.SEALED, b"\x92\xc4\x00" + dumps("x" * 5_000))),
        "a short text",
    ),
}


@pytest.mark.parametrize(("lie", "told"), LIES.values(), ids=list(LIES))
def test_a_lie_costs_the_worker_its_life(face: Any, lie: bytes, told: str) -> None:
    """A frame that lies ends its worker: the turn says what it did, and the session goes on."""
    with face(saying(lie), gates={"take": lambda *_: None}) as run:
        lied = run("x = 1")
        if lied.status == "done":  # the answer had been accepted before
            assert (lied.answer, lied.state) == (1, "rolled_back")
        else:
            assert (lied.status, lied.state) == ("crashed", "rolled_back")
            assert lied.error is not None
            assert lied.error.type == "ProcessDied"
            assert "the process broke the protocol and was killed" in lied.error.message
            assert told in lied.error.message
            assert len(lied.error.message) < 1_000
        assert run("x = 1").status == "ok"


# -- what a worker sends when nobody asks, and what it doesn't send -------------------------------


def test_silence_is_ended_by_the_turns_time(face: Any) -> None:
    """A worker that reads and never answers is given up when its turn's time is over."""
    with face(saying()) as run:
        silent = run("x = 1")
        assert (silent.status, silent.state) == ("timeout", "rolled_back")
        assert run("x = 1").status == "ok"


def dripping(peer: Peer) -> None:
    """Sends the bytes of a long frame one by one, for as long as somebody is there."""
    peer.read_until(Op.RUN)
    peer.send(HEADER.pack(MAX_FRAME, Op.RESULT))
    while True:
        peer.send(b"\x00")


def flooding(peer: Peer) -> None:
    """Sends frames that say nothing, for as long as somebody is there."""
    peer.read_until(Op.RUN)
    while True:
        peer.send(frame(Op.OUTPUT) * 1_000)


def stopping(peer: Peer) -> None:
    """Ends in the middle of a frame."""
    peer.read_until(Op.RUN)
    peer.send(HEADER.pack(100, Op.RESULT) + b"half")


@pytest.mark.parametrize("script", [dripping, flooding])
def test_bytes_that_keep_coming_make_no_time(face: Any, script: Script) -> None:
    """A worker that drips bytes, or floods its host, is given up as one that is silent is."""
    with face(script) as run:
        endless = run("x = 1")
        assert (endless.status, endless.state) == ("timeout", "rolled_back")
        assert run("x = 1").status == "ok"


def test_half_a_frame_is_no_frame(face: Any) -> None:
    """A worker that ends in the middle of a frame has died, and that is what is told."""
    with face(stopping) as run:
        died = run("x = 1")
        assert (died.status, died.state) == ("crashed", "rolled_back")
        assert died.error is not None
        assert "the process died in the middle of the turn" in died.error.message


def test_what_is_never_read_does_not_hold_the_host(face: Any) -> None:
    """A worker that does not read what its gate answers is given up in its turn's own time."""
    over = threading.Event()

    def deaf(peer: Peer) -> None:
        peer.read_until(Op.RUN)
        peer.send(gate())
        over.wait()

    with face(deaf, gates={"take": lambda: "x" * 10_000_000}) as run:
        stuck = run("x = 1")
        over.set()
        assert (stuck.status, stuck.state) == ("timeout", "rolled_back")
        assert run("x = 1").status == "ok"


@pytest.mark.parametrize(
    "extra", [result(), gate(), frame(Op.OUTPUT, b"late"), frame(Op.VALUE), b"\x00"]
)
def test_what_comes_between_turns_is_nobodys_answer(face: Any, extra: bytes) -> None:
    """A second result, or anything else unasked for, ends the worker; the next turn tells of it."""
    sent = threading.Event()

    def twice(peer: Peer) -> None:
        peer.read_until(Op.RUN)
        peer.send(result(bound="first") + extra)
        sent.set()
        peer.read()

    with face(twice) as run:
        assert run("x = 1").bound == "first"
        assert sent.wait(30)
        again = run("x = 2")
        assert again.bound == "assigned `x` (int: 1)"
        assert "the process broke the protocol" in again.before


def test_a_reply_that_is_not_waited_for_is_no_matter(face: Any) -> None:
    """A worker that ends its turn without waiting for its gate has ended its turn."""
    with face(saying(gate() + result()), gates={"take": lambda: 1}) as run:
        over = run("x = 1")
        assert (over.status, [call.result for call in over.gate_calls]) == ("ok", [1])


def test_a_liar_costs_no_other_session_its_turn() -> None:
    """While workers drip and flood, another session on the same loop gets its answers."""
    order: list[str] = []

    async def main() -> None:
        async with AsyncSandbox(limits=Limits(eval_ms=10_000)) as other:
            assert (await other.run("x = 1")).status == "ok"
            started = anyio.Event()

            async def lie(script: Script) -> None:
                async with AsyncLying(script, limits=Limits(eval_ms=2_000)) as lying:
                    started.set()
                    order.append((await lying.run("x = 1")).status)

            async with anyio.create_task_group() as group:
                group.start_soon(lie, dripping)
                group.start_soon(lie, flooding)
                await started.wait()
                for _ in range(3):
                    order.append((await other.run("x += 1")).status)

    anyio.run(main)
    assert order == ["ok", "ok", "ok", "timeout", "timeout"]


# -- values that do not open ----------------------------------------------------------------------

TIMESTAMP = b"\xd6\xff\0\0\0\1"
UNOPENABLE = [b"", b"\xc1", TIMESTAMP, b"\xdd\xff\xff\xff\xff", b"\x90\x90", twins(10)]


def sealed(data: bytes) -> bytes:
    return ext(Ext.SEALED, b"\x92" + dumps(data) + dumps("a lie"))


@pytest.mark.parametrize("data", UNOPENABLE)
def test_a_value_that_does_not_open_is_an_error_where_it_is_opened(face: Any, data: bytes) -> None:
    """The host carries what is sealed unseen; who opens it gets a CodecError and no other."""
    body = b"\x83" + dumps("status") + dumps("ok") + dumps("omitted") + dumps(0)
    lie = frame(Op.RESULT, body + dumps("value") + sealed(data))
    with face(saying(lie)) as run:
        lied = run("x = 1")
        assert lied.status == "ok"
        with pytest.raises(CodecError):
            _ = lied.value


def test_why_a_value_can_not_be_read_is_told_in_short(face: Any) -> None:
    """A worker's reason is cut to a length that can be shown."""
    with face(saying(result(unsealed="x" * 1_000_000))) as run, pytest.raises(CodecError) as caught:
        _ = run("x = 1").value
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize(
    "lie",
    [
        result(),
        frame(Op.OUTPUT, b"x"),
        frame(Op.VALUE),
        frame(Op.VALUE, dumps(["value", 1])),
        frame(Op.VALUE, dumps(["value"])),
        frame(Op.VALUE, dumps(["missing", "x"])),
        frame(Op.VALUE, dumps(["error", 1])),
        frame(Op.VALUE, dumps({"value": seal(1)})),
        HEADER.pack(MAX_FRAME + 1, Op.VALUE),
        HEADER.pack(10, Op.VALUE) + b"half",
    ],
)
def test_a_variables_value_that_is_none_ends_the_worker(lie: bytes) -> None:
    """What comes in place of a variable's value costs the worker its life, and is told so."""

    def script(peer: Peer) -> None:
        peer.read_until(Op.GET)
        peer.send(lie)
        peer.sock.shutdown(socket.SHUT_WR)
        peer.read()

    with Lying(script) as session:
        with pytest.raises(SandboxClosed, match="was ended"):
            _ = session["x"]
        assert session.run("x = 1").status == "ok"


@pytest.mark.parametrize(
    "lie",
    [
        result(),
        frame(Op.VALUE),
        frame(Op.TAKEN, b"thanks"),
        frame(Op.TAKEN, b"x" * 1_000_000),
        HEADER.pack(0, 99),
        HEADER.pack(10, Op.TAKEN) + b"half",
    ],
)
def test_a_receipt_that_is_none_ends_the_worker(lie: bytes) -> None:
    """What comes in place of a receipt costs the worker its life, and is told so."""

    def script(peer: Peer) -> None:
        peer.read_until(Op.SET)
        peer.send(lie)
        peer.sock.shutdown(socket.SHUT_WR)
        peer.read()

    with Lying(script) as session:
        with pytest.raises(SandboxClosed, match="was ended"):
            session["x"] = 1
        assert session.run("x = 1").status == "ok"


@pytest.mark.parametrize("data", UNOPENABLE)
def test_a_variable_that_does_not_open_is_a_codec_error(data: bytes) -> None:
    """The frame was right and its content is not: the session is none the worse."""

    def script(peer: Peer) -> None:
        peer.read_until(Op.GET)
        peer.send(frame(Op.VALUE, b"\x92" + dumps("value") + sealed(data)))
        honest(peer)

    with Lying(script) as session:
        with pytest.raises(CodecError):
            _ = session["x"]
        assert session.run("x = 1").before == ""


# -- memory ---------------------------------------------------------------------------------------


def test_a_claim_alone_costs_no_memory() -> None:
    """A frame that says it is huge takes memory as its bytes come, not before."""
    inbox = Inbox()
    tracemalloc.start()
    for count in (0, 100_000, 5_000_000):
        inbox = Inbox()
        data = HEADER.pack(MAX_FRAME, Op.RESULT) + bytes(count)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        while data:
            assert inbox.take() is None
            room = inbox.buffer()
            size = min(len(room), len(data))
            room[:size] = data[:size]
            inbox.advance(size)
            data = data[size:]
        _, peak = tracemalloc.get_traced_memory()
        assert peak - before < 3_000_000 + 4 * count
    tracemalloc.stop()


@pytest.mark.parametrize(
    "bomb",
    [
        array(90_000, b"") * 1_000,
        b"\x91" * 500 + array(2_000_000, b"\x90" * 2_000_000),
        b"".join(array(9_000, b"\x90" * 8_999) for _ in range(200)),
        nested(Ext.TUPLE, 60, dumps(b"x" * 20_000_000)),
    ],
    ids=["claims", "items", "half-made lists", "copies of copies"],
)
def test_a_bomb_is_seen_before_it_is_built(bomb: bytes) -> None:
    """What the host decodes unasked is looked through first: no object is made of a bomb."""
    tracemalloc.start()
    with pytest.raises(CodecError):
        loads(bomb, guarded=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_the_largest_value_that_can_be_opened_is_bounded() -> None:
    """Whoever opens a value is told of more items than ten million, before they are made."""
    with pytest.raises(CodecError, match="10,000,000 items"):
        loads(array(10_000_001, b"\x90" * 10_000_001))
    with pytest.raises(CodecError, match="hand it on in pieces"):
        seal([[]] * 10_000_001)


def test_the_arguments_that_a_turn_keeps_are_bounded_as_objects() -> None:
    """A few bytes that are many objects count as what they take, not as what they are."""
    body = dumps(["take", [[[]] * 99_000], {}])
    turn = Turn(Limits(eval_ms=60_000))
    steps = turn.steps("x")
    next(steps)
    steps.send(None)
    calls = 0
    while isinstance(steps.send((Op.GATE, body)), CallGate):
        steps.send(None)
        steps.send(None)
        calls += 1
    assert calls * 8_000_000 < MAX_CALL_BYTES < calls * 9_000_000


def test_answers_that_are_kept_for_another_run_are_bounded() -> None:
    """A turn whose gates answer more than a record holds can't be run again; it goes on."""
    turn = Turn(Limits())
    steps = turn.steps("x")
    next(steps)
    steps.send(None)
    for _ in range(5):
        assert isinstance(steps.send((Op.GATE, dumps(["take", [], {}]))), CallGate)
        assert isinstance(steps.send("x" * (MAX_RECORD // 4)), Send)
        steps.send(None)
    assert turn.exchanges is None
    with pytest.raises(StopIteration) as over:
        steps.send((Op.RESULT, dumps(OK)))
    assert not played("x", turn.exchanges, turn.calls, over.value.value).playable


def test_output_in_small_pieces_takes_no_more_than_in_one() -> None:
    """Ten million characters are kept as characters, however many frames bring them."""
    turn = Turn(Limits(eval_ms=600_000))
    steps = turn.steps("x")
    next(steps)
    steps.send(None)
    tracemalloc.start()
    for _ in range(200_000):
        steps.send((Op.OUTPUT, "\u20ac".encode()))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert turn.stdout == "\u20ac" * 200_000
    assert size < 200_000 * 10


# -- a worker that is really jailed ---------------------------------------------------------------

TELL = """
import os, socket, struct
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, 3)
def tell(op, body=b"", length=None):
    wire.sendall(struct.pack("<IB", len(body) if length is None else length, op) + body)
"""


@pytest.fixture(scope="module")
def raw() -> Iterator[Sandbox]:
    """A jailed worker whose language wall is off, so that its program can write what it likes."""
    with (
        zygote_without("language") as zygote,
        # A parked copy would have its socket at another place than 3.
        SandboxOf(zygote, limits=Limits(eval_ms=3_000), checkpoints=0) as session,
    ):
        session.run(TELL)
        yield session


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("source", "status", "told"),
    [
        ("tell(99)", "crashed", "unknown opcode 99"),
        ("tell(19, length=1 << 31)", "crashed", "claims 2,147,483,648 bytes"),
        ("tell(19, b'\\xdd\\xff\\xff\\xff\\xff')", "crashed", "100,000 items"),
        ("tell(20, b'\\xc0')", "crashed", "a frame VALUE came"),
        ("tell(17, b'\\xff')", "crashed", "no text"),
        ("tell(19, b'\\xc1')\nwhile True: pass", "crashed", "no value begins"),
        ("tell(18, b'\\xd6\\xff\\0\\0\\0\\1')\nwire.recv(1)", "crashed", "no extension type"),
        ("tell(19, b'', length=200 << 20)\nwhile True: wire.send(b'x')", "timeout", "killed"),
        ("while True: tell(17)", "timeout", ""),
        ("os.close(3)", "crashed", "died"),
    ],
)
def test_a_jailed_program_that_speaks_for_its_worker_is_ended(
    raw: Sandbox, source: str, status: str, told: str
) -> None:
    """A program behind the kernel's wall alone can write frames; none of its lies is believed."""
    lied = raw.run(source)
    assert lied.status == status
    assert lied.error is not None
    assert told in lied.error.message
    assert raw.run("tell.__name__").value == "tell"


@pytest.mark.kernel
def test_a_jailed_program_can_not_answer_its_next_turn(raw: Sandbox) -> None:
    """A result that it sends ahead is not the next turn's: its worker is ended instead."""
    body = dumps({**OK, "bound": "a lie"})
    raw.run(f"tell(19, {body!r})")
    after = raw.run("1 + 1")
    if after.status == "crashed":  # what it really had to say came after the next turn had begun
        after = raw.run("1 + 1")
    assert (after.bound, after.value) == (None, 2)
