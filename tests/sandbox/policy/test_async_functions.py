"""``async`` and ``await``: allowed in functions; ``await`` at turn level is refused."""

import pytest

PROGRAMS = {
    "run": """
import asyncio
async def work(x):
    await asyncio.sleep(0)
    return x * 2
async def main(): return await asyncio.gather(*(work(i) for i in range(3)))
asyncio.run(main())
""",
    "awaitables of one's own": """
class Gate:
    def __await__(self):
        got = yield 'asks'
        return got
async def work(): return await Gate()
c = work()
asked = c.send(None)
try: c.send(42)
except StopIteration as stop: answer = stop.value
asked, answer
""",
    "async with and async for": """
import asyncio
class Ctx:
    async def __aenter__(self): return 'in'
    async def __aexit__(self, *e):
        print('out', e[0])
        return True
class Count:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self
    async def __anext__(self):
        if not self.n: raise StopAsyncIteration
        self.n -= 1
        return self.n
async def main():
    async with Ctx() as a, Ctx() as b:
        async for i in Count(2): print(a, b, i)
        else: print('else')
        raise KeyError
asyncio.run(main())
""",
    "async generators and comprehensions": """
import asyncio
async def ticks(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
async def double(x): return x * 2
async def main():
    a = [i async for i in ticks(3) if i]
    b = {i: await double(i) async for i in ticks(2)}
    c = [await double(i) for i in range(2)]
    d = {x async for x in ticks(2)}
    g = (i async for i in ticks(2))
    return a, b, c, d, [x async for x in g]
asyncio.run(main())
""",
    "asend, athrow, aclose": """
import asyncio
async def f():
    try:
        got = yield 1
        yield got
    except ValueError: yield 'caught'
    finally: print('closed')
async def main():
    g = f()
    r = [await anext(g), await g.asend('sent'), await g.athrow(ValueError)]
    await g.aclose()
    return r, await anext(g, 'none left')
asyncio.run(main())
""",
    "errors travel": """
import asyncio
async def bad(): raise ValueError('bad')
async def main():
    try: await bad()
    except ValueError as e: print('caught', e)
    return await asyncio.gather(bad(), return_exceptions=True)
str(asyncio.run(main()))
""",
    "methods and lambdas": """
import asyncio
class A:
    async def get(self): return 1
    @classmethod
    async def make(cls): return cls()
    @staticmethod
    async def twice(f): return await f() + await f()
async def main():
    a = await A.make()
    return await A.twice(a.get), await (lambda: a.get())()
asyncio.run(main())
""",
    "across turns": (
        "import asyncio\nasync def work(x): return x + 1",
        "async def main(): return await work(await work(1))\nasyncio.run(main())",
    ),
    "await in a plain function": "def f(): await g()",
    "async with in a plain function": "def f():\n    async with g(): pass",
    "a comprehension in a plain function": "def f(): return [x async for x in g()]",
    "return of a value in an async generator": "async def f():\n    yield 1\n    return 2",
    "yield from in an async function": "async def f():\n    yield from [1]",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_async_code_is_cpythons(same, what):
    """Coroutines, async generators, contexts and comprehensions work as in CPython."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


@pytest.mark.parametrize(
    "source",
    [
        "await f()",
        "x = await f()",
        "async with f() as x: pass",
        "async for x in f(): pass",
        "[x async for x in f()]",
    ],
)
def test_await_outside_a_function_says_what_to_write(box, source):
    """There is no loop at turn level; the error names ``asyncio.run``."""
    run = box.run(source)
    assert run.error is not None
    assert "asyncio.run" in str(run)


@pytest.mark.parametrize(
    "name", ["cr_frame", "cr_code", "cr_await", "cr_origin", "ag_frame", "ag_code", "ag_await"]
)
def test_a_coroutines_frame_is_closed(refusal, name):
    """It leads to the variables of all code that runs."""
    assert name in refusal(f"async def f(): ...\nf().{name}").message


@pytest.mark.parametrize(
    "form",
    [
        "await {}",
        "async with {}: pass",
        "async for x in {}: pass",
        "[a async for a in {}]",
        "async with x as y.__class__: pass",
        "async for y.__globals__ in x: pass",
    ],
)
def test_what_is_awaited_is_checked(refusal, form):
    """Whatever stands in an async construct is checked."""
    source = form.format("print.__globals__")
    assert "__" in refusal(f"async def f():\n    {source}").message
