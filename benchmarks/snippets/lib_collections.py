collections, itertools, functools, operator, heapq, bisect, queue, array, copy.

# === counter
from collections import Counter
c = Counter("mississippi")
print(c, c.most_common(2), c["s"], c["z"], c.total(), sorted(c.elements())[:5])
d = Counter(s=1, x=2)
print(c + d, c - d, c & d, c | d, Counter([1, 1, 2]) == Counter({1: 2, 2: 1}), +Counter(a=-1, b=2))
c.update("sss"); c.subtract("pp")
del c["i"]
print(c, dict(c), list(c), max(c, key=c.get))
words = "the cat the dog a cat".split()
for word, n in Counter(words).most_common():
    print(f"{word}: {n}")

# === defaultdict
from collections import defaultdict
groups = defaultdict(list)
for name in ("ann", "bob", "al", "beth"):
    groups[name[0]].append(name)
print(groups, dict(groups), "z" in groups, groups["z"])
tree = lambda: defaultdict(tree)
t = tree()
t["a"]["b"]["c"] = 1
print(t["a"]["b"]["c"], defaultdict(int, x=1)["y"], defaultdict(lambda: "none")[3])
nested = defaultdict(lambda: defaultdict(int))
nested["x"]["y"] += 5
print({k: dict(v) for k, v in nested.items()})

# === deque
from collections import deque
d = deque([1, 2, 3], maxlen=4)
d.append(4); d.append(5); d.appendleft(0)
print(d, d[0], d[-1], len(d), d.maxlen)
d.rotate(1); print(d)
d.extend([7]); d.extendleft([8, 9]); print(d, d.count(8), 9 in d)
print(d.pop(), d.popleft(), list(reversed(d)), d.copy() == d, deque("abc", 2))
d.remove(8) if 8 in d else None
d.clear()
try:
    d.pop()
except IndexError as error:
    print(error)

# === ordered_dict
from collections import OrderedDict
od = OrderedDict(a=1, b=2, c=3)
od.move_to_end("a"); od.move_to_end("c", last=False)
print(od, od.popitem(last=False), list(od), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), list(reversed(od)))
class LRU:
    def __init__(self, size): self.size, self.data = size, OrderedDict()
    def get(self, k):
        if k not in self.data: return -1
        self.data.move_to_end(k)
        return self.data[k]
    def put(self, k, v):
        self.data[k] = v
        self.data.move_to_end(k)
        if len(self.data) > self.size: self.data.popitem(last=False)
lru = LRU(2)
lru.put(1, 1); lru.put(2, 2); lru.get(1); lru.put(3, 3)
print(lru.get(2), lru.get(1), list(lru.data))

# === chainmap_and_user_types
from collections import ChainMap, UserDict, UserList, UserString
defaults, user = {"colour": "red", "size": 1}, {"size": 5}
cm = ChainMap(user, defaults)
cm["new"] = 1
print(cm["size"], cm["colour"], user, sorted(cm), cm.parents["size"], cm.new_child({"size": 9})["size"])
class Lower(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
d = Lower(ABC=1)
d["XyZ"] = 2
class Evens(UserList):
    def append(self, n):
        if n % 2 == 0: super().append(n)
e = Evens([2])
e.append(3); e.append(4)
class Name(UserString):
    def hi(self): return f"hi {self.data}"
print(d, e, len(e), Name("bo").hi(), Name("bo").upper())

# === itertools_combinatorics
from itertools import product, permutations, combinations, combinations_with_replacement
print(list(product("ab", [1, 2])), len(list(product(range(3), repeat=3))))
print(["".join(p) for p in permutations("abc", 2)], list(combinations([1, 2, 3], 2)), list(combinations_with_replacement("ab", 2)))

# === itertools_infinite_and_slices
from itertools import count, cycle, repeat, islice, takewhile, dropwhile, filterfalse, compress, starmap, pairwise
print(list(islice(count(10, 5), 4)), list(islice(cycle("ab"), 5)), list(repeat("x", 3)), list(islice("abcdefg", 1, 6, 2)))
print(list(takewhile(lambda n: n < 3, [1, 2, 5, 1])), list(dropwhile(lambda n: n < 3, [1, 2, 5, 1])), list(filterfalse(str.isdigit, "a1b2")))
print(list(compress("abcd", [1, 0, 1, 0])), list(starmap(pow, [(2, 3), (3, 2)])), list(pairwise("abcd")))

# === itertools_grouping
from itertools import groupby, accumulate, chain, zip_longest, tee
import operator
print([(k, len(list(g))) for k, g in groupby("aaabbca")], list(accumulate([1, 2, 3, 4], operator.mul)), list(accumulate([3, 1, 5], max, initial=0)))
rows = sorted([("x", 1), ("y", 2), ("x", 3)])
for key, group in groupby(rows, key=lambda r: r[0]):
    print(key, [v for _, v in group])
print(list(chain([1], "ab", (2,))), list(chain.from_iterable([[1], [2, 3]])), list(zip_longest("abc", [1], fillvalue="-")))
a, b = tee(range(3))
print(list(a), list(b), "".join(f"{k}{len(list(g))}" for k, g in groupby("wwwbbx")))

# === itertools_batched, from 3.12
from itertools import batched
print(list(batched("abcdefg", 3)))

# === functools_caching
from functools import lru_cache, cache, cached_property
@lru_cache(maxsize=2)
def f(n):
    print("compute", n)
    return n * n
f(1); f(2); f(1); f(3); f(2)
print(f.cache_info())
f.cache_clear()
print(f.cache_info().currsize)
@cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(100))
class Data:
    def __init__(self, xs): self.xs = xs
    @cached_property
    def total(self):
        print("summing")
        return sum(self.xs)
