"""Gate: a function of the host that the entity may call, and nothing else of the host's.

A gate's name, schema and description are the function's own. Look at the refusals: a part that
is not there, a number given as text, an order that is too large. Each comes back as an error
observation that names what was wrong, and the entity's next call is better. The warehouse itself
is bound to the gates beforehand: no call can name another one.
"""

import json
import random
from dataclasses import dataclass, field
from typing import Annotated

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, gate
from circlet.gates import GateArgumentError
from pydantic import Field

PARTS = ("bolt M5", "bolt M6", "bolt M8", "nut M5", "nut M6", "nut M8")
SCRIPT = [
    {"tool_calls": [{"gate": "stock", "args": {"part": "bolts M6"}}]},
    {
        "tool_calls": [
            {"gate": "stock", "args": {"part": "bolt M6"}},
            {"gate": "order", "args": {"part": "bolt M6", "count": "500"}},
        ]
    },
    {"tool_calls": [{"gate": "order", "args": {"part": "bolt M6", "count": 500}}]},
    {"tool_calls": [{"gate": "order", "args": {"part": "bolt M6", "count": 200}}] * 2},
    {"tool_calls": [{"gate": "done", "args": {"answer": {"part": "bolt M6", "ordered": 400}}}]},
]


@dataclass
class Warehouse:
    """The host's own: parts on the shelf, and orders placed."""

    shelf: dict[str, int]
    orders: list[tuple[str, int]] = field(default_factory=list)


@gate(idempotent=True, binds=("warehouse",))
def stock(part: str, *, warehouse: Warehouse) -> int:
    """How many of a part are on the shelf.

    Args:
        part: The part's name, such as "nut M5".
        warehouse: Where to look; bound beforehand.
    """
    if part not in warehouse.shelf:
        raise LookupError(f"there is no part {part!r}; there are {', '.join(warehouse.shelf)}")
    return warehouse.shelf[part]


@gate(binds=("warehouse",))
def order(part: str, count: Annotated[int, Field(ge=1)], *, warehouse: Warehouse) -> str:
    """Order more of a part.

    Args:
        part: The part's name.
        count: How many to order.
        warehouse: Where the order is written down; bound beforehand.
    """
    if count > 200:
        raise ValueError("one order is for 200 pieces at most; make several")
    warehouse.orders.append((part, count))
    return f"order {len(warehouse.orders)} placed"


rng = random.Random(7)
warehouse = Warehouse({part: rng.randrange(40, 400) for part in PARTS})
gates = [stock.bind(warehouse=warehouse), order.bind(warehouse=warehouse)]

head("What the model is told of the gates")
for one in gates:
    say(one.signature)
    say("   ", json.dumps(one.parameters))

head("A call is checked before the function runs")
try:
    gates[1].check((), {"part": "nut M5", "count": 0})
except GateArgumentError as error:
    say("   ", error)

cantrip = Cantrip(
    llm=choose_llm(SCRIPT),
    identity=Identity(system_prompt="You keep a warehouse. Look before you order."),
    circle=Circle(gates=["done", *gates], wards=[{"max_turns": 8}, {"require_done_tool": True}]),
)
cast = cantrip.cast(
    "There must be at least 500 pieces of bolt M6: order what is missing, in as few orders as "
    "can be, of 200 pieces each. Answer with {'part': ..., 'ordered': ...}."
)
head("The entity at work")
show_turns(cast)
say("orders on the host:", warehouse.orders)
show_loom(cast.loom)
