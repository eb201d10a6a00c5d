"""Circle: the language, plus the gates, minus the wards. What is not in it can't be done.

Look at the circles that are refused before anything runs, each with what is missing; and at the
entity that reaches for what its circle lacks (a file of its own, a gate that nobody gave it, a
path outside the gate's root): it is told what there is instead, and finds another way.
"""

import sysconfig

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, CircletError, Identity

SCRIPT = [
    {"code": "text = open('this.py').read()"},
    {"code": "write('zen.txt', read('this.py'))"},
    {"code": "text = read('../this.py')"},
    {
        "code": """
text = read('this.py')
print(len(text), 'characters')
print(text[:120])
"""
    },
    {
        "code": """
from string import ascii_lowercase as low
turned = str.maketrans(low + low.upper(), low[13:] + low[:13] + (low[13:] + low[:13]).upper())
zen = text.split('\"\"\"')[1].translate(turned)
better = [line for line in zen.splitlines() if 'better' in line]
print(better[0])
done(len(better))
"""
    },
]

llm = choose_llm(SCRIPT)

head("Circles that are refused")
wards = [{"max_turns": 6}]
for what, fields in {
    "no way to be done": {"gates": ["read"], "wards": wards},
    "nothing that ends it": {"gates": ["done"]},
    "two media": {"medium": ["code", "conversation"], "gates": ["done"], "wards": wards},
    "a gate that isn't there": {"gates": ["done", "raed"], "wards": wards},
    "a ward that isn't there": {"gates": ["done"], "wards": [{"max_turn": 6}]},
}.items():
    try:
        Cantrip(llm=llm, circle=Circle(**fields))
    except CircletError as error:
        say(f"{what:>25}: {error}")

circle = Circle(
    medium="code",
    gates=["done", {"name": "read", "root": sysconfig.get_path("stdlib")}],
    wards=[{"max_turns": 6}, {"modules": ["string", "re"]}],
)
head("A circle that will do")
say("language: Python, with the modules", ", ".join(circle.wards.modules or ()))
say("gates:", "; ".join(gate.signature for gate in circle.gates))
say("wards:", "at most", circle.wards.max_turns, "turns, and no other modules")

cantrip = Cantrip(
    llm=llm,
    identity=Identity(system_prompt="You answer questions about files with code."),
    circle=circle,
)
cast = cantrip.cast(
    "The module this.py of Python's standard library holds the Zen of Python, turned by 13 "
    "letters. How many of its lines have the word 'better' in them? Answer with the number."
)
head("The entity at work")
show_turns(cast)
show_loom(cast.loom)
