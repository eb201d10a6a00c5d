"""A needle, and an aggregation, in ten megabytes of text.

No model reads ten megabytes, and none has to: the log is the variable `context`, and the entity
looks at its size, at a few lines, and then works on it with code. Look at the first turn, which
prints all of it: the observation shows the beginning and the end and says how much was left out.
The model is sent a few thousand characters for ten million.
"""

import random
from collections import Counter

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, ScriptedLLM

SIZE = 10_000_000
SERVICES = ("auth", "billing", "cart", "mail", "search", "stock")
NEEDLE = "billing WARN refund 81-40937 approved twice by operator kestrel"
SCRIPT = [
    {"code": "print(context)"},
    {
        "code": r"""
import re
from collections import Counter
lines = context.splitlines()
print(f'{len(lines):,} lines; their words:', Counter(len(line.split()) for line in lines))
errors = Counter(re.match(r'\S+ (\w+) ERROR', line)[1] for line in lines)
"""
    },
    {
        "code": r"""
errors = Counter(re.findall(r'^\S+ (\w+) ERROR', context, re.MULTILINE))
slowest = {}
for service, ms in re.findall(r'^\S+ (\w+) INFO .* took (\d+) ms$', context, re.MULTILINE):
    slowest[service] = max(slowest.get(service, 0), int(ms))
odd = [line for line in lines if ' WARN ' in line]
print(errors.most_common())
print(odd)
"""
    },
    {
        "code": r"""
number = re.search(r'refund (\S+) approved twice by operator (\w+)', odd[0])
assert sum(errors.values()) == context.count(' ERROR ')
done({'refund': number[1], 'operator': number[2], 'errors': dict(errors), 'slowest': slowest})
"""
    },
]


def log() -> str:
    """A seeded log of ten megabytes with one line that is like no other."""
    rng = random.Random(13)
    lines, size = [], 0
    while size < SIZE:
        service, ms = rng.choice(SERVICES), int(rng.expovariate(1 / 40))
        what = f"ERROR timeout after {ms} ms" if rng.random() < 0.01 else f"INFO GET took {ms} ms"
        lines.append(f"2024-04-01T{size % 24:02}:{size % 60:02}:{ms % 60:02} {service} {what}")
        size += len(lines[-1]) + 1
    place = rng.randrange(len(lines))
    lines[place] = f"{lines[place].partition(' ')[0]} {NEEDLE}"
    return "\n".join(lines)


text = log()
llm = choose_llm(SCRIPT)
cantrip = Cantrip(
    llm=llm,
    identity=Identity(system_prompt="You read logs with code, never by eye."),
    circle=Circle(
        medium="code",
        gates=["done"],
        wards=[{"max_turns": 8}, {"max_eval_ms": 20_000}, {"max_output_chars": 600}],
    ),
)
cast = cantrip.cast(
    "Somewhere in this log is one warning, of a refund. Which refund is it, and who approved it? "
    "And how many errors has each service, and how long did its slowest GET take, in ms? Answer "
    "with {'refund': ..., 'operator': ..., 'errors': {...}, 'slowest': {...}}.",
    context=text,
)
show_turns(cast)

head("Against what the host counts")
counted = Counter(line.split()[1] for line in text.splitlines() if " ERROR " in line)
answer = cast.result if isinstance(cast.result, dict) else {}
say("the needle:", answer.get("refund") == "81-40937" and answer.get("operator") == "kestrel")
say("the errors:", answer.get("errors") == counted)
if isinstance(llm, ScriptedLLM):
    sent = sum(len(m.content or "") for m in llm.requests[-1].messages)
    say(f"the log has {len(text):,} characters; the longest query had {sent:,}")
show_loom(cast.loom)
