"""The host's side of the talk, driven by hand: no field of a worker's frame is trusted."""

from types import SimpleNamespace
from typing import Any

import pytest
from circlet.sandbox import Limits
from circlet.sandbox.codec import MAX_ITEMS, MAX_LOOSE_KEYS, MAX_UNASKED
from circlet.sandbox.dialogue import (
    MAX_CALL_BYTES,
    MAX_CALLS,
    CallGate,
    Done,
    Receive,
    Send,
    Turn,
)
from circlet.sandbox.errors import ProtocolError
from circlet.sandbox.limits import MAX_TURN_OUTPUT
from circlet.sandbox.reads import CHANCE, MAX_READS, NUMBER_BYTES
from circlet.sandbox.variables import getting
from circlet.sandbox.wire import HEADER, Described, Op, Sealed, dumps, loads

OK = {"status": "ok", "omitted": 0}


class Talk:
    """A turn whose worker is the test."""

    def __init__(self, **limits: Any) -> None:
        self.turn = Turn(Limits(**limits))
        self.steps = self.turn.steps("source")
        assert isinstance(next(self.steps), Send)
        self.step: Any = self.steps.send(None)

    def frame(self, op: Op, body: bytes = b"") -> Any:
        """Answer the host's wait with a frame; gives what it wants next."""
        assert isinstance(self.step, Receive)
        self.step = self.steps.send((op, body))
        return self.step

    def call(self, answer: Any = None) -> Any:
        """Call a gate that answers; gives what the program is told."""
        step = self.frame(Op.GATE, dumps(["g", [], {}]))
        if isinstance(step, CallGate):
            step = self.steps.send(answer)
        assert isinstance(step, Send)
        self.step = self.steps.send(None)
        return loads(step.data[HEADER.size :])


