"""Programs that use Python's own machinery print what they print in plain Python."""

import subprocess
import sys
from functools import cache
from typing import Any

import pytest

PROGRAMS = {
    "asyncio: gather keeps the order": """
import asyncio
async def f(x):
    await asyncio.sleep(0.002 * (3 - x))
    print("done", x)
    return x
async def main():
    return await asyncio.gather(*(f(i) for i in range(3)))
print(asyncio.run(main()))
""",
    "asyncio: errors of gathered tasks": """
import asyncio
async def bad():
    raise ValueError("no")
async def main():
    print(await asyncio.gather(bad(), asyncio.sleep(0, 1), return_exceptions=True))
    try:
        await asyncio.gather(bad(), asyncio.sleep(0))
    except ValueError as e:
        print("caught", e)
asyncio.run(main())
""",
    "asyncio: timeouts": """
import asyncio
async def slow():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        print("cancelled")
        raise
async def main():
    try:
        await asyncio.wait_for(slow(), 0.01)
    except asyncio.TimeoutError:
        print("wait_for")
    try:
        async with asyncio.timeout(0.01) as t:
            await slow()
    except TimeoutError:
        print("timeout", t.expired())
asyncio.run(main())
""",
    "asyncio: cancelling": """
import asyncio
async def worker():
    try:
        await asyncio.sleep(10)
    finally:
        print("cleaned")
async def main():
    task = asyncio.create_task(worker(), name="w")
    await asyncio.sleep(0)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as e:
        print(e.args, task.cancelled(), task.get_name())
    inner = asyncio.create_task(asyncio.sleep(0.01, "kept"))
    outer = asyncio.shield(inner)
    outer.cancel()
    print(await inner)
asyncio.run(main())
""",
    "asyncio: task groups": """
import asyncio
async def ok(x):
    await asyncio.sleep(0)
    return x
async def bad():
    raise KeyError("k")
async def main():
    async with asyncio.TaskGroup() as g:
        tasks = [g.create_task(ok(i)) for i in range(3)]
    print([t.result() for t in tasks])
    try:
        async with asyncio.TaskGroup() as g:
            g.create_task(bad())
            g.create_task(asyncio.sleep(10))
    except BaseExceptionGroup as group:
        print(group, group.exceptions)
asyncio.run(main())
""",
    "asyncio: wait and as_completed": """
import asyncio
async def main():
    slow, fast = (asyncio.create_task(asyncio.sleep(t, t)) for t in (5, 0.001))
    done, pending = await asyncio.wait({slow, fast}, return_when=asyncio.FIRST_COMPLETED)
    print(done == {fast}, pending == {slow})
    slow.cancel()
    done, pending = await asyncio.wait([slow], timeout=0.001)
    print(len(done), len(pending))
    for one in asyncio.as_completed([asyncio.sleep(0.02, 2), asyncio.sleep(0.001, 1)]):
        print(await one)
asyncio.run(main())
""",
    "asyncio: queues": """
import asyncio
async def producer(q):
    for i in range(4):
        await q.put(i)
    await q.put(None)
async def consumer(q):
    got = []
    while (item := await q.get()) is not None:
        got.append(item)
        q.task_done()
    return got
async def main():
    q = asyncio.Queue(maxsize=2)
    print((await asyncio.gather(producer(q), consumer(q)))[1])
    p = asyncio.PriorityQueue()
    for i in (3, 1, 2):
        p.put_nowait(i)
    print([p.get_nowait() for _ in range(p.qsize())])
    try:
        p.get_nowait()
    except asyncio.QueueEmpty:
        print("empty")
asyncio.run(main())
""",
    "asyncio: locks, events, semaphores, conditions, barriers": """
import asyncio
log = []
async def locked(name, lock):
    async with lock:
        log.append(name + "+")
        await asyncio.sleep(0)
        log.append(name + "-")
async def waiter(event, condition):
    await event.wait()
    async with condition:
        condition.notify_all()
async def main():
    lock, event, condition = asyncio.Lock(), asyncio.Event(), asyncio.Condition()
    await asyncio.gather(locked("a", lock), locked("b", lock))
    task = asyncio.create_task(waiter(event, condition))
    async with condition:
        event.set()
        await condition.wait()
    await task
    semaphore = asyncio.Semaphore(2)
    await asyncio.gather(*(locked(str(i), semaphore) for i in range(3)))
    barrier = asyncio.Barrier(2)
    print(sorted(await asyncio.gather(barrier.wait(), barrier.wait())), log)
    try:
        asyncio.BoundedSemaphore(1).release()
    except ValueError as e:
        print(e)
asyncio.run(main())
""",
    "asyncio: timers": """
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(print, "soon")
    loop.call_later(0.02, future.set_result, "late")
    loop.call_at(loop.time() + 0.01, print, "middle")
    loop.call_later(0.005, print, "never").cancel()
    print(await future)
asyncio.run(main())
""",
    "asyncio: functions run in other threads": """
import asyncio
def work(a, b=1):
    return a + b
async def main():
    loop = asyncio.get_running_loop()
    print(await asyncio.to_thread(work, 1, b=2), await loop.run_in_executor(None, work, 5))
    try:
        await asyncio.to_thread(work, "a")
    except TypeError as e:
        print(e)
asyncio.run(main())
""",
    "asyncio: asynchronous generators are closed": """
import asyncio
async def numbers():
    try:
        for i in range(10):
            yield i
    finally:
        print("closed")
async def main():
    async for i in numbers():
        if i == 1:
            break
    print([i async for i in numbers()][-1])
    one = numbers()
    print(await anext(one))
    print("end")
asyncio.run(main())
""",
    "asyncio: what runs when a loop runs": """
import asyncio
async def inner():
    return asyncio.current_task().get_name()
async def main():
    coroutine = inner()
    for run in (asyncio.run, asyncio.Runner().run):
        try:
            run(coroutine)
        except RuntimeError as e:
            print(e)
    print(await coroutine, len(asyncio.all_tasks()))
asyncio.run(main())
try:
    asyncio.get_running_loop()
except RuntimeError as e:
    print(e)
try:
    asyncio.run(5)
except (TypeError, ValueError) as e:
    print(type(e).__name__)
""",
    "asyncio: loops by hand": """
import asyncio
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
print(loop.run_until_complete(asyncio.sleep(0, 5)), loop.is_running())
loop.call_later(0.001, loop.stop)
loop.run_forever()
loop.close()
print(loop.is_closed())
try:
    loop.call_soon(print)
except RuntimeError as e:
    print(e)
with asyncio.Runner() as runner:
    print(runner.run(asyncio.sleep(0, 3)), runner.run(asyncio.sleep(0, 4)))
""",
    "asyncio: eager tasks": """
import asyncio
async def child(name):
    print("begins", name)
    await asyncio.sleep(0)
    return name
async def main():
    factory = getattr(asyncio, "eager_task_factory", None)
    asyncio.get_running_loop().set_task_factory(factory)
    tasks = [asyncio.create_task(child(name), name=name) for name in "ab"]
    if factory is None:
        await asyncio.sleep(0)
    print("made", [task.get_name() for task in tasks])
    print(await asyncio.gather(*tasks))
asyncio.run(main())
""",
    "asyncio: tasks that a loop leaves behind": """
import asyncio
async def other():
    try:
        await asyncio.sleep(10)
    finally:
        print("other cleaned up")
async def main():
    asyncio.create_task(other())
    await asyncio.sleep(0)
    print("main ends")
asyncio.run(main())
""",
    "asyncio: context variables": """
import asyncio
from contextvars import ContextVar, copy_context
user = ContextVar("user", default="nobody")
async def show():
    print(user.get())
async def main():
    user.set("outer")
    task = asyncio.create_task(show())
    user.set("later")
    await task
    await show()
asyncio.run(main())
context = copy_context()
print(context.run(lambda: (user.set("in"), user.get())[1]), user.get(), context[user])
token = user.set("x")
user.reset(token)
print(token.old_value is token.MISSING, user.get())
""",
    "asyncio: handlers of lost errors": """
import asyncio
async def bad():
    raise ValueError("lost")
async def main():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, c: print(c["message"][:20], repr(c["exception"])))
    asyncio.create_task(bad())
    await asyncio.sleep(0)
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.001)
asyncio.run(main())
""",
    "contextlib: generators": """
from contextlib import contextmanager, asynccontextmanager, ContextDecorator
import asyncio
@contextmanager
def tag(name):
    "Docs."
    print("<", name)
    try:
        yield name.upper()
    except KeyError as e:
        print("swallowed", e)
    finally:
        print(">", name)
with tag("a") as a:
    print(a)
    raise KeyError("x")
@tag("deco")
def f():
    print("f")
f()
print(tag.__name__, tag.__doc__)
@asynccontextmanager
async def atag():
    print("in")
    yield 1
    print("out")
async def main():
    async with atag() as x:
        print(x)
asyncio.run(main())
class Timed(ContextDecorator):
    def __enter__(self):
        print("start")
        return self
    def __exit__(self, *exc):
        print("stop", exc[0])
        return True
@Timed()
def g():
    raise ValueError
g()
""",
    "contextlib: stacks": """
from contextlib import ExitStack, AsyncExitStack, closing, suppress, nullcontext, aclosing
import asyncio
class Thing:
    def __init__(self, name):
        self.name = name
    def close(self):
        print("close", self.name)
with ExitStack() as stack:
    one = stack.enter_context(closing(Thing("one")))
    stack.callback(print, "callback", end="!\\n")
    stack.push(lambda *exc: print("pushed", exc[0].__name__) or True)
    with suppress(ZeroDivisionError):
        1 / 0
    raise ValueError("eaten")
with ExitStack() as stack:
    stack.callback(print, "moved")
    kept = stack.pop_all()
print("after")
kept.close()
with nullcontext(5) as n:
    print(n)
async def main():
    async with AsyncExitStack() as stack:
        async def bye():
            print("bye")
        stack.push_async_callback(bye)
        stack.enter_context(closing(Thing("two")))
asyncio.run(main())
""",
    "contextlib: output turned elsewhere": """
import io, sys
from contextlib import redirect_stdout, redirect_stderr
buffer, other = io.StringIO(), io.StringIO()
with redirect_stdout(buffer):
    print("hidden", 1)
    sys.stdout.write("too\\n")
    with redirect_stdout(other):
        print("deeper")
    print("back")
with redirect_stderr(other):
    print("err", file=sys.stderr)
print(repr(buffer.getvalue()), repr(other.getvalue()))
before = sys.stdout
sys.stdout = buffer = io.StringIO()
print("assigned")
sys.stdout = before
print(repr(buffer.getvalue()))
""",
    "print to objects of one's own": """
class Sink:
    def __init__(self):
        self.got = []
    def write(self, text):
        self.got.append(text)
    def flush(self):
        self.got.append("flush")
sink = Sink()
print("a", 1, sep="-", end="!", file=sink, flush=True)
print(sink.got)
print("a", "b", sep=None, end=None)
try:
    print("a", sep=1)
except TypeError as e:
    print(e)
""",
    "logging: levels, names, handlers": """
import io, logging
stream = io.StringIO()
handler = logging.StreamHandler(stream)
handler.setFormatter(logging.Formatter("%(levelname)-8s|%(name)s|%(message)s|%(funcName)s"))
log = logging.getLogger("app.db")
log.addHandler(handler)
log.setLevel("DEBUG")
def work():
    log.debug("value %d of %s", 3, "x")
    log.info("%(a)s", {"a": 1})
    log.warning("plain 100%")
work()
child = log.getChild("pool")
child.error("up")
child.propagate = False
child.addHandler(logging.NullHandler())
child.error("not up")
print(stream.getvalue())
print(child.parent is log, log.parent is logging.getLogger(), child.getEffectiveLevel())
print(logging.getLogger("app").hasHandlers(), log.isEnabledFor(logging.DEBUG))
print(logging.getLevelName(20), logging.getLevelName("INFO"), logging.getLevelName(21))
logging.addLevelName(25, "NOTICE")
log.log(25, "noted")
logging.disable(logging.ERROR)
log.error("no")
logging.disable(logging.NOTSET)
print(stream.getvalue().splitlines()[-1], log, handler)
""",
    "logging: parents come later": """
import logging
leaf = logging.getLogger("a.b.c")
print(leaf.parent.name)
middle = logging.getLogger("a.b")
top = logging.getLogger("a")
print(leaf.parent.name, middle.parent.name, top.parent.name)
print(logging.getLogger("ab").parent.name, logging.getLogger("a.b.c") is leaf)
""",
    "logging: styles": """
import io, logging, time
for text in ("%(message)s %(lineno)d", "{levelname:>8} {message!r}", "$message ${name}"):
    style = text[0]
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(text, style=style))
    log = logging.getLogger("s" + style)
    log.addHandler(handler)
    log.propagate = False
    log.warning("hi %s", "you")
    print(repr(stream.getvalue()))
for bad in (("x", "%"), ("x", "{"), ("%(x)s", "?")):
    try:
        logging.Formatter(bad[0], style=bad[1])
    except ValueError:
        print("bad", bad)
f = logging.Formatter("%(asctime)s %(x)s", datefmt="%Y", defaults={"x": "dflt"})
f.converter = time.gmtime
record = logging.makeLogRecord({"msg": "m", "created": 86400 * 400.5})
print(f.format(record), f.usesTime())
""",
    "logging: filters and extras": """
import logging, sys
class Only(logging.Filter):
    def filter(self, record):
        record.extra_text = "seen"
        return "keep" in record.getMessage()
class Collect(logging.Handler):
    def __init__(self):
        super().__init__(logging.INFO)
        self.seen = []
    def emit(self, record):
        self.seen.append(self.format(record))
handler = Collect()
handler.addFilter(Only())
handler.addFilter(lambda record: not hasattr(record, "secret"))
text = "%(message)s/%(extra_text)s/%(user)s"
handler.setFormatter(logging.Formatter(text, defaults={"user": "-"}))
log = logging.getLogger("filtered")
log.addHandler(handler)
log.propagate = False
log.setLevel(logging.DEBUG)
log.info("keep this")
log.info("drop this")
log.debug("keep, but too low")
log.info("keep", extra={"user": "ann"})
log.info("keep", extra={"secret": 1})
adapter = logging.LoggerAdapter(log, {"user": "bob"})
adapter.warning("keep %s", 2)
print(handler.seen)
try:
    log.info("keep", extra={"message": 1})
except KeyError as e:
    print(e)
only_a = logging.Filter("a.b")
for name in ("a.b", "a.b.c", "a.bc", "a"):
    print(bool(only_a.filter(logging.makeLogRecord({"name": name}))))
""",
    "logging: the last resort": """
import logging
logging.getLogger("x").warning("shown %s", 1)
logging.getLogger("x").info("not shown")
logging.warning("with the root's format")
logging.getLogger("x").error("from now on too")
logging.basicConfig(format="%(message)s", level=logging.DEBUG)
logging.debug("still the old set-up")
logging.basicConfig(format="%(message)s", level=logging.DEBUG, force=True)
logging.debug("new")
try:
    logging.basicConfig(nonsense=1)
except ValueError:
    print("refused")
""",
    "warnings: recorded, raised, ignored": """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    warnings.warn("one")
    warnings.warn("two", DeprecationWarning, stacklevel=1)
print([(str(w.message), w.category.__name__) for w in seen])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        warnings.warn("three", RuntimeWarning)
    except RuntimeWarning as e:
        print("raised", e)
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="sh.*", category=UserWarning)
    warnings.warn("shh")
with warnings.catch_warnings(record=True, action="once") as seen:
    for _ in range(3):
        warnings.warn("again")
print(len(seen))
class Mine(UserWarning):
    pass
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", Mine)
    warnings.warn("a")
    warnings.warn(Mine("b"))
print([w.category.__name__ for w in seen])
for bad in (lambda: warnings.warn("x", int), lambda: warnings.simplefilter("nonsense")):
    try:
        bad()
    except Exception as e:
        print("refused")
""",
    "sys: facts": """
import sys
print(sys.version_info[:2], sys.maxsize, sys.byteorder, sys.float_info.epsilon, sys.maxunicode)
print(sys.getsizeof([]) > 0, sys.intern("a") == "a", sys.platform, sys.implementation.name)
print(sys.getrecursionlimit(), len(sys.argv), sys.hexversion == sys.hexversion)
sys.setrecursionlimit(3000)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
print(down(2500), sys.getrecursionlimit())
try:
    1 / 0
except ZeroDivisionError:
    kind, value, tb = sys.exc_info()
    print(kind.__name__, value, tb is not None, sys.exception() is value)
print(sys.exc_info())
for bad in (0, "x"):
    try:
        sys.setrecursionlimit(bad)
    except (ValueError, TypeError) as e:
        print(e)
sys.set_int_max_str_digits(0)
print(len(str(10 ** 5000)))
try:
    sys.exit(3)
except SystemExit as e:
    print(e.code)
print("err", file=sys.stderr)
print(sys.stdout.isatty(), sys.stdout.write("x\\n"), sys.stdout.encoding)
sys.stdout.writelines(["a\\n", "b\\n"])
sys.stdout.flush()
""",
    "sys.exit ends a program": """
import sys
def main():
    print("work")
    return 0
if __name__ == "__main__":
    sys.exit(main())
print("never")
""",
    "os.path: texts": """
import os, os.path
from os.path import join, splitext
print(join("a", "b", "/c", "d"), splitext("x.tar.gz"), os.path.split("/a/b"), os.sep)
print(os.path.basename("/a/b.txt"), os.path.dirname("/a/b.txt"), os.path.normpath("/a/./b/../c//d"))
print(os.path.isabs("/a"), os.path.commonpath(["/a/b/c", "/a/b/d"]), os.linesep == "\\n")
print(os.path.commonprefix(["abc", "abd"]), os.path.splitdrive("/a"), os.path.normcase("A"))
print(os.path.relpath("/a/b", "/a/c/d"), os.path.relpath("x/y", "x"), os.path.relpath("x", "x"))
print(os.fspath("a"), os.environ.get("NO_SUCH_NAME"), os.getenv("NO_SUCH_NAME", "d"))
print(len(os.urandom(4)))
""",
    "pathlib: texts": """
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
p = Path("/srv/data") / "in" / "table.tar.gz"
print(p, repr(p), p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parts, p.anchor)
print(p.with_suffix(".txt"), p.with_name("x"), p.with_stem("y"), p.relative_to("/srv"))
print(p.is_absolute(), p.is_relative_to("/srv"))
print([str(q) for q in p.parents], p.match("*.gz"), p.as_posix(), p.as_uri(), p.joinpath("a", "b"))
print(sorted([Path("b"), Path("a")]), Path("a") == PurePosixPath("a"), Path("a//b/./c"))
print({Path("a"): 1}[Path("a")])
w = PureWindowsPath(r"C:\\Users\\Ann")
print(w, w.drive, w.root, w.parts, w.as_posix(), w == PureWindowsPath(r"c:\\users\\ann"))
print(isinstance(p, PurePath), PurePath("a"), bytes(Path("a")), str(Path()), Path("a") / Path("/b"))
try:
    p.relative_to("/other")
except ValueError:
    print("not below")
""",
    "traceback: texts": """
import sys, traceback
def f():
    raise ValueError("bad")
try:
    f()
except ValueError as e:
    print(traceback.format_exc().splitlines()[-1])
    print("".join(traceback.format_exception(e)) == traceback.format_exc())
    print(traceback.format_exception_only(e), traceback.format_exception_only(type(e), e))
    print([(f.name, f.lineno, f.line) for f in traceback.extract_tb(sys.exc_info()[2])][-1][:2])
    print(len(traceback.extract_tb(sys.exc_info()[2], 1)), traceback.extract_tb(None))
print(repr(traceback.format_exc()))
class Mine(Exception):
    pass
e = Mine("x")
e.add_note("and more")
print(traceback.format_exception_only(e))
""",
    "weakref: references, proxies, finalizers": """
import weakref
class A:
    def __init__(self, name):
        self.name = name
    def hello(self):
        return "hello " + self.name
a = A("a")
ref = weakref.ref(a, lambda r: print("gone", r() is None))
method = weakref.WeakMethod(a.hello)
values = weakref.WeakValueDictionary(a=a)
keys = weakref.WeakKeyDictionary({a: 1})
group = weakref.WeakSet([a])
end = weakref.finalize(a, print, "finalized", 1)
print(ref() is a, method()(), dict(values) == {"a": a}, keys[a], len(group), end.alive)
print(weakref.getweakrefcount(a) > 3, end.peek()[2:])
del a
print(ref(), len(values), len(keys), len(group), method(), end.alive)
b = A("b")
end = weakref.finalize(b, print, "never")
print(end.detach()[2:], end.alive, end())
end = weakref.finalize(b, lambda x, y=0: x + y, 1, y=2)
print(end(), end(), end.peek())
""",
}


@cache
def plainly(source: str) -> str:
    """What plain Python prints, to either stream."""
    done = subprocess.run(
        [sys.executable, "-u", "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_prints_in_plain_python(new_box: Any, name: str) -> None:
    """The same program, run in the sandbox and by Python itself, has the same output."""
    run = new_box().run(PROGRAMS[name])
    assert run.status == "ok", str(run)
    assert run.stdout == plainly(PROGRAMS[name])
