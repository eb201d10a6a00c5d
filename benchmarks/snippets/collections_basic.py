Lists, tuples, dicts, sets, comprehensions, sorting.

# === list_methods
a = [3, 1, 2]
a.append(4); a.extend([5, 6]); a.insert(0, 0); a.remove(3)
print(a, a.pop(), a.pop(0), a.index(2), a.count(1), len(a))
a.sort(reverse=True); print(a)
a.reverse(); print(a, a.copy() == a, a * 2, [0] * 3 + [1], 2 in a)
a.clear(); print(a, [1, 2] < [1, 3], [1] < [1, 0], min([[2], [1, 5]]))

# === list_aliasing
grid = [[0] * 3] * 2
grid[0][0] = 1
good = [[0] * 3 for _ in range(2)]
good[0][0] = 1
print(grid, good)
def modify(xs, ys):
    xs.append(99)
    ys = ys + [99]
a, b = [1], [1]
modify(a, b)
print(a, b, a[:] is a)

# === list_errors
for attempt in (lambda: [1][5], lambda: [].pop(), lambda: [1].remove(2), lambda: [1].index(3), lambda: [1]["a"], lambda: [1] + (2,)):
    try:
        attempt()
    except Exception as error:
        print(type(error).__name__, error)

# === tuples
t = (1, "two", 3.0)
single, empty = (1,), ()
print(t, single, empty, t + single, t * 2, t[1:], t.index("two"), t.count(1), len(empty), 1 in t)
print((1, 2) < (1, 3), hash((1, 2)) == hash((1, 2)), tuple("abc"), tuple([1]) == (1,), t == (1, "two", 3))
try:
    t[0] = 5
except TypeError as error:
    print(error)
nested = ([1], 2)
nested[0].append(3)
print(nested, max((3, "c"), (3, "b")))

# === dict_methods
d = {"a": 1, "b": 2}
d["c"] = 3
d.update(d=4, a=10)
print(d, d.get("z"), d.get("z", 0), d.setdefault("e", []), d.pop("b"), d.pop("zz", None), list(d), len(d))
print(list(d.keys()), list(d.values()), list(d.items()), "a" in d, d.popitem(), d | {"x": 9}, d == dict(d))
d |= [("y", 1)]
print(d, dict(zip("ab", [1, 2])), dict([("k", "v")]), dict.fromkeys("ab", 0), {**d, "a": 0}, list(reversed(d)))
print(d.keys() & {"a", "q"}, sorted(d.keys() | {"q"}), d.items() >= {("a", 10)})

# === dict_iteration
prices = {"apple": 3, "pear": 2, "fig": 7}
for name, price in sorted(prices.items(), key=lambda kv: -kv[1]):
    print(f"{name:6}{price}")
inverted = {v: k for k, v in prices.items()}
print(inverted, max(prices, key=prices.get), sum(prices.values()), {k: v for k, v in prices.items() if v > 2})
try:
    for key in prices:
        prices[key + "!"] = 1
except RuntimeError as error:
    print(error)

# === dict_nested
inventory = {}
for category, item, count in [("fruit", "apple", 3), ("veg", "leek", 1), ("fruit", "pear", 2), ("fruit", "apple", 4)]:
    inventory.setdefault(category, {}).setdefault(item, 0)
    inventory[category][item] += count
print(inventory, inventory["fruit"]["apple"], inventory.get("nuts", {}).get("almond", 0))

# === dict_errors
try:
    {}["missing"]
except KeyError as error:
    print(repr(error), error.args)
try:
    {[1]: 2}
except TypeError as error:
    print(error)

# === word_count
text = "the cat and the dog and the bird"
counts = {}
for word in text.split():
    counts[word] = counts.get(word, 0) + 1
for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
    print(word, n)

# === sets
a, b = {1, 2, 3, 4}, {3, 4, 5}
print(a | b, a & b, a - b, a ^ b, a <= b, {3} < a, a.isdisjoint({9}), a.union([7], [8]))
a.add(10); a.discard(1); a.discard(99); a.update([2, 11])
print(sorted(a), len(a), 10 in a, set(), {*[1, 1, 2]}, frozenset([1, 2]) == {1, 2}, {frozenset([1]): "x"})
a &= {2, 3}
a -= {3}
print(a, a.copy().pop(), sorted(set("mississippi")), a.symmetric_difference({2, 5}))
try:
    a.remove(77)
except KeyError as error:
    print("KeyError", error)

