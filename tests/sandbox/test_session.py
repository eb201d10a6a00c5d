"""A session: what a turn gives, what lives on, and what its host is told."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from circlet.sandbox import ChildFailed, GateInterrupted, Limits, Sandbox, Truncated
from circlet.sandbox.dialogue import Done
from circlet.sandbox.errors import CodecError, NoSuchVariable, SandboxClosed, SandboxError
from circlet.sandbox.portable import PortableWorker
from circlet.sandbox.wire import Described

NewBox = Callable[..., Sandbox]


# -- what a turn gives -----------------------------------------------------------------------


def test_a_turn_gives_value_output_and_status(box: Sandbox) -> None:
    """A turn's value is its last expression's; what it printed stands beside it."""
    run = box.run("x = 1\nprint('hi')\nx + 1")
    assert (run.status, run.value, run.stdout, run.error) == ("ok", 2, "hi\n", None)
    assert (run.state, run.gate_calls) == ("kept", ())
    assert run.duration_ms > 0
    assert str(run) == "hi\n2"


@pytest.mark.parametrize(
    "value",
    [1, True, None, 1.5, "a\ud800", b"\0", (1, (2,)), {1: {2: 3}}, {1, 2}, 10**30, Decimal("1.10")],
)
def test_types_are_kept_on_every_way(box: Sandbox, value: Any) -> None:
    """CIRCLE-8: in as a variable, through a gate, out as a value, a variable and an answer."""
    box["given"] = value
    run = box.run("passed = echo(given)\npassed")
    got = [run.value, box["passed"], box.run("done(passed)").answer, *run.gate_calls[0].args]
    got.append(run.gate_calls[0].result)
    assert [(type(one), one) for one in got] == [(type(value), value)] * 5


def test_the_last_value_is_shown_once_and_made_once(box: Sandbox) -> None:
    """Case 16: the last expression is evaluated once and shown; silence is said in words."""
    source = "count = []\ndef f():\n    count.append(1)\n    return 'x=1' + ' for diffs'\nf()"
    assert str(box.run(source)) == "'x=1 for diffs'"
    assert box["count"] == [1]
    for silent in ("answer = 1", "None", "", "# nothing"):
        run = box.run(silent)
        assert run.value is None
        assert "without error" in str(run)


def test_state_lives_on_and_names_bound_before_an_error_stay(box: Sandbox) -> None:
    """MEDIUM-3: what a turn bound is there in the next one, also where the turn then raised."""
    assert box.run("before = 'kept'\n1 / 0\nafter = 1").status == "error"
    assert box.run("before").value == "kept"
    assert box.run("after").status == "error"


def test_an_error_shows_the_programs_own_lines_only(box: Sandbox) -> None:
    """Case 26: output, class, the program's line with its number, and no frame of the host."""
    run = box.run("def mean(xs):\n    return sum(xs) / len(xs)\nprint('loaded')\nmean([])")
    assert run.error is not None
    assert (run.error.type, run.error.line) == ("ZeroDivisionError", 2)
    text = str(run)
    for wanted in ("loaded", "line 2, in mean", "return sum(xs) / len(xs)", "ZeroDivisionError"):
        assert wanted in text
    assert "/" not in text.replace("sum(xs) / len(xs)", "")


def test_an_error_in_an_earlier_turns_function_shows_its_line(box: Sandbox) -> None:
    """A traceback reads lines of the turn that they were written in."""
    box.run("def earlier():\n    raise LookupError('from before')")
    run = box.run("earlier()")
    assert "raise LookupError('from before')" in str(run)


def test_a_syntax_error_runs_nothing_and_leaks_nothing(box: Sandbox) -> None:
    """Case 17: line and caret of this turn; nothing of the last one's output."""
    box.run("print('from turn one')")
    run = box.run("ran = 1\nprint('from turn two'")
    assert run.error is not None
    assert (run.error.type, run.error.line, run.stdout) == ("SyntaxError", 2, "")
    assert "^" in str(run)
    assert "from turn one" not in str(run)
    assert box.run("ran").status == "error"


