"""The gate itself: declaring, binding, configuring, calling."""

from __future__ import annotations

import copy
import json
import threading
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import circlet.gates
import pytest
from circlet.gates import Gate, GateArgumentError, GateFault, GateTimeout, gate
from circlet.sandbox.errors import CircletError
from pydantic import BaseModel


@gate
def lookup(city: str, year: int = 2000) -> dict[str, Any]:
    """Find a city's figures.

    Everything that is known of it.

    Args:
        city: Name of the city.
        year: Which year's figures; of those
            that there are.
    """
    return {"city": city, "year": year}


def test_a_plain_decorator_takes_everything_from_the_function():
    """Name, description, schema and signature come from the signature and the docstring."""
    assert lookup.name == "lookup"
    assert lookup.description == "Find a city's figures.\n\nEverything that is known of it."
    assert lookup.summary == "Find a city's figures."
    assert lookup.signature == "lookup(city: str, year: int = 2000) -> dict[str, Any]"
    assert lookup.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city."},
            "year": {
                "type": "integer",
                "default": 2000,
                "description": "Which year's figures; of those that there are.",
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_decorator_with_settings():
    """The decorator's arguments become the gate's settings (PROD-5, the default timeout)."""

    @gate(name="find", ephemeral=True, idempotent=True, timeout_s=5)
    def function() -> None: ...

    assert (function.name, function.ephemeral, function.idempotent) == ("find", True, True)
    assert (function.timeout_s, lookup.timeout_s) == (5, 60)


def test_a_decorated_function_can_still_be_called():
    """Decorating a function does not take it away from the host's own code."""
    assert lookup("Rome", year=7) == {"city": "Rome", "year": 7}


@pytest.mark.parametrize("name", ["", "a b", "class", "_hidden", "1st", "a-b", None, 3])
def test_a_name_that_a_program_could_not_call_is_refused(name):
    """A gate's name is an identifier, no keyword, and doesn't begin with an underscore."""
    with pytest.raises(GateFault, match="can't be named") as caught:
        Gate(name=name, function=None)
    assert "\n" not in str(caught.value)


def test_a_function_without_a_usable_name_needs_one():
    """A lambda is a gate once it is given a name."""
    with pytest.raises(GateFault, match="name="):
        gate(lambda: 1)
    assert gate(name="one")(lambda: 1).name == "one"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "5", True])
def test_a_timeout_is_a_positive_number(timeout):
    """A timeout that could never be kept is refused when the gate is declared."""
    with pytest.raises(GateFault, match="timeout_s"):
        lookup.configure(timeout_s=timeout)


def test_sync_and_async_functions_answer_alike(call):
    """A gate's function may be sync or async."""

    @gate
    async def later(value: int) -> int:
        return value + 1

    assert call(later, 1) == 2
    assert call(lookup, "Rome")["city"] == "Rome"


def test_a_callable_that_answers_with_an_awaitable(call):
    """What a sync callable returns to be awaited is awaited."""

    async def inner() -> int:
        return 3

    assert call(Gate("three", lambda: inner())) == 3


def test_what_the_function_raises_reaches_the_caller(call):
    """A gate's own error goes on as it is; who calls makes it an observation (CIRCLE-5)."""

    @gate
    def fail() -> None:
        raise ZeroDivisionError("my own words")

    with pytest.raises(ZeroDivisionError, match="my own words"):
        call(fail)


def test_a_timeout_error_of_the_function_is_not_the_gate_s(call):
    """Only the gate's own bound gives GateTimeout."""

    @gate
    def fail() -> None:
        raise TimeoutError("the database's")

    with pytest.raises(TimeoutError, match="the database's") as caught:
        call(fail)
    assert not isinstance(caught.value, GateTimeout)


def test_a_sync_function_runs_in_a_thread_of_its_own(call):
    """A sync gate doesn't hold up the event loop."""
    threads = []
    call(gate(name="where")(lambda: threads.append(threading.current_thread())))
    assert threads != [threading.current_thread()]


def test_a_sync_gate_that_gives_no_answer_is_left_behind(call):
    """A timeout ends the call though its thread can't be stopped; it names gate and seconds."""
    release = threading.Event()
    waiting = gate(name="waiting", timeout_s=0.05)(lambda: release.wait(60))
    try:
        with pytest.raises(GateTimeout, match=r"^waiting: no answer within 0.05 s$") as caught:
            call(waiting)
    finally:
        release.set()
    assert isinstance(caught.value, TimeoutError)
    assert isinstance(caught.value, CircletError)