d = Data([1, 2])
print(d.total, d.total)

# === functools_singledispatch
from functools import singledispatch, singledispatchmethod
@singledispatch
def show(x): return f"object {x}"
@show.register
def _(x: int): return f"int {x}"
@show.register(list)
@show.register(tuple)
def _(x): return "seq " + ",".join(show(i) for i in x)
@show.register
def _(x: str | bytes): return f"text {x!r}"
print(show(1), show([1, "a", 2.5]), show(True), show((b"x",)), show(None))
class Fmt:
    @singledispatchmethod
    def fmt(self, v): return str(v)
    @fmt.register
    def _(self, v: float): return f"{v:.1f}"
print(Fmt().fmt(3.14159), Fmt().fmt(3))

# === functools_singledispatch_by_type
from functools import singledispatch
@singledispatch
def area(shape):
    raise TypeError(f"no area for {type(shape).__name__}")
class Sq:
    def __init__(self, s): self.s = s
class Ci:
    def __init__(self, r): self.r = r
@area.register(Sq)
def _(shape): return shape.s ** 2
@area.register(Ci)
def area_circle(shape): return 3 * shape.r ** 2
print(area(Sq(2)), area(Ci(1)), area_circle(Ci(2)))
try:
    area("x")
except TypeError as error:
    print(error)

# === functools_reduce_partial
from functools import reduce, partial, partialmethod
print(reduce(lambda a, b: a * b, range(1, 6)), reduce(lambda a, w: {**a, w: len(w)}, ["a", "bb"], {}), reduce(max, [3, 9, 2]))
square = partial(pow, exp=2)
print(square(5), partial(print, "x", sep="-") is not None, square.keywords, square.args)
class Cell:
    def __init__(self): self.alive = False
    def set_state(self, state): self.alive = state
    revive = partialmethod(set_state, True)
c = Cell(); c.revive()
print(c.alive)

# === operator_module
import operator as op
print(op.add(1, 2), op.mul("a", 3), op.contains([1], 1), op.getitem({"a": 5}, "a"), op.neg(3), op.not_(0), op.concat("a", "b"), op.floordiv(7, 2), op.truth([]), op.index(5), op.xor(5, 3), op.is_(None, None))
people = [{"n": "b", "a": 1}, {"n": "a", "a": 2}]
print(sorted(people, key=op.itemgetter("n")), list(map(op.itemgetter(1, 0), ["ab", "cd"])))
class P:
    def __init__(self, x, y): self.x, self.y = x, y
    def scaled(self, k, plus=0): return self.x * k + plus
ps = [P(2, 1), P(1, 5)]
print([p.x for p in sorted(ps, key=op.attrgetter("x"))], op.attrgetter("x", "y")(ps[0]), op.methodcaller("scaled", 10, plus=1)(ps[1]), op.methodcaller("upper")("abc"))
x = [1]
x = op.iadd(x, [2])
print(x, op.countOf([1, 1, 2], 1), op.indexOf("abc", "c"), op.le(1, 1))

# === heapq
import heapq
h = []
for n in (5, 1, 8, 3, 2):
    heapq.heappush(h, n)
print(h[0], [heapq.heappop(h) for _ in range(3)], heapq.nlargest(2, [4, 9, 1]), heapq.nsmallest(2, "hello", key=ord))
data = [9, 4, 7, 1]
heapq.heapify(data)
print(data, heapq.heappushpop(data, 0), heapq.heapreplace(data, 10), list(heapq.merge([1, 4], [2, 3], [0])), sorted(data))
tasks = []
for priority, name in ((2, "write"), (1, "plan"), (3, "ship"), (1, "think")):
    heapq.heappush(tasks, (priority, len(tasks), name))
