"""Composition: map and reduce by `call_entity_batch`.

The root cuts its data up and gives each part to a child, a whole new entity that sees its intent
and its part and nothing else. Look at the batch's answers: four numbers, and one `Truncated`, for
that child stumbled over a damaged line and had one turn only. The root loses nothing by it: it
gives this one part out again with more turns. In the loom the children's turns hang under the turn
that spawned them, which is why that turn has two parts.
"""

import random

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, Loom

SHOPS = ("Aarhus", "Ghent", "Lyon", "Malmo", "Trieste")
TASK = "Add up the amounts of these orders; each line is date, number, amount. Answer in cents."


def orders(shop: str) -> list[str]:
    """A seeded year of one shop's orders; one shop has a damaged line."""
    rng = random.Random(shop)
    lines = [
        f"2024-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02},{number},{rng.randrange(999999)}"
        for number in range(20_000)
    ]
    if shop == "Lyon":
        lines[12_345] = "2024-06-17,12345,n/a"
    return lines


SCRIPT = {
    "^What did": [
        {"code": "print({shop: (len(lines), lines[0]) for shop, lines in context.items()})"},
        {
            "code": f"""
TASK = {TASK!r}
shops = list(context)
answers = call_entity_batch([
    {{'intent': TASK, 'context': context[shop], 'wards': [{{'max_turns': 1}}]}} for shop in shops
])
totals = dict(zip(shops, answers))
for shop, total in totals.items():
    print(shop, total)
"""
        },
        {
            "code": """
for shop, total in totals.items():
    if isinstance(total, (Truncated, ChildFailed)):
        totals[shop] = call_entity(TASK, context=context[shop], wards=[{'max_turns': 5}])
print(totals)
done({'total': sum(totals.values()), 'best': max(totals, key=totals.get)})
"""
        },
    ],
    "^Add up": [
        {"code": "done(sum(int(line.split(',')[2]) for line in context))"},
        {
            "code": """
amounts = [line.split(',')[2] for line in context]
print('left out:', [amount for amount in amounts if not amount.isdigit()])
done(sum(int(amount) for amount in amounts if amount.isdigit()))
"""
        },
    ],
}

loom = Loom()
cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You hand out like parts, and check what comes back."),
    circle=Circle(
        medium="code",
        gates=["done", "call_entity", "call_entity_batch"],
        wards=[{"max_turns": 8}, {"max_depth": 1}, {"max_entities": 20}],
    ),
    loom=loom,
)
data = {shop: orders(shop) for shop in SHOPS}
cast = cantrip.cast(
    "What did all shops sell together, in cents, and which sold most? `context` has each shop's "
    "orders: give each to a child of its own. Answer with {'total': int, 'best': shop}.",
    context=data,
)
show_turns(cast)

head("The answer, against one computed without entities")
amounts = {shop: [line.split(",")[2] for line in lines] for shop, lines in data.items()}
totals = {shop: sum(int(one) for one in amounts[shop] if one.isdigit()) for shop in SHOPS}
expected = {"total": sum(totals.values()), "best": max(totals, key=lambda shop: totals[shop])}
say("the same:", cast.result == expected)
say("entities:", cast.entities, " utterances:", cast.tree_turns, " deepest level:", cast.max_depth)
show_loom(loom)
