Algorithms as textbooks have them.

# === sorting_algorithms
def bubble(a):
    a = a[:]
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a
def quick(a):
    return a if len(a) < 2 else quick([x for x in a[1:] if x < a[0]]) + [a[0]] + quick([x for x in a[1:] if x >= a[0]])
def merge(a):
    if len(a) < 2: return a
    m = len(a) // 2
    l, r, out = merge(a[:m]), merge(a[m:]), []
    while l and r: out.append((l if l[0] <= r[0] else r).pop(0))
    return out + l + r
def insertion(a):
    a = list(a)
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]; j -= 1
        a[j + 1] = key
    return a
def heap(a):
    import heapq
    h = list(a); heapq.heapify(h)
    return [heapq.heappop(h) for _ in range(len(h))]
data = [5, 2, 9, 1, 5, 6, -3]
for f in (bubble, quick, merge, insertion, heap):
    print(f.__name__, f(data), f(data) == sorted(data))

# === binary_search
def search(a, x):
    lo, hi = 0, len(a) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == x: return mid
        if a[mid] < x: lo = mid + 1
        else: hi = mid - 1
    return -1
a = list(range(0, 100, 3))
print(search(a, 42), search(a, 43), [search(a, x) for x in (0, 99)])

# === breadth_first
from collections import deque
graph = {"A": ["B", "C"], "B": ["D"], "C": ["D", "E"], "D": ["F"], "E": ["F"], "F": []}
def bfs(start, goal):
    queue, seen = deque([[start]]), {start}
    while queue:
        path = queue.popleft()
        if path[-1] == goal: return path
        for n in graph[path[-1]]:
            if n not in seen:
                seen.add(n); queue.append(path + [n])
def dfs(node, seen=None):
    seen = seen if seen is not None else []
    seen.append(node)
    for n in graph[node]:
        if n not in seen: dfs(n, seen)
    return seen
print(bfs("A", "F"), dfs("A"), bfs("F", "A"))

# === dijkstra
import heapq
def dijkstra(graph, start):
    dist, prev = {start: 0}, {}
    heap = [(0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]: continue
        for v, w in graph[u].items():
            nd = d + w
            if nd < dist.get(v, float("inf")):
                dist[v], prev[v] = nd, u
                heapq.heappush(heap, (nd, v))
    return dist, prev
g = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}
dist, prev = dijkstra(g, "a")
path, n = ["d"], "d"
while n in prev:
    n = prev[n]; path.insert(0, n)
print(dist, path)

# === topological_and_cycle
def topo(graph):
    order, state = [], {}
    def visit(n):
        if state.get(n) == 1: raise ValueError(f"cycle at {n}")
        if state.get(n) == 2: return
        state[n] = 1
        for m in graph.get(n, ()): visit(m)
        state[n] = 2
        order.append(n)
    for n in graph: visit(n)
    return order[::-1]
print(topo({"shirt": ["tie"], "tie": ["jacket"], "trousers": ["shoes", "belt"], "belt": ["jacket"]}))
try:
    topo({"a": ["b"], "b": ["a"]})
except ValueError as error:
    print(error)

# === union_find_and_mst
class DSU:
    def __init__(self, n): self.p = list(range(n))
    def find(self, x):
        while self.p[x] != x:
            self.p[x] = self.p[self.p[x]]
            x = self.p[x]
        return x
    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b: return False
        self.p[a] = b
        return True
edges = [(4, 0, 1), (8, 1, 2), (7, 2, 3), (9, 3, 4), (10, 4, 5), (2, 5, 6), (1, 6, 7), (8, 0, 7), (11, 1, 7)]
d = DSU(8)
tree = [e for e in sorted(edges) if d.union(e[1], e[2])]
print(tree, sum(e[0] for e in tree))

# === knapsack_and_coins
def knapsack(items, cap):
    best = [0] * (cap + 1)
    for w, v in items:
        for c in range(cap, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[cap]
def coins(amount, denominations):
    ways = [1] + [0] * amount
    for d in denominations:
        for a in range(d, amount + 1): ways[a] += ways[a - d]
    return ways[amount]
def min_coins(amount, ds):
    dp = [0] + [float("inf")] * amount
    for a in range(1, amount + 1):
        dp[a] = min((dp[a - d] + 1 for d in ds if d <= a), default=float("inf"))
    return dp[amount]
print(knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7), coins(100, [1, 5, 10, 25, 50]), min_coins(63, [1, 5, 10, 21, 25]), min_coins(3, [2]))

