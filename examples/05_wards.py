"""Wards: the circle's restrictions, which nothing the entity writes gets round.

Look at the program that takes too long: it is stopped after half a second, its variables are kept,
and the next one is quicker. At the cast that ends without an answer: truncated, not terminated,
with a summary of what it did. And at the child's wards: whatever it asks for, it is never less
restricted than its parent.
"""

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity
from circlet.runtime.wards import Wards

SLOW = """
limit, primes, n = 300_000, [2], 3
while n < limit:
    if all(n % prime for prime in primes):
        primes.append(n)
    n += 2
"""
SIEVE = """
print(len(primes), 'primes found so far, up to', n)
sieve = bytearray([1]) * limit
sieve[:2] = b'\\0\\0'
for p in range(2, int(limit**0.5) + 1):
    if sieve[p]:
        sieve[p * p :: p] = bytes(len(range(p * p, limit, p)))
primes = [n for n in range(limit) if sieve[n]]
done(max((b - a, a, b) for a, b in zip(primes, primes[1:])))
"""
SCRIPT = {
    "gap": [{"code": SLOW}, {"code": SIEVE}],
    "^Find two": [
        {"code": "print([n for n in range(1, 20) if n**3 % 10 == 7])"},
        {"code": "print(max(len(str(n**3)) for n in range(1, 10_000)))"},
        {"code": "print(sum(1 for n in range(1, 10_000) if str(n**3) == str(n**3)[::-1]))"},
    ],
}

cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You find numbers with code."),
    circle=Circle(
        medium="code",
        gates=["done"],
        wards=[{"max_turns": 3}, {"max_eval_ms": 500}, {"max_memory_mb": 256}],
    ),
)

head("A program that would take too long")
cast = cantrip.cast(
    "Which is the largest gap between neighbouring primes below 300,000? "
    "Answer with (gap, first, second)."
)
show_turns(cast)

head("An entity that doesn't come to an end")
lost = cantrip.cast("Find two whole numbers above 0 whose cubes add up to a cube.")
show_turns(lost)
say("terminated:", lost.terminated, " truncated:", lost.truncated, " reason:", lost.reason)

head("A child's wards: the tighter of what its parent has and what it asks for")
parent = Wards.of([{"max_turns": 10}, {"max_depth": 2}, {"max_eval_ms": 1000}])
asked = [{"max_turns": 100}, {"max_eval_ms": 200}, {"require_done_tool": True}]
child = parent.for_child(asked)
for name in ("max_turns", "max_depth", "max_eval_ms", "require_done_tool"):
    wanted = next((ward[name] for ward in asked if name in ward), "-")
    has, gets = getattr(parent, name), getattr(child, name)
    say(f"{name:>18}: parent {has!s:>5}, asked {wanted!s:>5}, child {gets!s:>5}")

show_loom(cantrip.loom)