@pytest.mark.parametrize(
    "source", ["x = '\ud800'", "x = 1\0", "(" * 500 + ")" * 500, "x = " + "-" * 100_000 + "1"]
)
def test_a_source_that_python_cannot_read_costs_one_turn(box: Sandbox, source: str) -> None:
    """Text that is none, or nests too deep, is an error observation; the session lives."""
    assert box.run(source).status == "error"
    assert box.run("1").value == 1


def test_errors_whose_own_code_misbehaves_are_still_told(box: Sandbox) -> None:
    """An error whose text raises, or is huge, has its class and line and a bounded text."""
    run = box.run("class Bad(Exception):\n    def __str__(self): return 1 / 0\nraise Bad()")
    assert run.error is not None
    assert (run.error.type, run.error.line) == ("Bad", 3)
    assert "raise Bad()" in run.error.traceback
    run = box.run("raise ValueError('x' * 5_000_000)")
    assert run.error is not None
    assert len(run.error.message) <= box.limits.output_chars
    assert len(str(run)) <= box.limits.output_chars


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt", "GeneratorExit"])
def test_exits_are_errors_of_the_turn(box: Sandbox, error: str) -> None:
    """A program that raises what would end an interpreter ends its turn only."""
    run = box.run(f"raise {error}")
    assert run.status == "error"
    assert run.error is not None
    assert run.error.type in error
    assert run.state == "kept"


def test_values_that_cannot_be_shown_or_sent_say_so(box: Sandbox) -> None:
    """A value with a failing or endless repr costs a bounded time and an honest text."""
    run = box.run("class R:\n    def __repr__(self): return 1 / 0\nR()")
    assert (run.status, run.value) == (
        "ok",
        Described("R", "<R: its repr raised ZeroDivisionError>"),
    )
    run = box.run("class L:\n    def __repr__(self):\n        while True: pass\nL()")
    assert run.status == "ok"
    assert "took too long" in str(run)
    run = box.run("a = []\na.append(a)\na")
    assert run.shown == "[...]"
    with pytest.raises(CodecError, match="holds itself"):
        _ = run.value
    assert "0x" not in str(box.run("lambda: 1"))


def test_encoding_a_value_has_time_of_its_own(box: Sandbox) -> None:
    """A value that is shown at once and takes long to encode crosses nevertheless."""
    slow = "class S:\n    def __repr__(self):\n        sum(range(200_000))\n        return 's'"
    run = box.run(f"{slow}\n[0] * 50_000 + [S() for _ in range(200)]")
    assert len(run.value) == 50_200
    assert run.shown is not None
    assert "left out" in run.shown or "more" in run.shown


def test_a_huge_value_is_previewed(box: Sandbox) -> None:
    """A value is shown in a bounded text, and its whole is there for who asks."""
    run = box.run("list(range(200_000))")
    assert len(str(run)) < box.limits.output_chars + 100
    assert "more" in str(run)
    assert len(run.value) == 200_000


# -- output ----------------------------------------------------------------------------------


def test_long_output_keeps_head_and_tail(box: Sandbox) -> None:
    """Case 14: shown within the limit, with head, tail, the error and the exact count."""
    run = box.run(
        "for i in range(50_000):\n    print(f'row {i:05d}')\nraise KeyError('the last line')"
    )
    text = str(run)
    assert len(text) <= box.limits.output_chars
    for wanted in ("row 00000", "row 49999", "KeyError: 'the last line'", "line 3"):
        assert wanted in text
    head, _, rest = text.partition("\n[... ")
    count, _, tail = rest.partition(" characters left out ...]\n")
    assert run.error is not None
    whole = run.stdout + run.error.traceback
    assert len(run.stdout) == 50_000 * 10
    assert int(count.replace(",", "")) == len(whole) - len(head) - len(tail)
    assert whole.startswith(head)
    assert whole.endswith(tail)


