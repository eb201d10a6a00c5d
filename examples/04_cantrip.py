"""Cantrip: a model, an identity and a circle, as a value that is cast again and again.

Every cast makes a new entity. Look at the second one: it finds none of the first one's variables,
says so by an error, and begins from the beginning. A summoned entity is the other way: it lasts,
takes one intent after the other, and its variables add up. All three are in one loom.
"""

import sysconfig
from pathlib import Path

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, CircletError, Identity

COUNT = """
words = [word.strip('.,;:()`').lower() for word in context.split()]
counted = Counter(word for word in words if len(word) > 6 and word.isalpha())
done(counted.most_common(3))
"""
SCRIPT = {
    "^Which": [
        {"code": f"from collections import Counter\n{COUNT}"},
    ],
    "^And which": [
        {"code": "counted.update(context.split())\ndone(counted.most_common(3))"},
        {"code": f"from collections import Counter\n{COUNT}"},
    ],
    "^Learn": [
        {"code": "known = set(context.lower().split())\ndone(len(known))"},
        {
            "code": """
new = set(context.lower().split()) - known
known |= new
done({'new': len(new), 'known': len(known)})
"""
        },
    ],
}
STDLIB = Path(sysconfig.get_path("stdlib"))


def source(name: str) -> str:
    """A module of this Python's standard library, as text."""
    return (STDLIB / name).read_text(encoding="utf-8")


cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You count words with code. Your data is in `context`."),
    circle=Circle(medium="code", gates=["done"], wards=[{"max_turns": 5}]),
)

head("It is a value")
for what, attempt in {
    "another prompt": lambda: setattr(cantrip.identity, "system_prompt", "You write poems."),
    "no model": lambda: Cantrip(circle=cantrip.circle),
    "no intent": lambda: cantrip.cast("  "),
}.items():
    try:
        attempt()
    except CircletError as error:
        say(f"{what:>15}: {error}")

head("Cast once")
first = cantrip.cast(
    "Which three words of more than 6 letters are the most frequent? Answer with pairs.",
    context=source("heapq.py"),
)
show_turns(first)

head("Cast again: a new entity, which knows nothing of the first")
second = cantrip.cast(
    "And which three are they in this text, by the same rule? Answer with pairs.",
    context=source("bisect.py"),
)
show_turns(second)

head("Summoned: one entity, two intents")
with cantrip.summon() as entity:
    show_turns(entity.send("Learn the words of this text; how many?", context=source("heapq.py")))
    show_turns(entity.send("How many new ones has this text?", context=source("bisect.py")))

say()
say("three entities in one loom:", len(cantrip.loom.entities) == 3)
show_loom(cantrip.loom)