def test_an_async_gate_that_gives_no_answer_is_cancelled(call):
    """A timeout cancels an async function, whose clean-up runs."""
    ended = []

    @gate(timeout_s=0.05)
    async def waiting() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    with pytest.raises(GateTimeout):
        call(waiting)
    assert ended == [True]


def test_cancelling_from_outside_does_not_wait_for_the_thread():
    """Cancelling takes effect while a sync function still runs."""
    release = threading.Event()

    async def main() -> bool:
        started = anyio.Event()

        def function() -> None:
            anyio.from_thread.run_sync(started.set)
            release.wait(60)

        waiting = gate(name="waiting")(function)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waiting.call, {})
            await started.wait()
            tasks.cancel_scope.cancel()
        return release.is_set()

    try:
        assert anyio.run(main) is False
    finally:
        release.set()


def test_a_gate_without_parameters_takes_anything(call):
    """A gate that declares no parameters takes any arguments, by position and by name."""
    anything = Gate("anything", lambda *args, **kwargs: (args, kwargs))
    assert call(anything, 1, (2,), x={3}) == ((1, (2,)), {"x": {3}})
    assert anything.check((1,), {"x": 2}) == {"0": 1, "x": 2}
    assert anything.signature == "anything(*args, **kwargs) -> Any"
    assert call(anything, *range(12))[0] == tuple(range(12))


@pytest.mark.parametrize("name", ["0", "a b", 3])
def test_a_keyword_that_is_no_identifier_is_refused(name):
    """A keyword can't be taken for an argument's position."""
    with pytest.raises(GateArgumentError, match="can't be the name"):
        Gate("anything", print).check((), {name: 1})


def test_a_gate_described_by_a_schema_alone(call):
    """With a JSON schema by hand, names are checked and values are the function's to check."""
    schema = {"type": "object", "properties": {"path": {}, "n": {}}, "required": ["path"]}
    described = Gate("described", lambda **kwargs: kwargs, parameters=schema)
    assert call(described, "x", n=1) == {"path": "x", "n": 1}
    assert described.signature == "described(path, n=...) -> Any"
    with pytest.raises(GateArgumentError, match="missing required argument: path"):
        described.check((), {})
    with pytest.raises(GateArgumentError, match="unknown argument 'm'"):
        described.check(("x",), {"m": 1})


def test_a_gate_without_a_function_says_so(call):
    """A gate that only describes something can't be called."""
    with pytest.raises(GateFault, match="shape: the gate has no function"):
        call(Gate("shape", None))


@gate(binds=("table", "limit"))
def query(key: str, *, table: dict[str, int], limit: int = 10) -> int:
    """Look a key up."""
    return min(table[key], limit)


def test_dependencies_are_no_arguments(call):
    """What is bound is not in the schema or signature, and no call can give it (CIRCLE-10)."""
    assert query.signature == "query(key: str) -> int"
    assert list(query.parameters["properties"]) == ["key"]
    with pytest.raises(GateArgumentError, match="unknown argument 'table'"):
        query.check(("a",), {"table": {}})


def test_a_bound_dependency_cannot_be_replaced_through_open_keywords():
    """A function with **kwargs doesn't let a call overwrite what was bound."""

    @gate(binds=("root",))
    def loose(path: str, *, root: str, **more: Any) -> str:
        return root

    bound = loose.bind(root="/safe")
    assert bound.check(("x",), {"extra": 1}) == {"path": "x", "extra": 1}
    with pytest.raises(GateArgumentError, match="unknown argument 'root'"):
        bound.check(("x",), {"root": "/"})


def test_binding_gives_a_new_gate(call):
    """A gate is a value: binding leaves the one it was called on as it was."""
    bound = query.bind(table={"a": 50})
    assert (query.needs, bound.needs) == (("table",), ())
    assert call(bound, "a") == 10
    assert call(bound.bind(limit=99), "a") == 50
    assert bound("a") == 10


def test_a_gate_with_an_unmet_need_builds_and_fails_when_called(call):
    """A missing dependency is an error of the call, with a way to mend it (CIRCLE-10)."""
    with pytest.raises(GateFault, match=r"query: no table is configured.*query\.bind\(table="):
        call(query, "a")
    with pytest.raises(GateFault, match="no table is configured"):
        query("a")


def test_binding_what_there_is_no_place_for():
    """An unknown dependency is refused with a list of what there is."""
    with pytest.raises(GateFault, match="can't be given 'db'; what it takes is table, limit"):
        query.bind(db=1)
    with pytest.raises(GateFault, match="it takes nothing"):
        lookup.bind(db=1)


