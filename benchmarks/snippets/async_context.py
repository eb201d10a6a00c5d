async functions and asyncio; contextlib and with in all forms.

# === async_basics
import asyncio
async def fetch(name, delay):
    await asyncio.sleep(delay)
    return f"{name} done"
async def main():
    print(await fetch("a", 0.001))
    results = await asyncio.gather(fetch("b", 0.002), fetch("c", 0.001))
    print(results)
    return len(results)
print(asyncio.run(main()))

# === tasks_and_order
import asyncio
log = []
async def worker(n):
    for i in range(2):
        log.append((n, i))
        await asyncio.sleep(0)
async def main():
    tasks = [asyncio.create_task(worker(n)) for n in "ab"]
    await asyncio.gather(*tasks)
    print(log, all(t.done() for t in tasks))
asyncio.run(main())

# === gather_exceptions
import asyncio
async def maybe(n):
    await asyncio.sleep(0)
    if n == 2:
        raise ValueError(f"bad {n}")
    return n
async def main():
    print(await asyncio.gather(*(maybe(n) for n in range(4)), return_exceptions=True))
    try:
        await asyncio.gather(maybe(1), maybe(2))
    except ValueError as error:
        print("caught", error)
asyncio.run(main())

# === timeouts_and_cancel
import asyncio
async def slow():
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        print("cancelled")
        raise
async def main():
    try:
        await asyncio.wait_for(slow(), timeout=0.01)
    except asyncio.TimeoutError:
        print("timed out")
    task = asyncio.create_task(slow())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("main saw it", task.cancelled())
asyncio.run(main())

# === async_iteration
import asyncio
class Ticker:
    def __init__(self, n): self.n, self.i = n, 0
    def __aiter__(self): return self
    async def __anext__(self):
        if self.i >= self.n:
            raise StopAsyncIteration
        self.i += 1
        await asyncio.sleep(0)
        return self.i
async def agen(n):
    for i in range(n):
        yield i * 10
        await asyncio.sleep(0)
async def main():
    async for t in Ticker(3):
        print(t, end=" ")
    print([x async for x in agen(3)], {x: y async for x, y in pairs()}, [await v(n) for n in range(2)])
    total = 0
    async for x in agen(4):
        if x == 20: break
        total += x
    else:
        print("not reached")
    print(total, await anext(aiter(agen(1))))
async def pairs():
    yield 1, 2
async def v(n): return n + 1
asyncio.run(main())

# === async_with
import asyncio
from contextlib import asynccontextmanager
class Conn:
    async def __aenter__(self):
        print("connect")
        return self
    async def __aexit__(self, kind, value, tb):
        print("disconnect", kind.__name__ if kind else None)
        return True
@asynccontextmanager
async def tx(name):
    print("begin", name)
    try:
        yield name.upper()
    finally:
        print("end", name)
async def main():
    async with Conn() as c, tx("t") as t:
        print(t)
        raise KeyError("x")
    print("after")
asyncio.run(main())

# === queue_producer_consumer
import asyncio
async def producer(q):
    for i in range(4):
        await q.put(i)
    await q.put(None)
async def consumer(q, out):
    while (item := await q.get()) is not None:
        out.append(item * item)
        q.task_done()
async def main():
    q, out = asyncio.Queue(maxsize=2), []
    await asyncio.gather(producer(q), consumer(q, out))
    print(out)
asyncio.run(main())

# === semaphore_lock_event
import asyncio
async def main():
    sem, lock, event, running, peak = asyncio.Semaphore(2), asyncio.Lock(), asyncio.Event(), 0, 0
    async def job():
        nonlocal running, peak
        async with sem:
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0.001)
            running -= 1
    async def waiter():
        await event.wait()
        async with lock:
            return "woken"
    w = asyncio.create_task(waiter())
    await asyncio.gather(*(job() for _ in range(5)))
    event.set()
    print(peak, await w, lock.locked())
asyncio.run(main())

# === task_group
import asyncio
async def f(n):
    await asyncio.sleep(0.001 * n)
    return n * 2
async def main():
    async with asyncio.TaskGroup() as tg:
        tasks = [tg.create_task(f(n)) for n in (3, 1, 2)]
    print([t.result() for t in tasks])
    for coro in asyncio.as_completed([f(3), f(1)]):
        print(await coro)
    done, pending = await asyncio.wait([asyncio.create_task(f(1))])
    print(len(done), len(pending))
asyncio.run(main())

# === coroutine_objects
async def f(): return 5
c = f()
try:
    c.send(None)
except StopIteration as stop:
    print(stop.value)
class Wait:
    def __await__(self):
        got = yield "paused"
        return got
async def g(): return await Wait()
c = g()
print(c.send(None))
try:
    c.send("resumed")
except StopIteration as stop:
    print(stop.value)

# === async_pipeline_with_results
import asyncio
async def stage(name, items, f):
    out = []
    for item in items:
        await asyncio.sleep(0)
        out.append(f(item))
    print(name, out)
    return out
async def main():
    data = await stage("double", range(4), lambda n: n * 2)
    data = await stage("even tens", data, lambda n: n * 10)
    return sum(data)
print(asyncio.run(main()))

# === contextmanager_decorator
from contextlib import contextmanager
@contextmanager
def section(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    except ValueError as error:
        print("swallowed", error)
    finally:
        print(f"</{name}>")
with section("a") as a:
    print(a)
with section("b"):
    raise ValueError("inside")
try:
    with section("c"):
        raise KeyError("through")
except KeyError as error:
    print("outside", error)
@section("deco")
def work(): print("working")
work()

# === exit_stack
from contextlib import ExitStack, contextmanager, closing, nullcontext, redirect_stdout
@contextmanager
def res(n):
    print("open", n)
    yield n
    print("close", n)
with ExitStack() as stack:
    items = [stack.enter_context(res(n)) for n in range(3)]
    stack.callback(lambda: print("callback"))
    print(items)
with ExitStack() as stack:
    stack.enter_context(res("kept"))
    later = stack.pop_all()
print("still open")
later.close()
class Thing:
    def close(self): print("closed")
with closing(Thing()), nullcontext(5) as n:
    print(n)

# === redirect_output
from contextlib import redirect_stdout
import io
buffer = io.StringIO()
with redirect_stdout(buffer):
    print("captured")
print("shown", repr(buffer.getvalue()))

# === contextdecorator_class
from contextlib import ContextDecorator, suppress, AbstractContextManager
class Trace(ContextDecorator):
    def __init__(self, label): self.label = label
    def __enter__(self): print("in", self.label); return self
    def __exit__(self, *exc): print("out", self.label, exc[0] is None); return False
@Trace("f")
def f(): return "result"
print(f())
class Managed(AbstractContextManager):
    def __exit__(self, *exc): return True
with Managed() as m, suppress(ZeroDivisionError):
    1 / 0
print("fine")

# === transaction_rollback
import copy
from contextlib import contextmanager
@contextmanager
def transaction(store):
    before = copy.deepcopy(store)
    try:
        yield store
    except Exception:
        store.clear()
        store.update(before)
        raise
store = {"a": [1]}
with transaction(store) as s:
    s["a"].append(2)
try:
    with transaction(store) as s:
        s["a"].append(3)
        s["b"] = 1
        raise RuntimeError("abort")
except RuntimeError as e:
    print(e, store)