while tasks:
    print(heapq.heappop(tasks)[2], end=" ")
print()

# === bisect
import bisect
xs = [1, 3, 3, 7]
print(bisect.bisect(xs, 3), bisect.bisect_left(xs, 3), bisect.bisect_right(xs, 4), bisect.bisect([1, 2], 9))
bisect.insort(xs, 5)
print(xs)
def grade(score, breakpoints=(60, 70, 80, 90), grades="FDCBA"):
    return grades[bisect.bisect(breakpoints, score)]
print([grade(s) for s in (33, 99, 77, 70, 89)])
records = [("a", 1), ("b", 5)]
print(bisect.bisect_left(records, 3, key=lambda r: r[1]))

# === queue_module
from queue import Queue, LifoQueue, PriorityQueue, Empty, Full, SimpleQueue
q = Queue(maxsize=2)
q.put("a"); q.put("b")
print(q.full(), q.qsize(), q.get(), q.get_nowait(), q.empty())
s = LifoQueue()
for n in range(3): s.put(n)
print([s.get() for _ in range(3)])
p = PriorityQueue()
for item in ((2, "b"), (1, "a"), (3, "c")): p.put(item)
print(p.get(), p.qsize())
try:
    q.get_nowait()
except Empty:
    print("empty")
q.put(1); q.put(2)
try:
    q.put_nowait(3)
except Full:
    print("full")
q.task_done()
sq = SimpleQueue(); sq.put(5); print(sq.get())

# === array_module
from array import array
a = array("i", [1, 2, 3])
a.append(4); a.extend([5]); a[0] = 10
print(a, a[1:3], a.itemsize >= 2, a.typecode, a.tolist(), sum(a), a.index(3), len(a.tobytes()) == len(a) * a.itemsize)
try:
    a.append("x")
except TypeError as error:
    print("TypeError")
b = array("d", [1.5]); b.insert(0, 2.5); b.reverse(); print(b, array("u", "hi").tounicode())

# === copy_module
import copy
a = {"x": [1, 2], "y": (3, [4])}
s, d = copy.copy(a), copy.deepcopy(a)
a["x"].append(9); a["y"][1].append(8)
print(s, d)
class Node:
    def __init__(self, v): self.v, self.peers = v, []
n = Node([1]); n.peers.append(n)
m = copy.deepcopy(n)
print(m.peers[0] is m, m.v is not n.v, copy.copy(n).v is n.v)
class Special:
    def __init__(self, x): self.x = x
    def __copy__(self): return Special("copied")
    def __deepcopy__(self, memo): return Special(copy.deepcopy(self.x, memo))
print(copy.copy(Special(1)).x, copy.deepcopy(Special([1])).x)

# === types_module
from types import SimpleNamespace, MappingProxyType, GeneratorType, FunctionType, NoneType
ns = SimpleNamespace(a=1, b="x")
ns.c = [3]
print(ns, ns.a, ns == SimpleNamespace(a=1, b="x", c=[3]))
view = MappingProxyType({"k": 1})
print(view["k"], dict(view), len(view))
try:
    view["k"] = 2
except TypeError as error:
    print(error)
print(isinstance((x for x in []), GeneratorType), isinstance(lambda: 0, FunctionType), isinstance(None, NoneType))

# === pprint_and_reprlib
from pprint import pprint, pformat
import pprint as pp, reprlib
data = {"name": "x" * 30, "values": list(range(30)), "nested": {"b": [1, {"deep": (1, 2)}], "a": {"k": None}}}
pprint(data)
pprint(data, width=40, depth=2)
print(pformat([["a" * 20] * 3, {"z": 1, "a": 2}], indent=2, width=50))
pprint({"b": 1, "a": 2}, sort_dicts=False)
pp.pp([1, 2])
print(reprlib.repr(list(range(100))), reprlib.repr("x" * 100))

# === graphlib
from graphlib import TopologicalSorter, CycleError
graph = {"d": {"b", "c"}, "b": {"a"}, "c": {"a"}}
order = list(TopologicalSorter(graph).static_order())
print(order[0], order[-1], sorted(order))
ts = TopologicalSorter({"x": ["y"], "y": ["z"]})
ts.prepare()
while ts.is_active():
    ready = ts.get_ready()
    print(ready)
    ts.done(*ready)
try:
    list(TopologicalSorter({"a": ["b"], "b": ["a"]}).static_order())
except CycleError as error:
    print(error.args[0])