@pytest.mark.parametrize(
    ("op", "body"),
    [
        (Op.HELLO, b""),
        (Op.VALUE, dumps(["value", 1])),
        (Op.OUTPUT, b"\xff\xfe"),
        (Op.OUTPUT, "\ud800".encode("utf-8", "surrogatepass")),
        (Op.ESCAPED, b"\\x"),
        (Op.OUTPUT, b"x" * (MAX_TURN_OUTPUT + 1)),
        (Op.GATE, b"\xc1"),
        (Op.GATE, dumps("g")),
        (Op.GATE, dumps([1, [], {}])),
        (Op.GATE, dumps(["g", [], {1: 2}])),
        (Op.GATE, dumps(["g", [{n: n for n in range(MAX_LOOSE_KEYS + 1)}], {}])),
        (Op.GATE, dumps(["g", [[[]] * (MAX_ITEMS // 2)] * 3, {}])),
        (Op.GATE, dumps(["g", [tuple([()] * (MAX_ITEMS // 2))] * 3, {}])),
        (Op.GATE, dumps(["g", [b"x" * MAX_UNASKED], {}])),
        (Op.READS, b"\xc1"),
        (Op.READS, dumps([])),
        (Op.READS, dumps({})),
        (Op.READS, dumps({"time": 1.0})),
        (Op.READS, dumps({"time": b""})),
        (Op.READS, dumps({"time": b"1234567"})),
        (Op.READS, dumps({"monotonic": b"\xff" * NUMBER_BYTES})),
        (Op.READS, dumps({"time_of_day": b"12345678"})),
        (Op.READS, dumps({CHANCE: b"x" * (MAX_READS + 1)})),
        (Op.READS, dumps({CHANCE: b"x", "more": b"x" * MAX_UNASKED})),
        (Op.RESULT, b""),
        (Op.RESULT, dumps([])),
        (Op.RESULT, dumps({})),
        (Op.RESULT, dumps({**OK, "status": "crashed"})),
        (Op.RESULT, dumps({**OK, "status": "error"})),
        (Op.RESULT, dumps({**OK, "status": "done"})),
        (Op.RESULT, dumps({**OK, "value": 1})),
        (Op.RESULT, dumps({**OK, "shown": 1})),
        (Op.RESULT, dumps({**OK, "shown": "x" * (MAX_TURN_OUTPUT + 1)})),
        (Op.RESULT, dumps({**OK, "omitted": -1})),
        (Op.RESULT, dumps({**OK, "omitted": "1"})),
        (Op.RESULT, dumps({**OK, "omitted": 10**5_000})),
        (Op.RESULT, dumps({**OK, "unsealed": 1})),
        (Op.RESULT, dumps({**OK, "bound": 1})),
        (Op.RESULT, dumps({**OK, "status": [1]})),
        (
            Op.RESULT,
            dumps(
                {
                    **OK,
                    "status": "error",
                    "error": {"type": "E", "message": "", "line": "1", "traceback": ""},
                }
            ),
        ),
        (
            Op.RESULT,
            dumps(
                {
                    **OK,
                    "status": "error",
                    "error": {"type": "E", "message": "", "line": 1 << 60, "traceback": ""},
                }
            ),
        ),
    ],
)
def test_a_frame_that_breaks_the_protocol_is_refused(op: Op, body: bytes) -> None:
    """A frame out of place, or with a field of the wrong type or size, ends the talk."""
    with pytest.raises(ProtocolError):
        Talk().frame(op, body)


def test_reads_that_are_more_than_a_turn_may_have_end_the_talk() -> None:
    """However small the frames are that they come in: an honest worker says that it is more."""
    talk = Talk()
    for _ in range(16):
        talk.frame(Op.READS, dumps({CHANCE: b"x" * (MAX_READS // 16)}))
    with pytest.raises(ProtocolError, match="more reads"):
        talk.frame(Op.READS, dumps({CHANCE: b"x"}))


def test_an_empty_frame_says_that_a_turn_has_read_too_much() -> None:
    """The turn goes on, and is not one to repeat."""
    talk = Talk()
    talk.frame(Op.READS, dumps({CHANCE: b"x"}))
    talk.frame(Op.READS)
    with pytest.raises(StopIteration) as stop:
        talk.frame(Op.RESULT, dumps(OK))
    assert stop.value.value.status == "ok"
    assert not stop.value.value.repeatable


def test_a_well_formed_result_is_a_turn() -> None:
    """The smallest honest result gives an execution."""
    talk = Talk()
    talk.frame(Op.OUTPUT, b"printed")
    with pytest.raises(StopIteration) as stop:
        talk.frame(Op.RESULT, dumps(OK))
    run = stop.value.value
    assert (run.status, run.stdout, run.value, run.answer) == ("ok", "printed", None, None)


def test_only_a_gate_ends_the_work() -> None:
    """The answer is what the host accepted, never what a worker claims."""
    talk = Talk()
    assert talk.call(Done((1, 2))) == ["done", None]
    with pytest.raises(StopIteration) as stop:
        talk.frame(Op.RESULT, dumps({**OK, "answer": 3}))
    assert (stop.value.value.status, stop.value.value.answer) == ("done", (1, 2))


def test_no_gate_is_called_after_the_work_has_been_ended() -> None:
    """LOOP-3: a worker that goes on calling gates after ``done`` is given up; the answer stays."""
    talk = Talk()
    talk.call(Done(1))
    with pytest.raises(ProtocolError) as caught:
        talk.call()
    run = talk.turn.given_up(caught.value)
    assert (run.status, run.answer, run.state, len(run.gate_calls)) == ("done", 1, "lost", 1)


def test_frames_that_never_stop_make_no_time() -> None:
    """A worker that keeps sending is cut off as one that is silent is."""
    talk = Talk(eval_ms=1)

    def flood() -> None:
        while True:
            talk.frame(Op.OUTPUT, b"")

    with pytest.raises(TimeoutError):
        flood()


def test_what_the_host_itself_takes_counts_and_a_gates_time_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time counts on the clock, whoever it goes to, but for what a gate takes."""
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr("circlet.sandbox.dialogue.time", clock)
    talk = Talk(eval_ms=1_000)
    step = talk.frame(Op.GATE, dumps(["g", [], {}]))
    assert isinstance(step, CallGate)
    clock.now += 3_600
    talk.steps.send(None)
    talk.step = talk.steps.send(None)
    assert 2 < talk.step.seconds < 2.2
    talk.frame(Op.GATE, dumps(["g", [], {}]))
    talk.steps.send(None)
    clock.now += 3  # the reply is on its way
    with pytest.raises(TimeoutError):
        talk.steps.send(None)


def test_results_that_are_kept_are_bounded_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound the program still has the whole answer, and the record a preview."""
    monkeypatch.setattr("circlet.sandbox.dialogue.MAX_CALL_BYTES", 10_000)
    talk = Talk()
    for _ in range(3):
        assert talk.call("x" * 4_000) == ["value", "x" * 4_000]
    with pytest.raises(StopIteration) as stop:
        talk.frame(Op.RESULT, dumps(OK))
    kept = [call.result for call in stop.value.value.gate_calls]
    assert kept[:2] == ["x" * 4_000] * 2
    assert isinstance(kept[2], Described)
    assert len(kept[2].text) < 300


def test_calls_of_one_turn_are_bounded_in_number() -> None:
    """Past the bound a call is an error to the program, and no gate is called."""
    talk = Talk(eval_ms=60_000)
    for _ in range(MAX_CALLS):
        talk.call()
    kind, [name, text] = talk.call("not called")
    assert (kind, name) == ("error", "RuntimeError")
    assert f"{MAX_CALLS:,} times" in text
    assert isinstance(talk.step, Receive)


def test_calls_of_one_turn_are_bounded_in_size() -> None:
    """What a turn's calls may hand to gates is bounded in sum."""
    talk = Talk()
    body = dumps(["g", [Sealed(b"x" * (MAX_CALL_BYTES // 4), "")], {}])
    for _ in range(3):
        assert isinstance(talk.frame(Op.GATE, body), CallGate)
        talk.steps.send(None)
        talk.step = talk.steps.send(None)
    assert isinstance(talk.frame(Op.GATE, body), Send)


@pytest.mark.parametrize(
    ("op", "body"),
    [(Op.RESULT, dumps(OK)), (Op.VALUE, b"\xc1"), (Op.VALUE, dumps(["value", 1])), (Op.VALUE, b"")],
)
def test_an_answer_that_breaks_the_protocol_is_refused(op: Op, body: bytes) -> None:
    """A variable's value comes sealed in its own frame, or the worker is given up."""
    steps = getting("x")
    next(steps)
    steps.send(None)
    with pytest.raises(ProtocolError):
        steps.send((op, body))