def test_a_dependency_of_the_wrong_type():
    """Dependencies are checked against the function's annotations when they are bound."""
    with pytest.raises(GateFault, match="query: limit must be an integer, got 'x'"):
        query.bind(limit="x")


def test_binds_must_name_parameters():
    """A declaration that binds what the function doesn't have is refused."""
    with pytest.raises(GateFault, match="binds names 'db'"):
        gate(binds=("db",))(lookup.function)


def test_a_need_declared_by_hand(call):
    """A gate built by hand may need something too; it reaches the function by name."""
    by_hand = Gate("by_hand", lambda *, spawn: spawn, needs=("spawn",))
    assert call(by_hand.bind(spawn=7)) == 7


def test_configuring_gives_a_new_gate():
    """Settings are replaced on a copy; the signature follows the name."""
    other = lookup.configure(name="find", ephemeral=True, timeout_s=None)
    assert other.signature.startswith("find(city: str")
    assert (other.ephemeral, other.timeout_s) == (True, None)
    assert (lookup.name, lookup.ephemeral) == ("lookup", False)
    with pytest.raises(GateArgumentError, match=r"^find: missing"):
        other.check((), {})


@pytest.mark.parametrize("settings", [{"speed": 1}, {"ephemeral": "yes"}, {"name": "not it"}])
def test_a_setting_that_will_not_do_is_refused(settings):
    """An unknown setting, or one of the wrong type, is one clear line."""
    with pytest.raises(GateFault):
        lookup.configure(**settings)


def test_a_gate_is_a_field_of_a_pydantic_model():
    """A model that holds gates keeps the very gates it was given."""

    class Holder(BaseModel):
        gates: tuple[Gate, ...]

    assert Holder(gates=(lookup,)).gates[0] is lookup


def test_the_public_face():
    """The names that the package offers are pinned."""
    assert set(circlet.gates.__all__) == {
        "STANDARD",
        "ChildRequest",
        "Gate",
        "GateArgumentError",
        "GateFault",
        "GateTimeout",
        "UnknownGate",
        "call_entity",
        "call_entity_batch",
        "done",
        "echo",
        "fetch",
        "find",
        "gate",
        "list_dir",
        "parse_batch",
        "parse_request",
        "read",
        "search",
        "write",
    }
    assert all(hasattr(circlet.gates, name) for name in circlet.gates.__all__)


def test_sync_gates_have_so_many_threads_and_no_more(monkeypatch):
    """A call that timed out holds its thread until the function ends; the next one says so."""
    monkeypatch.setattr("circlet.gates.threads.MAX_THREADS", 2)
    release = threading.Event()
    begun, ended = [], threading.Semaphore(0)

    def function() -> str:
        begun.append(True)
        release.wait(60)
        ended.release()
        return "free"

    waiting = gate(name="waiting", timeout_s=0.05)(function)

    async def main() -> list[str]:
        told = []
        for _ in range(4):
            with pytest.raises(GateTimeout) as caught:
                await waiting.call({})
            told.append(str(caught.value))
        release.set()
        await anyio.to_thread.run_sync(lambda: [ended.acquire() for _ in range(2)])
        told.append(await waiting.configure(timeout_s=60).call({}))
        return told

    try:
        told = anyio.run(main)
    finally:
        release.set()
    assert told[:2] == ["waiting: no answer within 0.05 s"] * 2
    assert all(text.startswith("waiting: no thread was free within 0.05 s") for text in told[2:4])
    assert told[4:] == ["free"]
    assert len(begun) == 3


def test_a_schema_is_frozen():
    """A gate is a value: nobody changes a standard one's schema through a circle."""
    parameters = circlet.gates.STANDARD["done"].parameters
    for change in (
        lambda: parameters.update(more=1),
        lambda: parameters["properties"].__setitem__("hacked", {}),
        lambda: parameters["required"].append("hacked"),
    ):
        with pytest.raises(TypeError, match="frozen"):
            change()
    assert "hacked" not in str(parameters)
    copied = copy.deepcopy(parameters)
    copied["properties"]["mine"] = {}
    assert json.loads(json.dumps(parameters)) == parameters != copied


def test_a_container_that_is_bound_is_the_callers_own(call):
    """CIRCLE-10: what a gate adds to a list that it was bound to, its host finds there."""

    @gate(binds=("box", "names"))
    def put(value: int, box: list[int], names: dict[str, int]) -> None:
        """Keep a value."""
        box.append(value)
        names["last"] = value

    mine, names = [], {}
    call(put.bind(box=mine, names=names), 3)
    assert (mine, names) == ([3], {"last": 3})
