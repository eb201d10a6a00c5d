"""What a program reads of clocks and chance is recorded, and given back where a turn runs again."""

import os
import re
import signal
import time
from contextlib import suppress
from typing import Any

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Execution, Limits, Sandbox
from circlet.sandbox.dialogue import Turn
from circlet.sandbox.errors import CodecError
from circlet.sandbox.facades.names import PUBLIC
from circlet.sandbox.reads import CHANCE, CLOCKS, MAX_READS, joined, packed, reads_of
from circlet.sandbox.wire import dumps
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

MODULES = sorted(set(PUBLIC) - {"__future__"})
WALK = f"""
import {", ".join(MODULES)}
def made_by(call):
    try:
        return call()
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        return error
shown = {{}}
for module in [{", ".join(MODULES)}]:
    for name in dir(module):
        what = getattr(module, name)
        if not callable(what):
            continue
        made = made_by(what)
        shown[f"{{module}}.{{name}}()"] = repr(made)
        for place, owner in (("", what), ("()", made)):
            for method in dir(owner):
                found = made_by(lambda: getattr(owner, method))
                if callable(found):
                    shown[f"{{module}}.{{name}}{{place}}.{{method}}()"] = repr(made_by(found))
shown
"""
"""Calls all that can be called without an argument: names of modules, methods of classes, and
methods of what the names give."""
SOME = """
import asyncio, datetime, gzip, logging, os, random, secrets, time, uuid
random.seed()
async def order():
    done = []
    async def one(n):
        await asyncio.sleep(n / 10_000)
        done.append(n)
    await asyncio.gather(*[one(n) for n in (3, 1, 2)])
    return done, asyncio.get_running_loop().time()
for text in (
    time.time(), time.time_ns(), time.perf_counter(), time.strftime("%c"), time.ctime(),
    time.clock_gettime(time.CLOCK_MONOTONIC), time.clock_gettime_ns(time.CLOCK_REALTIME),
    datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.date.today(),
    uuid.uuid1(), uuid.uuid4(), secrets.token_hex(), secrets.randbelow(10**9), os.urandom(5),
    random.random(), random.Random().random(), random.SystemRandom().choice(range(10**9)),
    gzip.compress(b"text"), logging.makeLogRecord({}).created, asyncio.run(order()),
):
    print(text)
"""
SETTLED = Limits(eval_ms=20_000)


def new(backend: Any, **settings: Any) -> Sandbox:
    return Sandbox(backend=backend, limits=SETTLED, seed=1, **settings)


def walked(execution: Execution) -> dict[str, str]:
    assert execution.status == "ok", str(execution)
    shown: dict[str, str] = execution.value
    return {name: re.sub("0x[0-9a-f]+", "0x", text) for name, text in shown.items()}


def reads(**numbers: list[float]) -> bytes:
    return dumps({clock: packed(clock, numbers[clock]) for clock in sorted(numbers)})


# -- every place -----------------------------------------------------------------------------


def test_every_name_of_every_facade_reads_the_same_again(backend: Any) -> None:
    """With its reads given back, no name that can be called shows something else than before."""
    with new(backend) as one, new(backend) as two:
        first = one.run(WALK)
        again = two.run(WALK, reads=first.reads)
    before, now = walked(first), walked(again)
    assert len(before) > 5_000
    assert [name for name in before if before[name] != now.get(name)] == []
    assert again.reads == first.reads
    assert again.repeatable
    assert not again.reads_differ


def test_no_name_of_any_facade_tells_the_date_itself(backend: Any) -> None:
    """Where the time that is given back is of 2001, nothing shows the present year."""
    then = [1e9] * 1_000
    with new(backend) as box:
        shown = walked(box.run(WALK, reads=reads(time=then, time_ns=[int(1e18)] * 1_000)))
    year = re.compile(rf"\b{time.localtime().tm_year}\b")
    assert [name for name, text in shown.items() if year.search(text)] == []
    assert "2001" in shown["<module 'datetime'>.date.today()"]


def test_what_is_read_with_arguments_or_by_others_is_read_the_same_again(backend: Any) -> None:
    """So are formats of now, generators without a seed, what has the time in it, and timers."""
    with new(backend) as one, new(backend) as two, new(backend) as three:
        first = one.run(SOME)
        again = two.run(SOME, reads=first.reads)
        other = three.run(SOME)
    assert first.status == "ok"
    assert again.stdout == first.stdout
    assert again.reads == first.reads
    lines = zip(first.stdout.splitlines(), other.stdout.splitlines(), strict=True)
    assert sum(one != two for one, two in lines) >= 17  # but for what shows whole seconds


