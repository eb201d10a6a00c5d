Programs of several turns: what one turn binds, the next one finds.

# === variables_persist
x = 10
names = ["a"]
# --- turn
x += 5
names.append("b")
# --- turn
print(x, names)

# === functions_and_classes_persist
def square(n):
    return n * n
class Acc:
    def __init__(self): self.total = 0
    def add(self, n): self.total += n; return self
# --- turn
acc = Acc().add(square(3))
# --- turn
print(acc.add(1).total, isinstance(acc, Acc))

# === late_globals
base = 1
def scaled(n): return n * base
# --- turn
base = 100
print(scaled(2))
# --- turn
def base_of(): return base
base = 7
print(base_of(), scaled(1))

# === error_keeps_names
a = 1
b = 2
c = a / 0
d = 4
# --- turn
print(a, b)
try:
    print(c)
except NameError:
    print("c was never bound")

# === generator_across_turns
def naturals():
    n = 0
    while True:
        yield n
        n += 1
stream = naturals()
print(next(stream), next(stream))
# --- turn
print([next(stream) for _ in range(3)])
# --- turn
stream.close()
print(next(stream, "closed"))

# === imports_persist
import math
from collections import Counter as C
import json as j
# --- turn
print(math.sqrt(81), C("aab"), j.dumps([1]))

# === redefine_function
def f(): return "old"
def call(): return f()
# --- turn
def f(): return "new"
print(call())

# === iterative_refinement
data = [5, 3, 8, 1]
print(sorted(data))
# --- turn
def stats(xs):
    return {"min": min(xs), "max": max(xs), "mean": sum(xs) / len(xs)}
print(stats(data))
# --- turn
data.append(13)
print(stats(data), len(data))

# === closures_across_turns
def counter():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
tick = counter()
tick()
# --- turn
tick()
print(tick())

# === syntax_error_then_ok
value = 3
# --- turn
print("not reached"
# --- turn
print(value)

# === identity_kept
a = [1]
b = {"alias": a}
# --- turn
b["alias"].append(2)
print(a, b["alias"] is a)

# === delete_and_shadow
list_of = [1, 2]
sum = 5
# --- turn
del sum
print(sum(list_of))
# --- turn
print = print
len = lambda x: "shadowed"
print(len([1]))
# --- turn
del len
print(len([1]))

# === dataclass_across_turns
from dataclasses import dataclass, replace
@dataclass
class Job:
    name: str
    done: bool = False
jobs = [Job("a"), Job("b")]
# --- turn
jobs = [replace(j, done=True) if j.name == "a" else j for j in jobs]
print(jobs)
# --- turn
class Urgent(Job): pass
print(Urgent("c"), isinstance(Urgent("c"), Job))

# === exception_class_across_turns
class Oops(Exception): pass
def fail(): raise Oops("again")
# --- turn
try:
    fail()
except Oops as e:
    print("caught", e)
# --- turn
fail()
# --- turn
print("still going")

# === globals_and_locals
x = 1
def f(a, b=2):
    c = a + b
    return sorted(locals().items())
print(f(1))
# --- turn
print("x" in globals(), globals()["x"], "nope" in globals())
g = {k: v for k, v in globals().items() if k == "x"}
print(g)

# === caches_across_turns
from functools import lru_cache
@lru_cache(maxsize=None)
def slow(n):
    return n * 2
slow(1); slow(2); slow(1)
# --- turn
slow(2)
print(slow.cache_info().hits, slow.cache_info().currsize)

# === half_consumed_iterator
it = iter(range(10))
first = [next(it) for _ in range(3)]
# --- turn
print(first, list(it), list(it))

# === text_task
text = """alpha 10
beta 20
gamma x
delta 40"""
rows = [line.split() for line in text.splitlines()]
# --- turn
good, bad = [], []
for name, value in rows:
    (good if value.isdigit() else bad).append((name, value))
print(good, bad)
# --- turn
print(sum(int(v) for _, v in good), f"{len(bad)} bad")