# === edit_distance_and_lcs
def edit(a, b):
    prev = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        cur = [i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (x != y)))
        prev = cur
    return prev[-1]
def lcs(a, b):
    t = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            t[i + 1][j + 1] = t[i][j] + x if x == y else max(t[i][j + 1], t[i + 1][j], key=len)
    return t[-1][-1]
print(edit("kitten", "sitting"), edit("", "abc"), lcs("AGGTAB", "GXTXAYB"))

# === longest_increasing_and_subarray
import bisect
def lis(a):
    tails = []
    for x in a:
        i = bisect.bisect_left(tails, x)
        tails[i:i + 1] = [x]
    return len(tails)
def kadane(a):
    best = cur = a[0]
    for x in a[1:]:
        cur = max(x, cur + x)
        best = max(best, cur)
    return best
print(lis([10, 9, 2, 5, 3, 7, 101, 18]), kadane([-2, 1, -3, 4, -1, 2, 1, -5, 4]))

# === n_queens
def queens(n, row=0, cols=(), diag=(), anti=()):
    if row == n:
        yield cols
        return
    for c in range(n):
        if c not in cols and row + c not in diag and row - c not in anti:
            yield from queens(n, row + 1, cols + (c,), diag + (row + c,), anti + (row - c,))
solutions = list(queens(6))
print(len(solutions), len(list(queens(7))))
for c in solutions[0]:
    print("." * c + "Q" + "." * (5 - c))