def test_numbers_that_follow_from_the_seed_are_not_recorded(backend: Any) -> None:
    """A session's seed gives them back by itself."""
    with new(backend) as box:
        ran = box.run(
            "import random, time\nrandom.random(), random.Random(3).random(), time.gmtime(0)"
        )
    assert ran.reads is None


def test_dates_are_the_same_classes_as_ever(box: Sandbox) -> None:
    """What tells the time is of Python's own classes, or of the subclass that was asked."""
    ran = box.run(
        "import datetime, time\n"
        "class Day(datetime.datetime):\n    pass\n"
        "now = datetime.datetime.now()\n"
        "zoned = datetime.datetime.now(datetime.timezone.utc)\n"
        "[type(now) is datetime.datetime, isinstance(now, datetime.date), now.tzinfo,"
        " zoned.tzinfo is datetime.timezone.utc, abs(zoned.timestamp() - time.time()) < 5,"
        " type(datetime.date.today()) is datetime.date,"
        " type(datetime.datetime.today()) is datetime.datetime,"
        " [type(made) is Day for made in (Day.now(), Day.utcnow(), Day.today())],"
        " datetime.datetime.utcnow().tzinfo]"
    )
    assert ran.value == [True, True, None, True, True, True, True, [True] * 3, None]


def test_a_clock_in_a_class_is_no_method_of_it(box: Sandbox) -> None:
    """As Python's own functions, a clock that a class keeps is called without the object."""
    ran = box.run(
        "import time, logging\n"
        "class Watch:\n    clock = time.perf_counter\n"
        "class Utc(logging.Formatter):\n    converter = time.gmtime\n"
        "[Watch().clock() > 0, Utc('%(asctime)s').format(logging.makeLogRecord({}))[:2]]"
    )
    assert ran.value == [True, "20"]


@pytest.mark.parametrize("number", ["7", "-1", "'x'", "None", "[]", "True"])
def test_a_clock_that_is_not_named_is_refused(box: Sandbox, number: str) -> None:
    """By its number a program reaches the clocks that have a name, and no other."""
    ran = box.run(f"import time\ntime.clock_gettime({number})")
    assert ran.error is not None
    assert "use one of those" in ran.error.message


def test_a_program_can_not_look_behind_a_clock(box: Sandbox) -> None:
    """Neither what notes the reads nor what is noted can be had of what reads."""
    for name in ("__self__", "__func__", "__closure__", "__globals__", "read", "ahead", "_noted"):
        for clock in ("time.time", "time.localtime", "datetime.datetime.now", "os.urandom"):
            ran = box.run(f"import time, datetime, os\n{clock}.{name}")
            assert ran.error is not None, f"{clock}.{name}"
            ran = box.run(f"getattr({clock}, {name!r})")
            assert ran.error is not None, f"{clock}.{name}"


# -- giving back -----------------------------------------------------------------------------


def test_reads_run_out_and_the_world_goes_on(backend: Any) -> None:
    """A turn that was cut in the middle reads what it read, and then what there is."""
    source = "import time\n[time.time(), time.time(), time.time()]"
    with new(backend) as box:
        ran = box.run(source, reads=reads(time=[1e9, 1e9 + 1]))
    first, second, third = ran.value
    assert (first, second) == (1e9, 1e9 + 1)
    assert abs(third - time.time()) < 60
    assert not ran.reads_differ  # as far as these went


def test_each_kind_is_given_back_in_its_own_order(box: Sandbox) -> None:
    """Which kind is read first makes no difference to another."""
    source = "import time\n[time.time_ns(), time.time(), time.process_time(), time.time_ns()]"
    ran = box.run(source, reads=reads(time=[5.0], time_ns=[1, 2], process_time=[4_000.0]))
    assert ran.value == [1, 5.0, 4_000.0, 2]


def test_it_is_told_where_a_turn_reads_otherwise(box: Sandbox) -> None:
    """A turn that does not read all that it was given has gone another way."""
    given_back = reads(time=[1e9, 1e9], monotonic=[5.0])
    assert box.run("1", reads=given_back).reads_differ
    assert box.run("import time\ntime.time()", reads=given_back).reads_differ
    taken = box.run("[time.time(), time.monotonic(), time.time()]", reads=given_back)
    assert not taken.reads_differ
    assert taken.reads == given_back


def test_chance_that_is_asked_for_otherwise_is_real(box: Sandbox) -> None:
    """Of random bytes that were read, as many are given back as are asked for, or none."""
    given_back = dumps({CHANCE: b"abcdefgh"})
    ran = box.run("import os\n[os.urandom(3), os.urandom(5)]", reads=given_back)
    assert ran.value == [b"abc", b"defgh"]
    assert not ran.reads_differ
    ran = box.run("[os.urandom(3), os.urandom(16), os.urandom(2)]", reads=given_back)
    assert ran.value[0] == b"abc"
    assert ran.value[2] != b"de"
    assert ran.reads_differ