def test_endless_output_is_cut_in_the_middle(box: Sandbox) -> None:
    """Past ten million characters a turn's output is head, exact count and tail."""
    run = box.run("print('first')\nfor i in range(130):\n    print('é' * 100_000)\nprint('last')")
    assert run.status == "ok"
    head, _, rest = run.stdout.partition("\n[... ")
    count, _, tail = rest.partition(" characters left out ...]\n")
    assert head.startswith("first\n")
    assert tail.endswith("é\nlast\n")
    whole = 6 + 130 * 100_001 + 5
    assert len(head) + len(tail) + int(count.replace(",", "")) == whole
    assert len(run.stdout) < 10_000_100


def test_print_is_pythons(box: Sandbox) -> None:
    """``print`` takes what Python's takes; lone surrogates survive, addresses don't show."""
    run = box.run(
        "class W:\n    def __init__(s): s.got = []\n    def write(s, t): s.got.append(t)\n"
        "w = W()\nprint('a', 1, sep='-', end='!', flush=True)\nprint('to w', file=w)\n"
        "print('\\ud800', object())\nw.got"
    )
    assert run.stdout == "a-1!\ud800 <object object>\n"
    assert run.value == ["to w", "\n"]


# -- gates and done --------------------------------------------------------------------------


def test_gate_calls_are_recorded_in_order(box: Sandbox) -> None:
    """CIRCLE-7: each call is one entry, with arguments, result or error, in order."""
    run = box.run(
        "echo(1)\ntry:\n    fail('ValueError', text='bad')\nexcept ValueError as e:\n    print(e)\n"
        "echo(value=(2,))"
    )
    calls = [(call.gate, call.args, call.kwargs, call.result) for call in run.gate_calls]
    assert calls == [
        ("echo", (1,), {}, 1),
        ("fail", ("ValueError",), {"text": "bad"}, None),
        ("echo", (), {"value": (2,)}, (2,)),
    ]
    assert run.gate_calls[1].error == "ValueError: bad"
    assert all(call.duration_ms >= 0 for call in run.gate_calls)
    assert run.stdout == "bad\n"


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        ("KeyError", "KeyError"),
        ("FileNotFoundError", "FileNotFoundError"),
        ("Sub", "ValueError"),
        ("Unheard", "GateError"),
    ],
)
def test_a_failing_gate_is_an_error_of_a_class_the_program_knows(
    box: Sandbox, raised: str, seen: str
) -> None:
    """CIRCLE-5: a gate's error is raised in the program, as the nearest builtin class."""
    run = box.run(f"fail('{raised}', 'what went wrong')")
    assert run.status == "error"
    assert run.error is not None
    assert run.error.type == seen
    assert "what went wrong" in run.error.message
    assert "circlet" not in str(run)


def test_wrong_arguments_and_values_that_cannot_cross(box: Sandbox) -> None:
    """A call with wrong arguments, or one too deep, is an error where it was made."""
    run = box.run("echo(1, 2, 3)")
    assert run.error is not None
    assert run.error.type == "TypeError"
    run = box.run("a = []\na.append(a)\necho(a)")
    assert run.error is not None
    assert (run.error.type, run.gate_calls) == ("ValueError", ())
    assert "holds itself" in run.error.message
    assert box.run("echo('still here')").value == "still here"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("[0] * 100_001", "100,000 items"),
        ("[[0] * 1_000] * 101", "100,000 items"),
        ("{i: i for i in range(1_001)}", "not strings"),
        ("'x' * (17 << 20)", "16,777,216"),
        ("b'x' * (17 << 20)", "16,777,216"),
    ],
)
def test_arguments_that_are_too_large_are_an_error_to_the_program(
    box: Sandbox, arguments: str, word: str
) -> None:
    """What the host would not decode unasked is refused in the program; the state is kept."""
    run = box.run(f"echo({arguments})")
    assert (run.status, run.state) == ("error", "kept")
    assert run.error is not None
    assert word in run.error.message
    assert "hand it on in pieces" in run.error.message


