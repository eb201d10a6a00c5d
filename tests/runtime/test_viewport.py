"""The viewport: however large the data, what of it reaches a model is bounded and says so."""

from circlet import Cantrip, Circle, Folding, Gate, ScriptedLLM
from hypothesis import given, settings
from hypothesis import strategies as st

LIMIT = 20_000
MARGIN = 300
"""Room for a reply's own words around a text, such as ``Error:``."""

sizes = st.integers(0, 400_000)
shapes = st.sampled_from(
    [
        "'x' * {}",
        "['x' * 50] * ({} // 50)",
        "{{n: 'x' for n in range({} // 10)}}",
        "b'x' * {}",
        "('x' * 100 + chr(10)) * ({} // 100)",
        "10 ** {}",
    ]
)


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def spell(medium, replies, *gates, **fields):
    circle = Circle(
        medium=medium,
        gates=["done", "call_entity", "call_entity_batch", *gates],
        wards=[{"max_turns": 6, "max_depth": 1}],
    )
    return Cantrip(llm=ScriptedLLM(replies), circle=circle, **fields)


def longest(model, after=0):
    """Length of the longest text that the model was told, but for those before."""
    return max(
        len(message.content or "")
        for request in model.requests
        for message in request.messages[after:]
    )


@settings(max_examples=25, deadline=None)
@given(shapes, sizes)
def test_values_prints_and_errors_of_code(shape, size):
    """Viewport: whatever a program shows, prints, raises or hands to done."""
    value = shape.format(min(size, 4_000) if "**" in shape else size)
    script = [
        run(f"x = {value}\nx"),
        run("print(str(x)[:300_000])" if "10 **" not in shape else "print(len(str(x)))"),
        run("raise ValueError(x)"),
        run("[x, x, x]"),
        run("done(x)"),
    ]
    cantrip = spell("code", script)
    cantrip.cast("go")
    assert longest(cantrip.llm, after=2) <= LIMIT + MARGIN


@settings(max_examples=15, deadline=None)
@given(sizes, st.sampled_from(["conversation", "code"]), st.booleans())
def test_results_of_gates(size, medium, fails):
    """Viewport: what a gate answers or fails with, alone or among several in one utterance."""

    def big():
        if fails:
            raise ValueError("e" * size)
        return "x" * size

    twice = {"tool_calls": [{"gate": "big", "args": {}}] * 2}
    script = [call("big"), twice, call("done", answer="ok")]
    cantrip = spell(medium, script, Gate("big", big))
    cantrip.cast("go")
    assert longest(cantrip.llm, after=2) <= LIMIT + MARGIN
    last = cantrip.llm.requests[2].messages[-2:]
    assert sum(len(message.content) for message in last) <= LIMIT + MARGIN


@settings(max_examples=15, deadline=None)
@given(sizes, st.sampled_from(["conversation", "code"]))
def test_contexts(size, medium):
    """Viewport: of data that comes with an intent, first or later, in either medium."""
    cantrip = spell(medium, [call("done", answer="ok")] * 2)
    with cantrip.summon() as entity:
        entity.send("one", context="x" * size)
        entity.send("two", context=["y" * 10] * (size // 10))
    assert longest(cantrip.llm) <= LIMIT + MARGIN


@settings(max_examples=10, deadline=None)
@given(sizes, st.integers(1, 30))
def test_what_children_come_to(size, count):
    """Viewport: results, failures, partial results and summaries of children."""
    child = ScriptedLLM(
        {
            "well": [run(f"done('x' * {size})")],
            "badly": [run(f"print('x' * {size})")] * 2,
            "never": [],
        }
    )
    requests = ", ".join(
        f"{{'intent': {intent!r}, 'wards': [{{'max_turns': 1}}]}}"
        for intent in ["well", "badly", "never"]
    )
    script = [
        run(f"r = call_entity_batch([{requests}])\nr * {count}"),
        run("print(r[0], r[1].partial, r[1].summary, r[2])"),
        run("call_entity('never')"),
        run("done(1)"),
    ]
    cantrip = spell("code", script, child_llm=child)
    cast = cantrip.cast("go")
    assert cast.result == 1
    assert longest(cantrip.llm, after=2) <= LIMIT + MARGIN


@settings(max_examples=10, deadline=None)
@given(sizes, st.integers(1, 200))
def test_folds_and_summaries(size, names):
    """Viewport: what stands for folded turns, and what is left of a cast that a ward ended."""
    bound = "\n".join(f"name_{n} = {n}" for n in range(names))
    noisy = run(f"{bound}\nprint('x' * {size})\nraise ValueError('y' * {size})")
    cantrip = spell("code", [noisy] * 6, folding=Folding(after_turns=2))
    cast = cantrip.cast("go")
    assert cast.truncated
    assert len(cast.summary) < 1_000
    folds = cast.loom.entities[cast.entity_id].folds
    assert len(folds) == 4
    assert all(len(fold.text) <= 6_000 for fold in folds)