@pytest.mark.parametrize("clock", ["monotonic", "perf_counter", "process_time", "thread_time"])
def test_what_goes_forward_goes_on_from_what_was_given_back(backend: Any, clock: str) -> None:
    """A span over two turns is what it took, whichever unit it is read in, and never negative."""
    start = f"import time\nt = time.{clock}()"
    spans = f"[time.{clock}() - t, time.{clock}_ns() / 1e9 - t]"
    for then in (1e6, 0.0):
        with new(backend) as box:
            box.run(start, reads=reads(**{clock: [then]}))
            seconds, same = box.run(spans).value
            assert 0 <= seconds < 30
            assert 0 <= same < 30
            assert abs(box.run("time.time()").value - time.time()) < 60


def test_a_loop_goes_on_from_what_was_given_back(backend: Any) -> None:
    """A deadline that a program keeps of the loop's clock is met after a turn that ran again."""
    start = (
        "import asyncio, time\n"
        "loop = asyncio.new_event_loop()\n"
        "due = loop.time() + 0.01\n"
        "until = time.monotonic()"
    )
    with new(backend) as box:
        box.run(start, reads=reads(monotonic=[1e6, 1e6 + 1]))
        ran = box.run(
            "async def late():\n"
            "    async with asyncio.timeout_at(due):\n"
            "        await asyncio.sleep(1e5)\n"
            "loop.run_until_complete(late())"
        )
        assert ran.error is not None
        assert ran.error.type.endswith("TimeoutError")


def test_deadlines_are_not_read_from_what_is_given_back(backend: Any) -> None:
    """A turn has its time, whatever it is told the time is."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=300)) as box:
        far = [float(n) for n in range(10_000)]
        ran = box.run(
            "import time\nwhile True: time.monotonic(), time.perf_counter(), time.time()",
            reads=reads(monotonic=far, perf_counter=far, time=far),
        )
        assert ran.status == "timeout"
        assert not ran.repeatable


@pytest.mark.parametrize("wrong", [b"", b"\xc1", dumps([]), dumps({}), dumps({"time": b"1234567"})])
def test_malformed_reads_are_refused(backend: Any, wrong: bytes) -> None:
    """What is no reads is an error at once, and the session is as it was."""
    with new(backend) as box:
        box.run("x = 1")
        with pytest.raises(CodecError):
            box.run("x = 2", reads=wrong)
        assert box["x"] == 1


@given(st.binary(max_size=200) | st.dictionaries(st.text(), st.binary()).map(dumps))
@checked(max_examples=300)
def test_whatever_is_no_reads_is_one_kind_of_error(data: bytes) -> None:
    """Bytes are reads by kind, or a CodecError."""
    with suppress(CodecError):
        for kind, value in reads_of(data).items():
            assert kind in (*CLOCKS, CHANCE)
            assert value


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_clock_can_be_given_no_number_that_it_can_not_show(number: float) -> None:
    """Not-a-number and the like would make nonsense of every span after it."""
    with pytest.raises(CodecError):
        reads_of(reads(monotonic=[number]))
    with pytest.raises(CodecError):
        reads_of(reads(time_ns=[-1]))
    with pytest.raises(CodecError):
        reads_of(reads(time_ns=[(1 << 63) - 1]))


def test_parts_of_a_turns_reads_are_put_together_in_order() -> None:
    """Of each kind, what was read later stands after what was read before."""
    parts = [reads(time=[1.0]), None, reads(monotonic=[2.0]), reads(time=[3.0], monotonic=[4.0])]
    assert joined(parts) == reads(monotonic=[2.0, 4.0], time=[1.0, 3.0])
    assert joined([None]) is None


# -- bounds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [f"import time\nfor _ in range({MAX_READS // 8 + 1}): time.time()",
     f"import os\nlen(os.urandom({MAX_READS + 1}))",
     f"import os, time\nfor _ in range({MAX_READS // 8}): time.time()\nos.urandom(1)"],
    ids=["clock", "chance", "both"],
)  # fmt: skip
def test_a_turn_that_reads_too_much_can_not_be_repeated(backend: Any, source: str) -> None:
    """It goes its way; that it would not show the same again is told, and of no other turn."""
    with new(backend) as box:
        ran = box.run(source)
        assert ran.status == "ok"
        assert not ran.repeatable
        again = box.run("import time\ntime.time()")
        assert again.repeatable
        assert again.reads is not None


def test_a_turn_may_read_as_much_as_is_kept(backend: Any) -> None:
    """All of it is given back."""
    source = f"import time\nlast = [time.time() for _ in range({MAX_READS // 8})][-1]"
    with new(backend) as one, new(backend) as two:
        ran = one.run(source)
        assert ran.repeatable
        again = two.run(source, reads=ran.reads)
        assert again.repeatable
        assert not again.reads_differ
        assert two["last"] == one["last"]


def test_a_turn_that_was_cut_off_can_not_be_repeated(backend: Any) -> None:
    """Where it was cut off is chance. One that raised, or has ended its work, can."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=200)) as box:
        assert not box.run("while True: pass").repeatable
        assert box.run("1 / 0").repeatable
        assert box.run("done(1)").repeatable


