"""The public faces as a user's type checker sees them; ``make lint`` checks this file."""

from circlet import (
    AsyncSandbox,
    Cantrip,
    Cast,
    Circle,
    Folding,
    Identity,
    Limits,
    Loom,
    Sandbox,
    ScriptedLLM,
    gate,
)


@gate
def lookup(city: str) -> dict[str, str]:
    """Look a city up."""
    return {"city": city}


def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello, {name}"


spell = Cantrip(
    llm=ScriptedLLM([{"code": "done(1)"}]),
    identity=Identity(system_prompt="You answer."),
    circle=Circle(
        medium="code",
        gates=["done", lookup, greet, {"name": "read", "root": "."}],
        wards=[{"max_turns": 3}, {"max_depth": 0}],
        packages=["numpy"],
    ),
    folding=Folding(after_turns=8),
    loom=Loom(),
)
cast: Cast = spell.cast("go", context=[1, 2, 3])
fork: Cast = spell.fork(cast.thread, from_turn=1, intent="on")
forks: list[Cast] = spell.fork(cast.entity_id, 1, "on", n=3)
with Sandbox(gates={"greet": greet}, limits=Limits(eval_ms=1_000), modules=("re",)) as box:
    box["x"] = 1
    text: str = str(box.run("x"))


async def main() -> None:
    """The same for code that awaits."""
    async with AsyncSandbox() as session:
        await session.set("x", 1)
    async with spell.summon() as entity:
        await entity.asend("go")
