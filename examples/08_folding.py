"""Folding: old turns are told in one message, and stay whole in the loom.

A long run outgrows any model's window. Here it folds after four turns, far too soon, so that there
is something to see. Look at what the model is sent at its last turn (`[Folded: turns 1-...]`
in place of the turns), and at the entity that reads an old turn back, word for word, through the
object `loom` that every program finds.
"""

import random

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Folding, Identity, ScriptedLLM

CITIES = ("Bergen", "Cork", "Porto", "Riga", "Turku")


def month(city: str) -> str:
    """A seeded month of one city: a line a day, some of them unreadable."""
    rng = random.Random(city)
    days = [f"{city} 2024-04-{day:02}: {rng.gauss(9, 4):.1f} C" for day in range(1, 31)]
    days[rng.randrange(30)] = f"{city} sensor down"
    return "\n".join(days)


def look_at(city: str) -> str:
    """The program with which the script looks at a city."""
    return f"""
lines = [line for line in context.splitlines() if line.startswith({city!r})]
means[{city!r}] = mean(float(line.split()[-2]) for line in lines if line.endswith('C'))
print({city!r}, round(means[{city!r}], 2), '- unreadable:', [x for x in lines if x[-1] != 'C'])
"""


SCRIPT = [
    {"code": "means = {}\nprint(mean([1, 2]), context[:40])"},
    {"code": "from statistics import mean\n" + look_at(CITIES[0]).strip("\n")},
    *({"code": look_at(city)} for city in CITIES[1:]),
    {
        "code": """
print('Sensor failures, from the turns themselves:')
for hit in loom.search('sensor down'):
    if hit.where == 'printed':
        print('turn', hit.turn, 'printed', loom.printed(hit.turn).strip())
print('The first program was', repr(loom.turn(1).code))
"""
    },
    {"code": "done({city: round(value, 2) for city, value in means.items()})"},
]

llm = choose_llm(SCRIPT)
cantrip = Cantrip(
    llm=llm,
    identity=Identity(system_prompt="You look at one city a turn."),
    circle=Circle(medium="code", gates=["done"], wards=[{"max_turns": 15}]),
    folding=Folding(after_turns=4, keep_turns=2),
)
cast = cantrip.cast(
    "What was the mean temperature of each city? Look at one city a turn and tell of what is "
    "unreadable. At last read back what you saw, and answer with a dict of city to mean.",
    context="\n".join(map(month, CITIES)),
)
show_turns(cast)

head("What the model was sent, query by query")
if isinstance(llm, ScriptedLLM):
    for number, request in enumerate(llm.requests, 1):
        contents = [message.content or "" for message in request.messages]
        folded = [text.splitlines()[0] for text in contents if text.startswith("[Folded")]
        size = sum(len(str(message.neutral())) for message in request.messages)
        say(f"query {number}: {len(request.messages):>2} messages, {size:>6,} characters", *folded)

head("What stood for the folded turns the last time")
folds = cast.loom.entities[cast.entity_id].folds
say(folds[-1].text if folds else "nothing: it never came to so many turns")
show_loom(cast.loom)
