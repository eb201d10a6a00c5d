"""Best of n: one past, eight ways to go on from it, and a verifier that says which is best.

An entity looks at durations as people write them. Its second turn is then forked eight times in
one call, and each fork is told to write a function that reads them. Look at what that costs: the
archive is asked once, and the past is lived again once, however many go on from it. Look at the
judgement, too: a verifier runs each function on cases that no fork has seen, and a command checks
the same answer from outside; both stand in the loom as rewards. One fork fails, for its provider
does: it says so in its place, and takes nothing from the others.
"""

import json
import random
import sys

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, Loom, Sandbox, gate

SCRIPT = [
    {"code": "rows = archive()\nprint(len(rows), rows[:4])"},
    {
        "code": """
import re
shapes = sorted({re.sub(r'\\d+', '9', row) for row in rows})
print(shapes)
done(shapes)
"""
    },
]
"""What the model says that looks at the data."""


def attempt(body: str) -> dict[str, str]:
    """A reply that hands in a function of this body."""
    source = f"import re\n\ndef seconds(text):\n    {body}\n"
    return {"code": f"source = {source!r}\nprint(len(rows), 'rows')\ndone(source)"}


UNITS = "dict(h=3600, m=60, s=1)"
ATTEMPTS = [
    attempt("return int(text.rstrip('s'))"),
    attempt("return sum(int(part[:-1]) for part in text.split())"),
    attempt(f"return sum(int(part[:-1]) * {UNITS}[part[-1]] for part in text.split())"),
    attempt(
        f"return sum(int(n) * {UNITS}[unit] for n, unit in re.findall(r'(\\d+)\\s*([hms])', text))"
    ),
    {"error": {"status": 400, "message": "the provider is out of order"}},
    attempt("hours, minutes = text.split(':')\n    return int(hours) * 3600 + int(minutes) * 60"),
    attempt(
        "clock = re.fullmatch(r'(\\d+):(\\d\\d)', text)\n"
        "    if clock:\n"
        "        return int(clock[1]) * 3600 + int(clock[2]) * 60\n"
        f"    parts = re.findall(r'(\\d+)\\s*([hms])', text)\n"
        f"    return sum(int(n) * {UNITS}[unit] for n, unit in parts)"
    ),
    attempt("return 0"),
]
"""What it says in each fork: some are right about some of the rows, one about all of them."""
asked = 0


@gate
def archive() -> list[str]:
    """Durations as people have written them."""
    global asked
    asked += 1
    rng = random.Random(14)
    shapes = ("{h}h {m}m", "{m}m {s}s", "{s}s", "{h}:{m:02}", "{h} h", "{m} m")
    return [
        rng.choice(shapes).format(h=rng.randrange(24), m=rng.randrange(60), s=rng.randrange(60))
        for _ in range(500)
    ]


CASES = {"45s": 45, "2m 5s": 125, "1h 30m": 5400, "7 h": 25200, "12 m": 720, "3:07": 11220}
"""What a right function makes of rows that no fork has seen."""
TASK = "Write seconds(text), which reads such a duration; answer with its source."
SHORT = [
    sys.executable,
    "-c",
    "import ast, json, sys\n"
    "source = json.load(sys.stdin)\n"
    "ast.parse(source)\n"
    "sys.exit(len(source.splitlines()) > 8)",
]
"""A command as a verifier: the answer is its standard input, its exit code says if it will do."""


def reads_durations(source: str) -> float:
    """It reads durations of every shape."""
    with Sandbox() as box:
        box.run(source)
        wrong = 0
        for text, seconds in CASES.items():
            run = box.run(f"seconds({text!r})")
            wrong += run.status != "ok" or run.value != seconds
    # What is above 0 passes: one that is right about everything, and no other.
    return -wrong / len(CASES) if wrong else 1.0


loom = Loom()
cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You write small, exact functions. Look at the data first."),
    circle=Circle(medium="code", gates=["done", archive], wards=[{"max_turns": 6}]),
    loom=loom,
)

head("The original looks at the data")
cast = cantrip.cast("Which shapes do the durations in the archive have? Answer with them.")
show_turns(cast)

head("Eight forks of its last turn, in one call")
forks = cantrip.fork(cast.entity_id, cast.turns, TASK, llm=choose_llm(ATTEMPTS), n=8)
there = [fork for fork in forks if fork.error is None]
for fork in forks:
    say(f"   {fork.forked_from.strategy}: {fork.error or 'done'}")
say("the archive was asked", asked, "time; each fork still had its rows")

head("Judged: by a command, then by a function, whose rewards count")
for fork in there:
    is_short = loom.judge(fork, SHORT, criterion="at most eight lines").passed
    is_right = loom.judge(fork, reads_durations).passed
    say(f"   short: {is_short}  right: {is_right}")

head("Ranked within their group: one task, one past")
group = next(group for group in loom.groups() if group.intent == TASK)
by_name = {attempt.name: attempt for attempt in group.judged}
for name, rank in sorted(group.ranks.items(), key=lambda item: item[1]):
    reward, advantage = by_name[name].reward, group.advantages[name]
    say(f"   rank {rank}  reward {reward:5.2f}  advantage {advantage:5.2f}")
say(f"   {group.passes} of {len(by_name)} pass; pass@4 is {group.pass_at_k(4):.2f}")
best = min(group.ranks, key=group.ranks.__getitem__)
say(by_name[best].result.rstrip())

head("The group as data for training, without keys")
line = json.loads(loom.export(format="grpo").splitlines()[0])
say("   keys:", ", ".join(line), "  completions:", len(line["completions"]))
show_loom(loom)
