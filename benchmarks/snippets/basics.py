What every first chapter teaches: numbers, names, loops, functions.

# === arithmetic
a, b = 17, 5
print(a + b, a - b, a * b, a / b, a // b, a % b, a ** b)
print(-a // b, -a % b, divmod(-a, b))
print(round(2.675, 2), round(2.5), round(3.5), round(1234, -2))
print(7 & 3, 7 | 8, 7 ^ 2, ~7, 1 << 10, 1024 >> 3)
print(abs(-3.5), pow(2, 10), pow(3, -1, 11))

# === swap_and_unpack
x, y = 1, 2
x, y = y, x
first, *middle, last = range(6)
(a, b), c = (1, 2), 3
print(x, y, first, middle, last, a, b, c)
head, *_ = "hello"
print(head)
*rest, end = [1]
print(rest, end)

# === chained_comparison
calls = []
def middle():
    calls.append("middle")
    return 5
print(1 < middle() < 10, calls)
print(1 < middle() > 7, 3 == 3.0 == (3 + 0j))
print(1 < 0 < middle(), len(calls))
x = 5
print(0 <= x < 10 and x not in (3, 4), x is not None)

# === while_else
def smallest_factor(n):
    k = 2
    while k * k <= n:
        if n % k == 0:
            break
        k += 1
    else:
        return n
    return k
print([smallest_factor(n) for n in (15, 49, 97, 1001)])
for n in range(2, 20):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        print(n, end=" ")
print()

# === fizzbuzz
for i in range(1, 16):
    print("FizzBuzz" if i % 15 == 0 else "Fizz" if i % 3 == 0 else "Buzz" if i % 5 == 0 else i)

# === augmented_assignment
class Box:
    value = 1
box = Box()
numbers = [1, 2, 3]
table = {"k": [0]}
numbers[0] += 10
numbers[-1] **= 2
numbers += [7]
table["k"] += [1]
table["k"][0] -= 5
box.value <<= 3
box.value |= 1
total = 10
total //= 3
total *= 2.5
text = "ab"
text *= 3
flags = 0b1100
flags &= ~0b0100
print(numbers, table, box.value, total, text, bin(flags))

# === augmented_target_once
seen = []
def index():
    seen.append("index")
    return 0
def items(values=[5]):
    seen.append("items")
    return values
items()[index()] += 3
print(seen, items())

# === truthiness
values = [0, 1, "", "0", [], [0], {}, {"a": 1}, None, 0.0, (), (None,), set(), range(0), 0j]
print([bool(value) for value in values])
print([] or "default", "x" and "y", None or 0 or "last", not [])

# === numbers_and_bases
print(0xFF, 0o17, 0b1011, 1_000_000, 1e3, 3.14e-2, 2j * 2j)
print(hex(255), oct(8), bin(10), int("ff", 16), int("0b101", 0), int("z", 36))
print(float("inf") > 10**100, float("nan") == float("nan"), -0.0 == 0.0)
print(int(3.99), int(-3.99), float("1e-3"), complex("1+2j"), complex(3, -4).conjugate())

# === big_integers
n = 2**200 + 1
print(n, n.bit_length(), n % 97)
print(len(str(3**1000)), sum(int(d) for d in str(2**1000)))
print((10**40) // 7, -(10**40) // 7, pow(12345, 678, 10**9 + 7))
print((255).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "little"), (13).bit_count())

# === number_methods
print((0.5).as_integer_ratio(), (3.0).is_integer(), (10).bit_length(), (0.1).hex())
print(float.fromhex("0x1.8p+1"), (-5).__abs__(), (7).conjugate(), (2.5).real, (3 + 4j).imag)
print(0.1 + 0.2, 1 / 3, 1e16, 1e22, 123456789.123456789, 1e-5, 100000.0)

# === conditional_expressions
def grade(score):
    if score >= 90:
        return "A"
    elif score >= 80:
        return "B"
    elif score >= 70:
        return "C"
    return "F"
for score in (95, 83, 71, 12):
    print(score, grade(score), "pass" if score >= 70 else "fail")

# === nested_loops_and_continue
pairs = []
for i in range(5):
    if i == 3:
        continue
    for j in range(5):
        if j > i:
            break
        pairs.append((i, j))
print(pairs)
print([(i, j) for i in range(3) for j in range(3) if i != j if (i + j) % 2])

# === multiplication_table
size = 5
print("   |" + "".join(f"{n:4}" for n in range(1, size + 1)))
print("---+" + "-" * (4 * size))
for row in range(1, size + 1):
    print(f"{row:2} |" + "".join(f"{row * column:4}" for column in range(1, size + 1)))

# === celsius_table
for c in range(-10, 41, 10):
    f = c * 9 / 5 + 32
    print(f"{c:>4}°C = {f:>6.1f}°F")

# === global_and_local
counter = 0
def increment(by=1):
    global counter
    counter += by
    return counter
def shadow():
    counter = 100
    return counter
print(increment(), increment(5), shadow(), counter)

# === delete_names
x = [1, 2, 3, 4, 5]
del x[1], x[-1]
d = {"a": 1, "b": 2}
del d["a"]
y = 3
del y
try:
    y
except NameError as error:
    print(type(error).__name__, "y" in str(error))
del x[:]
print(x, d)

# === identity_and_equality
a = [1, 2]
b = a
c = list(a)
b.append(3)
print(a, c, a is b, a == c, a is not c, id(a) == id(b))
print(1 == True, 1 is not True, "1" == 1, (1, 2) == [1, 2], {1: 2} == {1.0: 2.0})

# === assertion
def mean(values):
    assert values, "values must not be empty"
    return sum(values) / len(values)
print(mean([1, 2, 6]))
try:
    mean([])
except AssertionError as error:
    print("refused:", error)

# === uncaught_error
print("before")
def share(total, people):
    return total / people
share(10, 0)
print("never")

# === main_guard
"""A module with a docstring."""
import math

RADIUS = 2

def area(radius: float) -> float:
    """Area of a circle."""
    return math.pi * radius ** 2

def main():
    print(f"{area(RADIUS):.3f}", area.__doc__, __doc__)

if __name__ == "__main__":
    main()

# === builtin_functions
print(all([]), any([]), all(n > 0 for n in (1, 2)), any(n > 1 for n in (0, 1)))
print(sum([1, 2, 3], 10), min(3, 1, 2), max("banana"), max([1, -5], key=abs), min([], default="none"))
print(list(zip("ab", [1, 2], strict=True)), list(map(pow, [2, 3], [3, 2])), list(filter(None, [0, 1, "", "a"])))
print(list(enumerate("ab", start=1)), list(reversed([1, 2])), sorted("bca", reverse=True))
print(chr(8364), ord("€"), ascii("é"), repr("it's"), callable(print), isinstance(True, int), issubclass(bool, int))
print(list(range(10, 0, -3)), len(range(0, 100, 7)), 21 in range(0, 100, 7), range(5)[-1], range(3) == range(0, 3, 1))
print(hash(42), hash("a") == hash("a"), divmod(7.5, 2), slice(1, 2, 3), format(255, "x"), complex(1, 2))
print(type(1).__name__, type([]) is list, next(iter([7])), next(iter([]), "empty"), iter is iter)

# === print_options
print("a", "b", "c", sep="-", end="!\n")
print()
print(1, None, True, [1, "x"], ("t",), {"k": 'v"'}, sep=" | ")
print("no newline", end="")
print("", "\ttab", r"\n raw", "uni\u00e9", sep="\n")
print(*range(5), sep=",")
print(*"abc", *[1, 2], end=".\n", flush=True)

# === print_to_file
import io
buffer = io.StringIO()
print("hello", 42, file=buffer)
print("world", sep="", end="", file=buffer)
print(repr(buffer.getvalue()))
class Upper:
    def __init__(self):
        self.parts = []
    def write(self, text):
        self.parts.append(text.upper())
upper = Upper()
print("loud", "words", file=upper)
print(upper.parts)

# === print_to_stderr
import sys
print("starting", file=sys.stdout)
print("careful", file=sys.stderr)
sys.stdout.write("written\n")
sys.stdout.flush()

# === semicolons_and_continuations
x = 1; y = 2; print(x + y)
total = (1 +
         2 +
         3)
value = 1 + \
    2
if x: print("one line")
text = ("adjacent "
        'strings '
        """join""")
print(total, value, text, end="\n"); pass

# === walrus
import re
data = [3, 8, 1, 9]
if (n := len(data)) > 3:
    print(f"{n} items")
print([y for x in data if (y := x * 2) > 6], y)
stream = iter("abc\0def")
while (c := next(stream)) != "\0":
    print(c, end="")
print()
if m := re.search(r"(\d+)", "room 42"):
    print(m.group(1))
print((a := 1, b := a + 1), a, b)

# === ellipsis_and_notimplemented
def todo():
    ...
print(todo(), ..., Ellipsis is ..., type(...).__name__, NotImplemented)