def test_large_arguments_that_are_honest_pass(box: Sandbox) -> None:
    """Fifty thousand strings go to a gate, and an answer of any size to ``done``."""
    assert box.run("len(echo(['a' * 10] * 50_000))").value == 50_000
    assert len(box.run("done([0] * 200_000)").answer) == 200_000


def test_a_gate_is_shown_by_its_signature(box: Sandbox) -> None:
    """CIRCLE-11: a gate is an object without an inside; its repr is its signature."""
    assert box.run("[repr(echo), repr(done)]").value == [
        "<gate echo(value=None)>",
        "<gate done(answer)>",
    ]


def test_outcomes_cross_by_type(backend: Any) -> None:
    """COMP-8: a truncated child is a value, a failed one an exception; both told by type."""
    outcomes = {
        "cut": lambda: Truncated("max_turns", [1], "did a bit"),
        "broken": lambda: (_ for _ in ()).throw(ChildFailed("error", "its model failed", "e1")),
        "batch": lambda: [ChildFailed("error", "no", "e2"), 3],
        "lost": lambda: (_ for _ in ()).throw(GateInterrupted("interrupted", "may have run")),
    }
    with Sandbox(gates=outcomes, backend=backend) as session:
        run = session.run(
            "t = cut()\nb = batch()\ntry:\n    broken()\nexcept ChildFailed as e:\n    f = e\n"
            "try:\n    lost()\nexcept GateInterrupted as e:\n    g = e\n"
            "(isinstance(t, Truncated), t.reason, t.partial, isinstance(b[0], ChildFailed), "
            "b[1], f.message, f.entity_id, g.reason, f)"
        )
        assert run.value == (
            *(True, "max_turns", [1], True, 3, "its model failed", "e1", "interrupted"),
            ChildFailed("error", "its model failed", "e1"),
        )


def test_done_ends_the_turn_whatever_surrounds_it(box: Sandbox) -> None:
    """Case 19, LOOP-3: no handler keeps ``done`` from ending; only ``finally`` runs on."""
    run = box.run(
        "log = []\ndef finish(v):\n    try:\n        done(v)\n    except Exception:\n"
        "        log.append('stolen')\n    except:\n        log.append('bare')\n        raise\n"
        "    finally:\n        log.append('finally')\n"
        "say = '''done(\"from a string\")'''  # done(1)\n"
        "finish({'text': 'line one\\n(two)', 'say': say})\nlog.append('after')"
    )
    assert run.status == "done"
    assert run.answer == {"text": "line one\n(two)", "say": 'done("from a string")'}
    assert box.run("log").value == ["finally"]


def test_nothing_cancels_done(box: Sandbox) -> None:
    """A program that catches everything is ended all the same, and calls no gate any more."""
    run = box.run(
        "calls = []\nwhile True:\n    try:\n        done(1)\n    except BaseException:\n"
        "        try:\n            calls.append(echo('late'))\n"
        "        except BaseException:\n            pass"
    )
    assert (run.status, run.answer) == ("done", 1)
    assert [call.gate for call in run.gate_calls] == ["done"]
    assert box.run("calls").value == []


@pytest.mark.parametrize("answer", ["None", "42", "(1, {2})", "[]"])
def test_done_keeps_the_answers_type(box: Sandbox, answer: str) -> None:
    """CIRCLE-8: 42 stays an int; None is an answer too."""
    run = box.run(f"done({answer})")
    assert run.status == "done"
    assert repr(run.answer) == answer
    assert str(run).startswith("done: ")


def test_a_malformed_done_is_an_error(box: Sandbox) -> None:
    """LOOP-7, case 20: without its argument ``done`` is an error, and the session goes on."""
    run = box.run("done()")
    assert run.status == "error"
    assert run.error is not None
    assert "missing required" in run.error.message
    for source in ("done(1, 2)", "done(wrong=1)", "done(undefined_thing)"):
        assert box.run(source).status == "error"
    run = box.run("done(answer=None)")
    assert (run.status, run.answer) == ("done", None)


