"""Context variables: those of the library can't be come upon."""

import pytest
from circlet.sandbox import Sandbox

CONTEXTS = {
    "a copy": "context = copy_context()",
    "one that a loop is handed": """
class Fake:
    def get_debug(self): return False
    def call_soon(self, callback, *args, context=None): seen.append(context)
seen = []
future = asyncio.Future(loop=Fake())
future.add_done_callback(print)
future.set_result(1)
context = seen[0]
""",
}
WAYS = [
    *("list(context)", "{**context}", "context.items()", "context.keys()", "context.values()"),
    *("iter(context)", "context.__iter__()", "dict(context)", "a, *b = context", "max(context)"),
    *("list(Mapping.items(context))", "list(Mapping.keys(context))", "[*context]"),
    *("Context.__iter__(context)", "Context.items(context)", "set().union(context)"),
]


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_context_cannot_be_gone_through(box: Sandbox, kind: str, way: str) -> None:
    """Whose variable holds what C code takes unlooked at, is never seen."""
    run = box.run(
        "import asyncio, decimal\nfrom collections.abc import Mapping\n"
        "from contextvars import Context, copy_context\ndecimal.getcontext()\n"
        f"{CONTEXTS[kind]}\n{way}"
    )
    assert run.error is not None
    assert run.error.type in ("TypeError", "AttributeError"), str(run)


def test_a_context_tells_of_variables_that_one_has(box: Sandbox) -> None:
    """All else that contexts are for works."""
    run = box.run(
        "from contextvars import ContextVar, copy_context\n"
        "var = ContextVar('var', default=0)\ncontext = copy_context()\n"
        "def work():\n    var.set(5)\n    return var.get()\n"
        "inside = context.run(work)\n"
        "[inside, var.get(), context[var], context.get(var), var in context]"
    )
    assert run.value == [5, 0, 5, 5, True]
