Functions: arguments of all kinds, closures, decorators, recursion.

# === defaults_and_keywords
def greet(name, greeting="Hello", *, punctuation="!"):
    return f"{greeting}, {name}{punctuation}"
print(greet("Ann"))
print(greet("Bob", "Hi"), greet(greeting="Hey", name="Cy", punctuation="."))
try:
    greet("Dan", "Hi", "?")
except TypeError as error:
    print(error)

# === positional_only
def power(base, exp=2, /, *, mod=None):
    return pow(base, exp, mod)
print(power(3), power(3, 4), power(3, 4, mod=5))
try:
    power(base=3)
except TypeError as error:
    print(error)

# === star_arguments
def show(*args, **kwargs):
    return args, sorted(kwargs.items())
print(show(1, 2, x=3))
print(show(*[1, 2], *"ab", **{"k": 1}, **{"j": 2}, z=3))
def mixed(a, b=2, *rest, c, d=4, **extra):
    return a, b, rest, c, d, extra
print(mixed(1, c=3))
print(mixed(1, 2, 3, 4, c=5, d=6, e=7))

# === mutable_default
def add(item, bucket=[]):
    bucket.append(item)
    return bucket
print(add(1), add(2))
def add_safe(item, bucket=None):
    if bucket is None:
        bucket = []
    bucket.append(item)
    return bucket
print(add_safe(1), add_safe(2))

# === closures_and_nonlocal
def make_counter(start=0):
    count = start
    def step(by=1):
        nonlocal count
        count += by
        return count
    def reset():
        nonlocal count
        count = start
    return step, reset
step, reset = make_counter(10)
print(step(), step(5))
reset()
print(step())

# === late_binding
late = [lambda: i for i in range(3)]
early = [lambda i=i: i for i in range(3)]
print([f() for f in late], [f() for f in early])

# === lambda_forms
add = lambda a, b=1, *c, d=0, **e: a + b + sum(c) + d + len(e)
print(add(1), add(1, 2, 3, 4, d=5, x=1, y=2))
print((lambda: (yield))().__next__())
compose = lambda *fs: lambda x: x if not fs else compose(*fs[1:])(fs[0](x))
print(compose(str, len, lambda n: n * 10)(12345))

# === simple_decorator
import functools
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(f"calling {function.__name__}{args}{kwargs or ''}")
        result = function(*args, **kwargs)
        print(f"{function.__name__} returned {result!r}")
        return result
    return wrapper
@logged
def add(a, b):
    """Add two numbers."""
    return a + b
add(2, b=3)
print(add.__name__, add.__doc__)

# === decorator_with_arguments
def repeat(times, sep=" "):
    def decorate(function):
        def wrapper(*args):
            return sep.join(function(*args) for _ in range(times))
        return wrapper
    return decorate
@repeat(3, sep="-")
@repeat(2)
def word(text):
    return text.upper()
print(word("hey"))

# === class_as_decorator
class CountCalls:
    def __init__(self, function):
        self.function = function
        self.calls = 0
    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)
@CountCalls
def square(x):
    return x * x
print([square(n) for n in range(4)], square.calls)

# === decorator_expressions
registry = {}
def register(name):
    return lambda function: registry.setdefault(name, function)
handlers = [register("a"), register("b")]
@handlers[0]
def first(): return 1
@(lambda f: register("c")(f))
def third(): return 3
print(sorted(registry), first(), registry["c"]())

# === function_attributes
def visit(page):
    visit.count += 1
    return visit.count
visit.count = 0
visit("a"); visit("b")
print(visit.count, hasattr(visit, "count"), hasattr(visit, "missing"))

# === recursion_factorial_and_gcd
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)
def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)
print(factorial(25), gcd(1071, 462))

# === mutual_recursion
def is_even(n):
    return True if n == 0 else is_odd(n - 1)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)
print(is_even(50), is_odd(51), is_even(7))

# === hanoi
def hanoi(n, source="A", target="C", spare="B"):
    if n == 0:
        return []
    return hanoi(n - 1, source, spare, target) + [(source, target)] + hanoi(n - 1, spare, target, source)
moves = hanoi(4)
print(len(moves), " ".join(f"{a}{b}" for a, b in moves))

