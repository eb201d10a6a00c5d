"""The circle: its gates, its wards, and what is refused when it is built."""

import pytest
from circlet import Cantrip, Circle, CircletError, Gate, ScriptedLLM, gate
from circlet.runtime.errors import CantripError, WardError

TURNS = [{"max_turns": 3}]


def cantrip(**circle):
    return Cantrip(llm=ScriptedLLM([]), circle=Circle(**{"wards": TURNS, **circle}))


def test_gates_in_every_form():
    """CIRCLE-10: a gate is a name, a mapping with what it needs, a gate, or a function."""

    def double(n: int) -> int:
        """Twice a number."""
        return 2 * n

    circle = Circle(
        gates=[
            "done",
            {"name": "read", "root": "/", "timeout_s": 5},
            gate(name="twice")(double),
            double,
        ]
    )
    assert [one.name for one in circle.gates] == ["done", "read", "twice", "double"]
    assert circle.gates[1].timeout_s == 5
    assert circle.medium == "conversation"


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        (["done", "red"], "unknown gate 'red'"),
        (["done", "done"], "two gates are named 'done'"),
        (["done", {"root": "/"}], "a gate given as a mapping needs a name"),
        (["done", 7], "a gate is a name, a mapping, a Gate or a function, not 7"),
        (["done", {"name": "echo", "root": "/"}], "echo: it can't be given 'root'"),
        ("done", "gates are a list"),
        (3, "gates are a list"),
        ({"name": "done"}, "gates are a list"),
    ],
)
def test_bad_gates(gates, told):
    """CIRCLE-10: what is wrong with a gate is told when the circle is built, in one line."""
    with pytest.raises(CircletError, match=told) as raised:
        Circle(gates=gates, wards=TURNS)
    assert "\n" not in str(raised.value)


def test_bad_ward():
    """CIRCLE-6: an unknown ward is told when the circle is built."""
    with pytest.raises(WardError, match="unknown ward 'max_turn'"):
        Circle(gates=["done"], wards=[{"max_turn": 3}])


def test_unknown_field():
    """CIRCLE-10: a field that a circle doesn't have is named, in one line."""
    with pytest.raises(CantripError, match="circle: tools") as raised:
        Circle(gates=["done"], wards=TURNS, tools=[])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("medium", "told"),
    [
        (["code", "conversation"], "circle must declare exactly one medium"),
        ([], "circle must declare exactly one medium"),
        (None, "circle must declare a medium"),
        ("basic", "unknown medium 'basic'; there are: conversation, code"),
    ],
)
def test_bad_media(medium, told):
    """MEDIUM-1: exactly one medium, and one that there is."""
    with pytest.raises(CantripError, match=told):
        cantrip(medium=medium, gates=["done"])


@pytest.mark.parametrize(
    "name", ["python", "context", "loom", "Truncated", "ChildFailed", "print", "len", "super"]
)
def test_names_that_programs_have(name):
    """MEDIUM-2: a gate of a code circle can't take the place of what every program finds."""
    taken = Gate(name, lambda: 1)
    with pytest.raises(CantripError, match=f"can't be named '{name}'"):
        cantrip(medium="code", gates=["done", taken])
    assert cantrip(gates=["done", taken]).circle.gates[1] is taken


def test_a_child_can_t_have_them_either(deep):
    """MEDIUM-2: a registry's gate with such a name is refused where a child asks for it."""
    ask = 'try:\n    call_entity("x", gates=["python"])\nexcept Exception as e:\n    done(str(e))'
    spell = deep([{"code": ask}], registry=[Gate("python", lambda: 1)])
    assert "can't be named 'python'" in spell.cast("go").result


def test_done_must_end_the_work():
    """CIRCLE-1: a gate called done that doesn't end the loop is refused."""
    with pytest.raises(CantripError, match="the gate done must end the work"):
        cantrip(gates=[Gate("done", lambda answer: answer)])


def test_another_gate_may_end_the_work(chat):
    """LOOP-3: a gate that is declared final ends the loop as done does."""

    @gate(final=True)
    def submit(score: int) -> int:
        """Hand in a score."""
        return score + 1

    spell = chat([{"tool_calls": [{"gate": "submit", "args": {"score": 41}}]}], submit)
    assert spell.cast("go").result == 42


def test_frozen():
    """CANTRIP-2: a circle is a value and can't be changed."""
    circle = Circle(gates=["done"], wards=TURNS)
    with pytest.raises(ValueError, match="frozen"):
        circle.gates = ()
    assert circle == Circle(gates=["done"], wards=TURNS)


@pytest.mark.parametrize("result", [type("X", (), {}), 5, "no such type"])
def test_a_result_type_that_can_not_be_checked(result):
    """CIRCLE-10: a circle is complete once it is built; its result type is checked then."""
    with pytest.raises(CantripError, match="result is no type that can be checked"):
        Circle(gates=["done"], wards=[{"max_turns": 2}], result=result)
