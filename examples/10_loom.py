"""Loom: the append-only tree of all that happened.

One entity works; then two forks go on from its second turn in another direction. Look at what a
fork costs: its past is lived again from the record, no gate is called a second time, and the
original stays as it is. Nothing can be taken back, only judged: a reward is a record of its own.
And what leaves the house has no keys in it: the export masks them.
"""

import random

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, CircletError, Identity, gate

SCRIPT = {
    "^What is the typical": [
        {"code": "values = [float(line) for line in measure(24).splitlines()]"},
        {
            "code": """
lines = measure(24).splitlines()
values = [float(line) for line in lines if line != 'no signal']
print(len(values), 'of', len(lines), 'are numbers; from', min(values), 'to', max(values))
"""
        },
        {"code": "done(round(sum(values) / len(values), 2))"},
    ],
    "^Take the median": [{"code": "from statistics import median\ndone(round(median(values), 2))"}],
}
calls = 0


@gate
def measure(count: int) -> str:
    """Ask the sensor for some measurements, a line each."""
    global calls
    calls += 1
    rng = random.Random(calls)
    values = [f"{rng.gauss(20, 0.5):.2f}" for _ in range(count - 2)]
    return "\n".join([*values[:9], "no signal", *values[9:], "985.00"])


cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You measure. The sensor's key is sk-proj-0123456789abcdef."),
    circle=Circle(medium="code", gates=["done", measure], wards=[{"max_turns": 6}]),
)
loom = cantrip.loom

head("The original")
cast = cantrip.cast("What is the typical temperature? Take 24 measurements; answer with a number.")
show_turns(cast)

head("Two forks of its second turn, at the same time")
before = calls
forks = cantrip.fork(
    cast.entity_id,
    from_turn=min(2, cast.turns),
    intent="Take the median, for one value is far off.",
    n=2,
)
show_turns(forks[0])
say("the sensor was asked again:", calls - before, "times")
say("forked by:", loom.entities[forks[0].entity_id].forked_from)
say("the original still says:", loom.entities[cast.entity_id].result)

head("Judged, not changed")
last = cast.thread[-1]
loom.annotate_reward(last.id, 0.2, by="a reader")
loom.annotate_reward(forks[0].thread[-1].id, 0.9, by="a reader")
try:
    loom.delete_turn(last.id)
except CircletError as error:
    say("delete_turn:", error)
for thread in loom.threads():
    say(
        "thread:",
        " -> ".join(str(turn.turn) for turn in thread),
        " result",
        thread.result,
        " reward",
        thread[-1].reward,
    )

head("The export")
text = loom.export()
say(len(text.splitlines()), "lines of JSON; the key in it:", "sk-proj-0123456789abcdef" in text)
say(next(line for line in text.splitlines() if '"kind":"identity"' in line))
show_loom(loom)