def test_any_gate_may_end_the_work(backend: Any) -> None:
    """A gate that returns ``Done`` ends the program's work, whatever its name."""
    with Sandbox(gates={"finish": lambda x: Done(x + 1)}, backend=backend) as session:
        run = session.run("finish(1)\nprint('never')")
        assert (run.status, run.answer, run.stdout) == ("done", 2, "")


# -- variables -------------------------------------------------------------------------------


def test_variables_go_in_and_out(box: Sandbox) -> None:
    """A host's variable is the program's, and the program's can be read."""
    box["data"] = {"a": (1, 2)}
    box.run("data['a'] += (3,)")
    assert box["data"] == {"a": (1, 2, 3)}
    for name in ("nope", "not a name", "__builtins__", "x" * 2000):
        with pytest.raises(NoSuchVariable):
            box[name]
    with pytest.raises(KeyError):
        box["nope"]


def test_variables_that_cannot_be_are_refused(box: Sandbox) -> None:
    """A gate's name, a special one, a keyword, no name at all: refused, as a cyclic value is."""
    for name in ("echo", "done", "__name__", "a b", "", "class"):
        with pytest.raises(NoSuchVariable):
            box[name] = 1
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(CodecError):
        box["cycle"] = cycle
    box.run("loop = []\nloop.append(loop)")
    with pytest.raises(CodecError, match="loop"):
        box["loop"]
    assert box.run("1").value == 1


def test_ten_megabytes_go_in_and_out(box: Sandbox) -> None:
    """Large values cross whole, in frames of their own size."""
    box["big"] = "é" * 5_000_000
    assert box.run("len(big)").value == 5_000_000
    assert box["big"] == "é" * 5_000_000
    assert box.run("echo(big) == big").value is True


# -- sessions --------------------------------------------------------------------------------


def test_sessions_share_nothing(new_box: NewBox) -> None:
    """COMP-4: one session's names, modules' state and output are not another's."""
    one, two = new_box(), new_box()
    one.run("import random\nsecret = 1\nrandom.seed(5)\nprint('one')")
    run = two.run("'secret' in globals()")
    assert (run.value, run.stdout) == (False, "")
    one["x"], two["x"] = 1, 2
    assert (one.run("x").value, two.run("x").value) == (1, 2)


def test_random_numbers_differ_between_sessions(new_box: NewBox) -> None:
    """Workers that were forked from one process don't share its random state."""
    draws = {new_box().run("import random\nrandom.random()").value for _ in range(2)}
    assert len(draws) == 2


def test_sessions_run_at_the_same_time(backend: Any) -> None:
    """Turns of different sessions overlap: each waits in a gate until all have come."""
    meeting = threading.Barrier(3, timeout=30)
    boxes = [Sandbox(gates={"meet": lambda: meeting.wait() >= 0}, backend=backend) for _ in "abc"]
    try:
        with ThreadPoolExecutor(3) as pool:
            runs = list(pool.map(lambda one: one.run("meet()"), boxes))
        assert [run.value for run in runs] == [True] * 3
    finally:
        for one in boxes:
            one.close()


def test_a_busy_session_says_so(backend: Any) -> None:
    """A turn inside a turn of the same session is refused, and harms neither."""
    inner: list[Exception] = []

    def again() -> None:
        for use in (lambda: session.run("1"), lambda: session["x"]):
            with pytest.raises(SandboxError, match="in the middle of a turn") as caught:
                use()
            inner.append(caught.value)

    with Sandbox(gates={"again": again}, backend=backend) as session:
        assert session.run("again()\n'outer'").value == "outer"
    assert len(inner) == 2


def test_a_closed_session_says_so(new_box: NewBox) -> None:
    """After ``close`` every use is one clear error; closing again is nothing."""
    session = new_box()
    session.close()
    session.close()
    for use in (
        lambda: session.run("1"),
        lambda: session["x"],
        lambda: session.__setitem__("x", 1),
    ):
        with pytest.raises(SandboxClosed, match="this session is closed"):
            use()
    assert session.pid is None