# -- on the way ------------------------------------------------------------------------------


def test_a_gate_is_told_what_was_read_before_its_call(backend: Any) -> None:
    """What a turn reads comes with the call that follows it, and the rest with its end."""
    taken: list[bytes | None] = []
    turn = Turn(SETTLED)

    async def look() -> None:
        taken.append(turn.take_reads())

    async def main() -> Execution:
        async with AsyncSandbox({"look": look}, SETTLED, backend=backend) as box:
            return await box.run_turn(
                turn, "import time\na = time.time()\nlook()\nlook()\nb = time.time()\n[a, b]"
            )

    ran = anyio.run(main)
    before, after = ran.value
    assert taken == [reads(time=[before]), None]
    assert turn.take_reads() == reads(time=[after])
    assert ran.reads == reads(time=[before, after])


def test_a_killed_turn_tells_what_it_had_read(backend: Any) -> None:
    """So far as it had told: up to its last call of a gate."""
    seen: list[float] = []
    with Sandbox({"note": seen.append}, Limits(eval_ms=300), backend=backend) as box:
        ran = box.run("import time\nnote(time.time())\nsum(range(10**12))")
        assert ran.state != "kept"
        assert ran.reads == reads(time=seen)


# -- a session's own past --------------------------------------------------------------------


def test_a_rolled_back_session_has_the_same_clocks() -> None:
    """Turns that are run again for a roll-back read what they read the first time."""
    with new("auto", checkpoints=0) as box:
        box.run("import time, uuid\nt, mark = time.time(), uuid.uuid4()")
        before = box["t"], box.run("str(mark)").value
        assert box.pid is not None
        os.kill(box.pid, signal.SIGKILL)
        told = str(box.run("1"))  # which may find the process there, and be undone with it
        assert (box["t"], box.run("str(mark)").value) == before
        assert "showed something else" not in told


def test_a_turn_that_reads_too_much_is_not_run_again_for_a_roll_back() -> None:
    """Its end is kept, for it would come to something else."""
    with new("auto", checkpoints=1) as box:
        box.run(f"import time\nt = [time.time() for _ in range({MAX_READS // 8 + 1})][-1]")
        box.run("x = 1")
        before = box["t"]
        assert box.pid is not None
        os.kill(box.pid, signal.SIGKILL)
        box.run("1")
        assert (box["t"], box["x"]) == (before, 1)


def test_an_image_goes_on_with_the_same_numbers_and_clocks(backend: Any) -> None:
    """The generator's next number, and a span over it, are those of the session that was kept."""
    with new(backend) as box:
        box.run("import random, time", reads=None)
        box.run("random.random()\nt = time.perf_counter()", reads=reads(perf_counter=[1e6]))
        image = box.dump()
        expected = box.run("[random.random(), random.gauss(0, 1)]").value
    with Sandbox.load(image, trust=True, backend=backend) as later:
        assert later.run("[random.random(), random.gauss(0, 1)]").value == expected
        assert 0 <= later.run("time.perf_counter() - t").value < 30
        assert 0 <= later.run("time.monotonic() - t").value < 30


# -- packages --------------------------------------------------------------------------------

PACKAGES = """
import numpy as np, pandas as pd
np.random.seed()
[float(np.random.rand()), float(np.random.default_rng().random()),
 float(np.random.RandomState().rand()), str(pd.Timestamp.now()), str(pd.Timestamp.utcnow())]
"""


@pytest.mark.packages
def test_packages_read_the_same_again() -> None:
    """So do generators of numpy that have no seed, and what pandas says the time is."""
    packages = ("numpy", "pandas")
    with new("auto", packages=packages) as one, new("auto", packages=packages) as two:
        first = one.run(PACKAGES)
        again = two.run(PACKAGES, reads=first.reads)
        other = two.run(PACKAGES)
    assert first.value == again.value
    assert not again.reads_differ
    assert not set(first.value) & set(other.value)


@pytest.mark.packages
def test_an_image_goes_on_with_the_numbers_of_numpy() -> None:
    """The next number of its own generator is that of the session that was kept."""
    source = "import numpy\n[float(numpy.random.rand()), float(numpy.random.randn())]"
    with new("auto", packages=("numpy",)) as box:
        box.run(source)
        image = box.dump()
        expected = box.run(source).value
    with Sandbox.load(image, trust=True) as later:
        assert later.run(source).value == expected