# === flatten
def flatten(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item
print(list(flatten([1, [2, [3, (4, 5)], []], "six"])))

# === memo_by_hand
def memoize(function):
    cache = {}
    def wrapper(n):
        if n not in cache:
            cache[n] = function(n)
        return cache[n]
    wrapper.cache = cache
    return wrapper
@memoize
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), len(fib.cache))

# === recursion_error
def forever(n):
    return forever(n + 1)
try:
    forever(0)
except RecursionError as error:
    print(type(error).__name__, "recursion" in str(error))

# === functions_as_values
import operator
operations = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
def evaluate(expression):
    left, symbol, right = expression.split()
    return operations[symbol](float(left), float(right))
print([evaluate(e) for e in ("1 + 2", "3 * 4", "9 / 2")])

# === docstrings_and_annotations
def area(width: float, height: float = 1.0) -> float:
    """Area of a rectangle.

    Args:
        width: The width.
    """
    return width * height
print(area.__doc__.splitlines()[0], area(2, 3), area.__name__, area.__qualname__)

# === early_return_and_none
def find(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            return index
print(find("abc", "c"), find("abc", "z"))

# === currying
from functools import partial, reduce
def volume(l, w, h):
    return l * w * h
half = partial(volume, 2)
print(half(3, 4), partial(half, h=5)(w=2), partial(int, base=2)("1010"))
pipeline = [str.strip, str.lower, lambda s: s.replace(" ", "_")]
print(reduce(lambda value, f: f(value), pipeline, "  Hello World "))

# === scope_of_comprehension
x = "outer"
squares = [x * x for x in range(4)]
print(x, squares)
class Table:
    size = 3
    rows = [n for n in range(size)]
print(Table.rows)
def outer():
    y = 2
    return [y * z for z in range(3)], {y: z for z in "ab"}
print(outer())

# === unbound_local
value = 1
def broken():
    print(value)
    value = 2
try:
    broken()
except UnboundLocalError as error:
    print(type(error).__name__)

# === argument_errors
def f(a, b, *, c=0): pass
for args, kwargs in [((1,), {}), ((1, 2, 3), {}), ((1, 2), {"d": 4}), ((1, 2), {"a": 1})]:
    try:
        f(*args, **kwargs)
    except TypeError as error:
        print(error)

# === generator_as_argument
print(sum(n * n for n in range(10)), max(len(w) for w in "a bbb cc".split()), sorted((n % 3, n) for n in range(6)))
print("".join(chr(ord(c) + 1) for c in "HAL"), dict((k, len(k)) for k in ("a", "bb")))

# === trampolines
def trampoline(function):
    def run(*args):
        result = function(*args)
        while callable(result):
            result = result()
        return result
    return run
def count_down(n, acc=0):
    return acc if n == 0 else lambda: count_down(n - 1, acc + n)
print(trampoline(count_down)(5000))

# === timing_decorator
import time
from functools import wraps
def timed(f):
    @wraps(f)
    def inner(*a, **k):
        start = time.perf_counter()
        try:
            return f(*a, **k)
        finally:
            elapsed = time.perf_counter() - start
            inner.elapsed = elapsed
    return inner
@timed
def work(n):
    return sum(range(n))
print(work(1000), work.elapsed >= 0)

# === retry_decorator
class Flaky(Exception):
    pass
def retry(attempts, exceptions=(Exception,)):
    def decorate(f):
        def wrapper(*args):
            for attempt in range(1, attempts + 1):
                try:
                    return f(*args)
                except exceptions as e:
                    print(f"attempt {attempt} failed: {e}")
                    if attempt == attempts:
                        raise
        return wrapper
    return decorate
state = {"n": 0}
@retry(3, (Flaky,))
def fetch():
    state["n"] += 1
    if state["n"] < 3:
        raise Flaky(f"try {state['n']}")
    return "ok"
print(fetch())

# === type_parameter_syntax, from 3.12
def first[T](items: list[T]) -> T:
    return items[0]
class Stack[T]:
    def __init__(self) -> None:
        self.items: list[T] = []
    def push(self, item: T) -> None:
        self.items.append(item)
type Pair[A, B] = tuple[A, B]
stack = Stack[int]()
stack.push(3)
print(first("xyz"), stack.items, Pair.__name__)
