Generators and iterators in all their forms.

# === yield_basics
def count(n):
    print("start")
    for i in range(n):
        yield i
    print("end")
g = count(2)
print(next(g), next(g), next(g, "done"))
print(list(count(1)))

# === send_and_return
def averager():
    total, n, mean = 0, 0, None
    while True:
        x = yield mean
        if x is None:
            return total, n
        total += x
        n += 1
        mean = total / n
a = averager()
next(a)
print(a.send(10), a.send(20), a.send(6))
try:
    a.send(None)
except StopIteration as stop:
    print(stop.value)

# === yield_from
def inner():
    got = yield 1
    print("inner got", got)
    return "result"
def outer():
    value = yield from inner()
    print("outer got", value)
    yield from [10, 20]
    yield from (c for c in "ab")
g = outer()
print(next(g), g.send("hello"), list(g))

# === throw_and_close
def worker():
    try:
        while True:
            try:
                yield "working"
            except ValueError as error:
                print("handled", error)
    finally:
        print("cleanup")
w = worker()
print(next(w), w.throw(ValueError("oops")))
w.close()
try:
    next(w)
except StopIteration:
    print("finished")

# === pipeline
def read(lines):
    for line in lines:
        yield line.strip()
def numbers(lines):
    return (int(l) for l in lines if l.lstrip("-").isdigit())
def running(ns):
    total = 0
    for n in ns:
        total += n
        yield total
print(list(running(numbers(read([" 1", "x", "-2 ", "10"])))))

# === infinite_generators
from itertools import islice, takewhile
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found if p * p <= n):
            found.append(n)
            yield n
        n += 1
print(list(islice(fib(), 12)), list(takewhile(lambda p: p < 40, primes())))

# === permutations_by_hand
def perms(items):
    if not items:
        yield []
    for i, x in enumerate(items):
        for rest in perms(items[:i] + items[i + 1:]):
            yield [x] + rest
print(["".join(p) for p in perms(list("abc"))])
def subsets(items):
    if not items:
        yield ()
        return
    for s in subsets(items[1:]):
        yield s
        yield (items[0], *s)
print(sorted(subsets((1, 2, 3))))

# === generator_methods_in_class
class Tree:
    def __init__(self, value, *kids): self.value, self.kids = value, kids
    def __iter__(self):
        yield self.value
        for kid in self.kids:
            yield from kid
    def leaves(self):
        if not self.kids:
            yield self.value
        for kid in self.kids:
            yield from kid.leaves()
t = Tree(1, Tree(2, Tree(3)), Tree(4))
print(list(t), list(t.leaves()), sum(t), 3 in t)

# === coroutine_decorator
from functools import wraps
def coroutine(f):
    @wraps(f)
    def start(*args):
        g = f(*args)
        next(g)
        return g
    return start
@coroutine
def grep(pattern, out):
    while True:
        line = yield
        if pattern in line:
            out.append(line)
found = []
g = grep("py", found)
for line in ("python", "ruby", "pypy"):
    g.send(line)
g.close()
print(found)

# === generator_state
def gen():
    x = yield 1
    return x
g = gen()
print(iter(g) is g, next(g))
try:
    g.send(5)
except StopIteration as s:
    print("value", s.value)
try:
    gen().send(3)
except TypeError as error:
    print(error)

# === stop_iteration_inside
def bad():
    yield 1
    next(iter([]))
try:
    list(bad())
except RuntimeError as error:
    print(error, type(error.__cause__).__name__)

# === generator_finally_order
def managed(name):
    print("enter", name)
    try:
        yield name
    finally:
        print("exit", name)
for a in managed("a"):
    for b in managed("b"):
        print(a, b)

# === chunked_and_windows
from itertools import islice
def chunked(it, n):
    it = iter(it)
    while chunk := tuple(islice(it, n)):
        yield chunk
def windows(seq, n):
    for i in range(len(seq) - n + 1):
        yield seq[i:i + n]
print(list(chunked(range(7), 3)), list(windows("abcde", 3)))

# === two_argument_iter
values = iter([3, 1, 4, 0, 9])
print(list(iter(lambda: next(values), 0)), next(values))

# === round_robin_scheduler
from collections import deque
def task(name, n):
    for i in range(n):
        yield f"{name}{i}"
ready = deque([task("a", 2), task("b", 3), task("c", 1)])
log = []
while ready:
    t = ready.popleft()
    try:
        log.append(next(t))
    except StopIteration:
        continue
    ready.append(t)
print(log)

# === sieve_with_generators
def integers(n):
    while True:
        yield n
        n += 1
def sieve(s):
    p = next(s)
    yield p
    yield from sieve(n for n in s if n % p)
s = sieve(integers(2))
print([next(s) for _ in range(10)])

# === lazy_evaluation_order
log = []
def f(x):
    log.append(x)
    return x
g = (f(x) for x in [1, 2, 3] if f(x * 10) > 10)
print(log)
print(next(g), log)
print(list(map(f, "ab")), log)

# === tee_and_peek
class Peekable:
    _empty = object()
    def __init__(self, it): self._it, self._next = iter(it), self._empty
    def __iter__(self): return self
    def __next__(self):
        if self._next is not self._empty:
            value, self._next = self._next, self._empty
            return value
        return next(self._it)
    def peek(self, default=None):
        if self._next is self._empty:
            self._next = next(self._it, self._empty)
        return default if self._next is self._empty else self._next
p = Peekable("ab")
print(p.peek(), next(p), p.peek(), next(p), p.peek("end"))