# === list_comprehensions
matrix = [[1, 2, 3], [4, 5, 6]]
print([n for row in matrix for n in row], [[row[i] for row in matrix] for i in range(3)], [n ** 2 if n % 2 else -n for n in range(6)])
print([(x, y) for x in "ab" for y in range(2)], [w.upper() for w in "a bb ccc".split() if len(w) > 1])
print([[i * j for j in range(1, 4)] for i in range(1, 4)], [a + b for a, b in zip([1, 2], [3, 4])])

# === dict_and_set_comprehensions
print({n: n ** 2 for n in range(5)}, {len(w) for w in ["a", "bb", "cc"]}, {k.upper(): v for k, v in {"a": 1}.items()})
print({i: [j for j in range(i)] for i in range(3)}, {(i + j) % 3 for i in range(4) for j in range(4)})

# === generator_expressions
gen = (n * n for n in range(5))
print(next(gen), next(gen), list(gen), list(gen))
print(sum(1 for c in "hello" if c in "aeiou"), any(n > 3 for n in [1, 5]), tuple(x for x in "ab"), sorted({x % 3 for x in range(9)}))

# === sorting_with_keys
people = [("Ann", 31, "NY"), ("Bob", 25, "LA"), ("Cid", 31, "LA"), ("Dee", 25, "NY")]
print(sorted(people, key=lambda p: p[1]))
print(sorted(people, key=lambda p: (-p[1], p[0])))
from operator import itemgetter
print(sorted(people, key=itemgetter(2, 1), reverse=True))
people.sort(key=lambda p: p[2])
print([p[0] for p in people], sorted([True, 3, 2.5, False]), sorted({"b": 1, "a": 2}), sorted("Hello", key=str.lower))
try:
    sorted([1, "a"])
except TypeError as error:
    print(error)

# === sort_stability_and_cmp
from functools import cmp_to_key
def compare(a, b):
    return (a > b) - (a < b) if len(a) == len(b) else len(a) - len(b)
print(sorted(["ccc", "a", "bb", "aa", "b"], key=cmp_to_key(compare)))
rows = [(1, "b"), (0, "z"), (1, "a"), (0, "y")]
print(sorted(rows, key=lambda r: r[0]), max(rows), min(rows, key=lambda r: r[1]))

# === star_in_displays
a, b = [1, 2], (3, 4)
print([*a, *b, 5], (*a,), {*a, *b}, {**{"x": 1}, "y": 2, **{"x": 3}}, [*range(3), *"ab"])
def f(): return 1, *a
print(f())
for x, *y in [(1, 2, 3), "ab"]:
    print(x, y)

# === zip_transpose_enumerate
matrix = [(1, 2, 3), (4, 5, 6)]
print(list(zip(*matrix)), dict(enumerate("ab")), [i for i, x in enumerate([5, 0, 5]) if x])
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as error:
    print(error)

# === stack_and_queue
from collections import deque
stack = []
for token in "3 4 + 2 *".split():
    if token.isdigit():
        stack.append(int(token))
    else:
        b, a = stack.pop(), stack.pop()
        stack.append(a + b if token == "+" else a * b)
print(stack)
queue = deque(["a", "b"])
queue.append("c")
print(queue.popleft(), queue, len(queue))

# === unpack_errors
for attempt in ("a, b = 1, 2, 3", "a, b = [1]", "a, *b, c = [1]", "a, b = 5"):
    try:
        if attempt == "a, b = 1, 2, 3":
            a, b = 1, 2, 3
        elif attempt == "a, b = [1]":
            a, b = [1]
        elif attempt == "a, *b, c = [1]":
            a, *b, c = [1]
        else:
            a, b = 5
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)

# === group_and_aggregate
sales = [{"region": "north", "amount": 10, "product": "x"}, {"region": "south", "amount": 5, "product": "y"},
         {"region": "north", "amount": 7, "product": "y"}, {"region": "east", "amount": 1, "product": "x"}]
by_region = {}
for sale in sales:
    by_region.setdefault(sale["region"], []).append(sale["amount"])
summary = {region: {"n": len(v), "sum": sum(v), "mean": sum(v) / len(v)} for region, v in sorted(by_region.items())}
for region, stats in summary.items():
    print(f"{region:<6} n={stats['n']} sum={stats['sum']:>3} mean={stats['mean']:.2f}")

# === deep_structures
tree = {"value": 1, "children": [{"value": 2, "children": []}, {"value": 3, "children": [{"value": 4, "children": []}]}]}
def total(node):
    return node["value"] + sum(map(total, node["children"]))
def depth(node):
    return 1 + max((depth(c) for c in node["children"]), default=0)
print(total(tree), depth(tree), tree["children"][1]["children"][0]["value"])
a = [1]
a.append(a)
print(a, a[1][1][0])