# === sudoku
puzzle = ("53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79")
def solve(s):
    i = s.find(".")
    if i < 0: return s
    r, c = divmod(i, 9)
    used = set(s[r * 9:r * 9 + 9]) | set(s[c::9]) | {s[(r // 3 * 3 + k // 3) * 9 + c // 3 * 3 + k % 3] for k in range(9)}
    for d in "123456789":
        if d not in used and (done := solve(s[:i] + d + s[i + 1:])):
            return done
answer = solve(puzzle)
for r in range(9):
    print(answer[r * 9:r * 9 + 9])

# === game_of_life
from collections import Counter
def step(cells):
    near = Counter((x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return {c for c, n in near.items() if n == 3 or (n == 2 and c in cells)}
glider = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for _ in range(4): glider = step(glider)
for y in range(6):
    print("".join("#" if (x, y) in glider else "." for x in range(6)))

# === spiral_and_rotate
def spiral(m):
    return list(m[0]) + spiral(list(zip(*m[1:]))[::-1]) if m else []
m = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
print(spiral(m), [list(r) for r in zip(*m[::-1])], [r[::-1] for r in m], sum(m[i][i] for i in range(3)))

# === matrix_determinant_and_inverse
from fractions import Fraction
def det(m):
    if len(m) == 1: return m[0][0]
    return sum((-1) ** c * m[0][c] * det([r[:c] + r[c + 1:] for r in m[1:]]) for c in range(len(m)))
def inverse(m):
    n = len(m)
    a = [[Fraction(x) for x in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(m)]
    for i in range(n):
        p = next(r for r in range(i, n) if a[r][i] != 0)
        a[i], a[p] = a[p], a[i]
        a[i] = [x / a[i][i] for x in a[i]]
        for r in range(n):
            if r != i:
                a[r] = [x - a[r][i] * y for x, y in zip(a[r], a[i])]
    return [row[n:] for row in a]
m = [[2, 1, 0], [1, 3, 1], [0, 1, 4]]
print(det(m), [[str(x) for x in row] for row in inverse(m)])

# === recursive_descent_parser
class Parser:
    def __init__(self, text): self.text, self.pos = text.replace(" ", ""), 0
    def peek(self): return self.text[self.pos] if self.pos < len(self.text) else ""
    def take(self): self.pos += 1; return self.text[self.pos - 1]
    def expr(self):
        value = self.term()
        while self.peek() and self.peek() in "+-":
            value = value + self.term() if self.take() == "+" else value - self.term()
        return value
    def term(self):
        value = self.factor()
        while self.peek() and self.peek() in "*/":
            value = value * self.factor() if self.take() == "*" else value / self.factor()
        return value
    def factor(self):
        if self.peek() == "(":
            self.take(); value = self.expr()
            if self.peek() != ")": raise SyntaxError(f"expected ) at {self.pos}")
            self.take()
            return value
        if self.peek() == "-":
            self.take(); return -self.factor()
        start = self.pos
        while self.peek().isdigit() or self.peek() == ".": self.take()
        if start == self.pos: raise SyntaxError(f"expected number at {self.pos}")
        return float(self.text[start:self.pos])
for text in ("1 + 2 * 3", "(1 + 2) * 3", "-4 / (1 - 3)", "2 * (3", "1 + x"):
    try:
        print(text, "=", Parser(text).expr())
    except SyntaxError as error:
        print(text, "->", error)

# === shunting_yard
def to_rpn(text):
    prec, out, stack = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}, [], []
    for t in text.split():
        if t in prec:
            while stack and stack[-1] != "(" and (prec[stack[-1]], t != "^") > (prec[t] - 1 if t != "^" else prec[t], False) and prec[stack[-1]] >= prec[t]:
                out.append(stack.pop())
            stack.append(t)
        elif t == "(": stack.append(t)
        elif t == ")":
            while (top := stack.pop()) != "(": out.append(top)
        else: out.append(t)
    return out + stack[::-1]
print(" ".join(to_rpn("3 + 4 * 2 / ( 1 - 5 )")))

# === json_parser_by_hand
def parse(s):
    def value(i):
        while s[i] in " \n": i += 1
        match s[i]:
            case "{":
                out, i = {}, i + 1
                while s[i] != "}":
                    k, i = value(i)
                    v, i = value(i + 1)
                    out[k] = v
                    i += s[i] == ","
                return out, i + 1
            case "[":
                out, i = [], i + 1
                while s[i] != "]":
                    v, i = value(i)
                    out.append(v)
                    i += s[i] == ","
                return out, i + 1
            case '"':
                j = s.index('"', i + 1)
                return s[i + 1:j], j + 1
            case _:
                j = i
                while j < len(s) and s[j] not in ",]}": j += 1
                word = s[i:j]
                return {"true": True, "false": False, "null": None}.get(word, word) if word.isalpha() else float(word), j
    return value(0)[0]
print(parse('{"a":[1,2,{"b":true}],"c":"text","d":null}'))

# === trie
class Trie:
    def __init__(self): self.root = {}
    def add(self, word):
        node = self.root
        for c in word: node = node.setdefault(c, {})
        node["$"] = True
    def find(self, prefix):
        node = self.root
        for c in prefix:
            if c not in node: return []
            node = node[c]
        def walk(n, path):
            for k in sorted(n):
                if k == "$": yield path
                else: yield from walk(n[k], path + k)
        return list(walk(node, prefix))
t = Trie()
for w in ("car", "card", "care", "cat", "dog"): t.add(w)
print(t.find("car"), t.find("x"), t.find(""))

# === huffman
import heapq
from collections import Counter
def codes(text):
    heap = [(n, i, c) for i, (c, n) in enumerate(sorted(Counter(text).items()))]
    heapq.heapify(heap)
    i = len(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a[0] + b[0], i, (a, b)))
        i += 1
    out = {}
    def walk(node, prefix):
        if isinstance(node[2], str): out[node[2]] = prefix or "0"
        else:
            walk(node[2][0], prefix + "0"); walk(node[2][1], prefix + "1")
    walk(heap[0], "")
    return out
c = codes("abracadabra")
print(sum(len(c[x]) for x in "abracadabra"), sorted(map(len, c.values())))

# === run_length_and_compression
from itertools import groupby
def encode(s): return "".join(f"{len(list(g))}{k}" for k, g in groupby(s))
def decode(s):
    out, n = "", ""
    for c in s:
        if c.isdigit(): n += c
        else: out += c * int(n); n = ""
    return out
print(encode("WWWWBBBWWB"), decode(encode("WWWWBBBWWB")))
def lzw(s):
    table, w, out = {chr(i): i for i in range(256)}, "", []
    for c in s:
        if w + c in table: w += c
        else:
            out.append(table[w]); table[w + c] = len(table); w = c
    return out + [table[w]]
print(lzw("TOBEORNOTTOBEORTOBEORNOT"))

# === maze_solver
maze = """#########
#S..#...#
#.#.#.#.#
#.#...#E#
#########""".splitlines()
start = next((r, c) for r, row in enumerate(maze) for c, x in enumerate(row) if x == "S")
frontier, came = [start], {start: None}
while frontier:
    r, c = here = frontier.pop(0)
    if maze[r][c] == "E": break
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        n = (r + dr, c + dc)
        if maze[n[0]][n[1]] != "#" and n not in came:
            came[n] = here
            frontier.append(n)
steps = 0
while came[here]:
    here = came[here]; steps += 1
print(steps)

# === a_star
import heapq
def a_star(w, h, walls, start, goal):
    est = lambda p: abs(p[0] - goal[0]) + abs(p[1] - goal[1])
    open_, cost = [(est(start), 0, start, [start])], {start: 0}
    while open_:
        _, g, p, path = heapq.heappop(open_)
        if p == goal: return path
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            q = (p[0] + dx, p[1] + dy)
            if 0 <= q[0] < w and 0 <= q[1] < h and q not in walls and g + 1 < cost.get(q, 1e9):
                cost[q] = g + 1
                heapq.heappush(open_, (g + 1 + est(q), g + 1, q, path + [q]))
path = a_star(5, 5, {(1, 0), (1, 1), (1, 2), (3, 4), (3, 3)}, (0, 0), (4, 4))
print(len(path), path[0], path[-1])

# === brackets_and_intervals
def balanced(s):
    stack, pairs = [], {")": "(", "]": "[", "}": "{"}
    for c in s:
        if c in "([{": stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]): return False
    return not stack
def merge(intervals):
    out = []
    for lo, hi in sorted(intervals):
        if out and lo <= out[-1][1]: out[-1] = (out[-1][0], max(out[-1][1], hi))
        else: out.append((lo, hi))
    return out
print([balanced(s) for s in ("([]{})", "([)]", "((", "")], merge([(1, 3), (8, 10), (2, 6), (15, 18), (10, 11)]))

# === two_sum_and_windows
def two_sum(a, t):
    seen = {}
    for i, x in enumerate(a):
        if t - x in seen: return seen[t - x], i
        seen[x] = i
def longest_unique(s):
    last, start, best = {}, 0, 0
    for i, c in enumerate(s):
        if last.get(c, -1) >= start: start = last[c] + 1
        last[c] = i
        best = max(best, i - start + 1)
    return best
def three_sum(a):
    a, out = sorted(a), set()
    for i, x in enumerate(a):
        lo, hi = i + 1, len(a) - 1
        while lo < hi:
            s = x + a[lo] + a[hi]
            if s == 0: out.add((x, a[lo], a[hi]))
            if s <= 0: lo += 1
            else: hi -= 1
    return sorted(out)
print(two_sum([2, 7, 11, 15], 9), longest_unique("abcabcbb"), three_sum([-1, 0, 1, 2, -1, -4]))

# === bank_simulation
import random
from collections import deque
from dataclasses import dataclass
@dataclass
class Customer:
    arrived: int
    needs: int
rng = random.Random(3)
queue, served, waits, busy = deque(), 0, [], 0
for minute in range(60):
    if rng.random() < 0.4: queue.append(Customer(minute, rng.randint(1, 4)))
    if busy: busy -= 1
    elif queue:
        c = queue.popleft()
        waits.append(minute - c.arrived)
        busy = c.needs - 1
        served += 1
print(served, len(queue), max(waits), f"{sum(waits) / len(waits):.2f}")

# === markov_text
import random
from collections import defaultdict
text = "the cat sat on the mat and the dog sat on the cat".split()
model = defaultdict(list)
for a, b in zip(text, text[1:]): model[a].append(b)
rng = random.Random(1)
word, out = "the", ["the"]
for _ in range(8):
    word = rng.choice(model[word] or ["the"])
    out.append(word)
print(" ".join(out), {k: v for k, v in model.items() if len(v) > 1})

# === text_statistics
import re
from collections import Counter
text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief."""
words = re.findall(r"[a-z']+", text.lower())
print(len(words), len(set(words)), Counter(words).most_common(3), f"{sum(map(len, words)) / len(words):.2f}", max(words, key=len))
bigrams = Counter(zip(words, words[1:]))
print(bigrams.most_common(2), [s.strip() for s in text.split(",")][0], text.count("\n"), sum(c in "aeiou" for c in text.lower()))

# === vm_interpreter
def run(program):
    stack, pc, env, out = [], 0, {}, []
    while pc < len(program):
        op, *args = program[pc]
        pc += 1
        match op, args:
            case "push", [v]: stack.append(v)
            case "store", [n]: env[n] = stack.pop()
            case "load", [n]: stack.append(env[n])
            case "add", []: stack.append(stack.pop() + stack.pop())
            case "mul", []: stack.append(stack.pop() * stack.pop())
            case "sub", []:
                b, a = stack.pop(), stack.pop()
                stack.append(a - b)
            case "jnz", [t]:
                if stack.pop(): pc = t
            case "print", []: out.append(stack.pop())
            case _: raise ValueError(f"bad instruction {op}")
    return out
print(run([("push", 1), ("store", "f"), ("push", 5), ("store", "n"), ("load", "f"), ("load", "n"), ("mul",), ("store", "f"),
           ("load", "n"), ("push", 1), ("sub",), ("store", "n"), ("load", "n"), ("jnz", 4), ("load", "f"), ("print",)]))

# === event_system
from collections import defaultdict
class Bus:
    def __init__(self): self._handlers = defaultdict(list)
    def on(self, event):
        def add(f):
            self._handlers[event].append(f)
            return f
        return add
    def emit(self, event, *args, **kw): return [h(*args, **kw) for h in self._handlers.get(event, [])]
bus = Bus()
@bus.on("save")
def log(doc): return f"saved {doc}"
@bus.on("save")
def index(doc): return f"indexed {doc}"
print(bus.emit("save", "a.txt"), bus.emit("delete", "x"), len(bus._handlers["save"]))

# === tic_tac_toe_minimax
from functools import lru_cache
lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
def winner(b): return next((b[i] for i, j, k in lines if b[i] == b[j] == b[k] != " "), None)
@lru_cache(None)
def best(b, player):
    if w := winner(b): return (1 if w == "X" else -1), None
    if " " not in b: return 0, None
    moves = [(best(b[:i] + player + b[i + 1:], "O" if player == "X" else "X")[0], i) for i, c in enumerate(b) if c == " "]
    return max(moves, key=lambda m: (m[0], -m[1])) if player == "X" else min(moves)
print(best("XX OO    ", "X"), best("XOX O    ", "X"), best("X   O   X", "O")[0])

# === pagerank
links = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c"]}
rank = {n: 1 / len(links) for n in links}
for _ in range(50):
    rank = {n: 0.15 / len(links) + 0.85 * sum(rank[m] / len(out) for m, out in links.items() if n in out) for n in links}
for n, r in sorted(rank.items(), key=lambda x: -x[1]):
    print(f"{n} {r:.4f}")

# === kmeans_and_regression
points = [(1, 1), (1.5, 2), (3, 4), (5, 7), (3.5, 5), (4.5, 5), (3.5, 4.5)]
centres = [points[0], points[3]]
for _ in range(10):
    groups = [[], []]
    for p in points:
        groups[min((0, 1), key=lambda i: sum((a - b) ** 2 for a, b in zip(p, centres[i])))].append(p)
    centres = [tuple(sum(c) / len(g) for c in zip(*g)) for g in groups]
print([tuple(round(v, 3) for v in c) for c in centres], [len(g) for g in groups])
xs, ys = [1, 2, 3, 4], [2.1, 3.9, 6.2, 7.8]
mx, my = sum(xs) / 4, sum(ys) / 4
slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
print(f"y = {slope:.3f}x + {my - slope * mx:.3f}")

# === mandelbrot
for y in range(-6, 7, 2):
    row = ""
    for x in range(-16, 8):
        z, c, n = 0, complex(x / 8, y / 6), 0
        while abs(z) < 2 and n < 30:
            z, n = z * z + c, n + 1
        row += " .:-=+*#%@"[n // 4 if n < 30 else 9]
    print(row)

# === change_making_backtracking
def combos(target, options, chosen=()):
    if target == 0:
        yield chosen
    for i, o in enumerate(options):
        if o <= target:
            yield from combos(target - o, options[i:], chosen + (o,))
print(list(combos(7, (2, 3, 5))))
def word_break(s, words):
    if not s: return [[]]
    return [[w, *rest] for w in words if s.startswith(w) for rest in word_break(s[len(w):], words)]
print(word_break("catsanddog", ["cat", "cats", "and", "sand", "dog"]))

# === collatz_and_digits
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(range(1, 1000), key=collatz), [n for n in range(100, 1000) if n == sum(int(d) ** 3 for d in str(n))], sum(n for n in range(1000) if n % 3 == 0 or n % 5 == 0))

# === pascal_and_partitions
row = [1]
for _ in range(6):
    print(" ".join(map(str, row)).center(24).rstrip())
    row = [a + b for a, b in zip([0] + row, row + [0])]
from functools import cache
@cache
def p(n, k): return 1 if n == 0 else 0 if n < 0 or k == 0 else p(n - k, k) + p(n, k - 1)
print([p(n, n) for n in range(12)])