def test_an_interrupt_in_a_gate_reaches_the_host(backend: Any) -> None:
    """Ctrl-C in a gate leaves the turn at once; the session goes on from the turn before."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    with Sandbox(gates={"interrupted": interrupted}, backend=backend) as session:
        session["given"] = 1
        session.run("own = 2")
        with pytest.raises(KeyboardInterrupt):
            session.run("interrupted()")
        run = session.run("given, own")
        assert run.value == (1, 2)
        assert "rolled back to the end of turn 1: what turn 2 changed is undone" in run.before


def test_a_forked_child_cannot_use_its_parents_session(new_box: NewBox) -> None:
    """A session belongs to one process: in a forked child it is closed, and stays whole here."""
    session = new_box()
    session.run("x = 'mine'")
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            session.run("x = 'stolen'")
            os.write(write, b"ran")
        except SandboxClosed as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert "belongs to the process" in answer.read()
    os.waitpid(child, 0)
    assert session.run("x").value == "mine"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"backend": "docker"}, "backend must be"),
        ({"gates": {"_x": print}}, "can't be named '_x'"),
        ({"gates": {"a b": print}}, "can't be named 'a b'"),
        ({"modules": ("socket",)}, "no module 'socket'"),
    ],
)
def test_settings_that_cannot_be_are_named(arguments: Any, word: str) -> None:
    """A back end, a gate's name or a module that can't be had is one clear line."""
    with pytest.raises(ValueError, match=word):
        Sandbox(**arguments)


def test_an_async_gate_needs_an_async_session() -> None:
    """A blocking session says at once that it can't await a gate."""

    async def later() -> None: ...

    class Later:
        async def __call__(self) -> None: ...

    for gate in (later, Later()):
        with pytest.raises(ValueError, match="'later' is async; AsyncSandbox takes such gates"):
            Sandbox(gates={"later": gate})


def test_a_gate_that_turns_out_to_be_async_is_an_error(backend: Any) -> None:
    """A plain function that gives a coroutine fails in words, and the coroutine is closed."""

    async def later() -> None: ...

    with Sandbox(gates={"later": lambda: later()}, backend=backend) as session:
        run = session.run("later()")
    assert run.error is not None
    assert "'later' is async; AsyncSandbox takes such gates" in run.error.message


def test_a_keyword_is_no_name() -> None:
    """No program can write a gate or a variable whose name is a keyword."""
    with pytest.raises(ValueError, match="'class'"):
        Sandbox(gates={"class": len})


def test_a_portable_worker_that_is_dropped_is_ended() -> None:
    """A worker that nobody holds, or that never greeted, leaves no process behind."""
    dropped, dead = PortableWorker(), PortableWorker()
    pids = [dropped.pid, dead.pid]
    del dropped
    os.kill(dead.pid, signal.SIGKILL)
    with pytest.raises(SandboxClosed):
        dead.greet()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("field", ["eval_ms", "memory_mb", "output_chars"])
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "1", None, 10**12])
def test_limits_are_whole_numbers_of_their_range(field: str, bad: Any) -> None:
    """A limit out of range is named with what it may be."""
    with pytest.raises(ValueError, match=f"{field} must be a whole number"):
        Limits(**{field: bad})


def test_modules_narrow_what_can_be_imported(backend: Any) -> None:
    """The ``modules`` of a session are all that its program can import."""
    with Sandbox(modules=("re", "json"), backend=backend) as session:
        assert session.run("import re, json").status == "ok"
        run = session.run("import math")
        assert run.error is not None
        assert run.error.message.endswith("you can import: json, re")


def test_a_source_that_is_no_text_is_refused(box: Sandbox) -> None:
    """What is not a str is the caller's mistake, and costs the session nothing."""
    box.run("kept = 1")
    with pytest.raises(TypeError, match="source must be a str, not bytes"):
        box.run(b"1")  # type: ignore[arg-type]
    assert box.run("kept").value == 1
