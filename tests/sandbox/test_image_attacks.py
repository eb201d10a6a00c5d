"""Images as an attacker writes them: loading one does nothing that a program couldn't do itself."""

import decimal
import io
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox
from circlet.sandbox.errors import ImageError
from circlet.sandbox.images import envelope, values

_TURN = "<turn 1>"


class Call:
    """One call that an image asks for: a name of the reading machine's, and its arguments."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments

    def __repr__(self) -> str:  # names a test, in each of the processes that collect it
        return f"{self.name}{self.arguments}"


class _Writer(pickle._Pickler):  # type: ignore[misc,name-defined]
    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_call(self, call: Call) -> None:
        self.save("anything")
        self.save(call.name)
        self.write(pickle.STACK_GLOBAL)
        self.save(call.arguments)
        self.write(pickle.REDUCE)
        self.memoize(call)

    dispatch[Call] = save_call


SETTINGS = tuple(
    getattr(decimal.Context(), name)
    for name in ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
)
GENERATORS: dict[str, Any] = {
    "random": random.getstate(),
    "numpy": None,
    "clocks": {"monotonic": 5.0, "process_time": 1.0, "thread_time": 1.0},
}


def crafted(
    *variables: tuple[str, Any],
    source: str = "",
    defined: Any = (),
    methods: Any = (),
    functions: Any = (),
    cells: Any = (),
    kinds: Any = (),
    head: Any = None,
    waiting: Any = (),
) -> bytes:
    """The body of an image with whatever an attacker puts where."""
    sink = io.BytesIO()
    writer = _Writer(sink, 5)
    first = head or {
        "sources": [(_TURN, source, "turn")],
        "generators": GENERATORS,
        "decimal": Call("make_value", _place("Context"), (SETTINGS, (), ())),
    }
    for segment in (
        *(first, list(defined), list(methods), list(functions), list(cells), list(kinds)),
        *(*variables, None, list(waiting), None),
    ):
        writer.dump(segment)
    return sink.getvalue()


def _place(name: str) -> int:
    return next(place for place, (kind, *_) in enumerate(values._ROWS) if kind.__name__ == name)


def enveloped(body: bytes) -> bytes:
    """The body in an envelope that only ``trust`` opens."""
    image = envelope.Image(body, "portable", Limits(), None, (), ("done",), 1, {})
    return envelope.pack(image)


Load = Callable[[bytes], Sandbox]


@pytest.fixture
def load(backend: Any) -> Iterator[Load]:
    """Loads a body as if its author were trusted."""
    boxes: list[Sandbox] = []

    def loaded(body: bytes) -> Sandbox:
        boxes.append(Sandbox.load(enveloped(body), trust=True, backend=backend))
        return boxes[-1]

    yield loaded
    for box in boxes:
        box.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"random": (3, (1, 2), None)},
        {"random": [3]},
        {"clocks": {"monotonic": 5.0}},
        {"clocks": {**GENERATORS["clocks"], "monotonic": float("nan")}},
        {"clocks": {**GENERATORS["clocks"], "monotonic": -1.0}},
        {"clocks": {**GENERATORS["clocks"], "process_time": "1"}},
        {"clocks": {**GENERATORS["clocks"], "thread_time": 1 << 80}},
        {"clocks": 5},
    ],
)
def test_generators_and_clocks_go_on_from_what_they_can_show(
    load: Load, wrong: dict[str, Any]
) -> None:
    """What is no state of a generator, or no moment of a clock, is no image."""
    body = crafted(
        head={
            "sources": [],
            "generators": {**GENERATORS, **wrong},
            "decimal": Call("make_value", _place("Context"), (SETTINGS, (), ())),
        }
    )
    with pytest.raises(ImageError):
        load(body)


def test_an_honest_body_is_loaded(load: Load) -> None:
    """What the attacks are variations of is loaded."""
    function = Call("make_function", 0, (0,), (), "f", "f")
    body = crafted(
        ("f", function),
        source="def f(a=1): return a",
        functions=[(function, ((2,), None, {}, None, (), {}))],
    )
    assert load(body).run("f()").value == 2


@pytest.mark.parametrize(
    "opcodes",
    [
        b"cos\nsystem\n(S'id'\ntR.",
        b"\x80\x05\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R.",
        b"\x80\x02cbuiltins\neval\nq\x00X\x01\x00\x00\x001\x85R.",
        b"(i__main__\nX\n.",
        b"\x80\x05]}\x8c\x01ak\x01sb.",
        b"\x80\x05)\x81.",
        b"\x80\x05\x82\x01.",
        b"P1\n.",
        b"\x80\x05\x97.",
        b"\x80\x05\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x05]\x8c\x01a}s.",
        b"\x80\x05}\x8c\x01aa.",
        b"\x80\x05\x8f(\x8c\x01ae.",
        b"\x80\x05R.",
        b"\x80\x05\x8c\x03len)R.",
        b"\x80\x05K\x05)R.",
        b"",
        b"\x80\x05",
        b"\xff" * 20,
    ],
    ids=repr,
)
def test_pickles_own_ways_are_closed(load: Load, opcodes: bytes) -> None:
    """Names, instances, states, extensions and buffers are instructions that the machine lacks."""
    with pytest.raises(ImageError):
        load(opcodes)


F = "def f(a=1, *, k=2): return a\n"
METHOD = "class A:\n    def m(self): return (lambda: self._v, lambda: super().__init__)\n"
BASE = Call("find", "builtins", "object")
OWN = Call("make_class", "A", "A", (BASE,), None, None, False)


@pytest.mark.parametrize(
    "value",
    [
        Call("find", "os", "system"),
        Call("find", "", "os.posixpath"),
        Call("find", "", "subprocess"),
        Call("find", "builtins", "__import__"),
        Call("find", "builtins", "<own>"),
        Call("find", "builtins", "__build_class__"),
        Call("find", "re", "__dict__"),
        Call("find", "json", "codecs"),
        Call("find", "gates", "missing"),
        Call("find", "others", "anything"),
        Call("read", Call("find", "builtins", "len"), "__self__"),
        Call("read", (), "__class__.__mro__"),
        Call("read", "", "__reduce_ex__"),
        Call("read", Call("find", "builtins", "int"), "__subclasses__"),
        Call("make_function", 0, (0,), (1,), "f", "f"),
        Call("make_function", 0, (1,), (), "A", "A"),
        Call("make_function", 0, (), (), "f", "f"),
        Call("make_function", 1, (0,), (), "f", "f"),
        Call("make_function", 0, ("x",), (), "f", "f"),
        Call("make_class", "A", "A", (Call("find", "builtins", "type"),), None, None, False),
        Call("make_class", "A", "A", (BASE,), ("__getattribute__",), None, False),
        Call("make_enum", "A", "A", (Call("find", "enum", "Enum"),), [("__del__", 1)], None),
        Call("make_enum", "A", "A", (Call("find", "builtins", "type"),), [], None),
        Call("make_named_tuple", "A", "A", ("__class__",)),
        Call("make_named_tuple", "A", "A", ("a b",)),
        Call("make_typed_dict", "A", "A", {"__getattribute__": 1}, True),
        Call("make_object", Call("find", "", "re"), ()),
        Call("make_object", Call("find", "re", "Pattern"), ()),
        Call("make_object", Call("find", "types", "GenericAlias"), ()),
        Call("make_object", Call("find", "struct", "Struct"), ()),
        Call("make_object", Call("find", "builtins", "super"), ()),
        Call("make_object", Call("find", "builtins", "type"), ("X", (), {})),
        Call("make_object", "str", ()),
        Call("make_record", Call("find", "builtins", "type"), ("X", (), {})),
        Call("make_member", Call("find", "builtins", "type"), "X", 1),
        Call("make_value", 10_000, ()),
        Call("make_value", -1, ()),
        Call("fill_object", Call("find", "json", "dumps"), ({"__wrapped__": 1}, {}, ())),
        Call("fill_object", Call("find", "re", "compile"), ({"a": 1}, {}, ())),
        Call("fill_object", OWN, ({"a": 1}, {}, ())),
        Call("fill_function", BASE, ()),
        Call("_load", b""),
        Call("os.system", "id"),
    ],
    ids=lambda value: f"{value.name}{value.arguments}"[:60],
)
def test_no_value_is_made_that_a_program_could_not_make(load: Load, value: Any) -> None:
    """Names, attributes, code and classes are held to a program's own rules, or refused."""
    source = F + "class A: pass\n[n for n in ()]\n"
    with pytest.raises(ImageError):
        load(crafted(("x", value), source=source))


def _function(*closure: int, path: tuple[int, ...] = (0,)) -> Call:
    return Call("make_function", 0, path, closure, "f", "f")


@pytest.mark.parametrize(
    "contents",
    [
        ((1, 2), None, {}, None, (), {}),
        (None, {"z": 1}, {}, None, (), {}),
        (None, None, {"__class__": 1}, None, (), {}),
        (None, None, {}, None, (), {"__class__": 1}),
        (None, None, {}, None, (), {"__code__": 1}),
        (None, None, {}, None, (), {"__isabstractmethod__": []}),
        (1, None, {}, None, (), {}),
    ],
)
def test_a_function_holds_what_its_code_can_take(load: Load, contents: Any) -> None:
    """Defaults fit the arguments, and no special variable comes with a function."""
    function = _function()
    with pytest.raises(ImageError):
        load(crafted(source=F, functions=[(function, contents)]))


def test_the_librarys_functions_and_classes_are_not_filled(load: Load) -> None:
    """Contents are for the program's own functions and classes."""
    dumps = Call("find", "json", "dumps")
    with pytest.raises(ImageError):
        load(crafted(functions=[(dumps, ((1,), None, {}, None, (), {}))]))
    counter = Call("find", "collections", "Counter")
    for contents in ({"a": 1}, {"__getattribute__": 1}):
        with pytest.raises(ImageError):
            load(crafted(methods=[(counter, contents)]))
    with pytest.raises(ImageError):
        load(crafted(kinds=[(counter, {"attributes": {}, "annotations": {"a": 1}})]))


_EMPTY = (None, None, {}, None, (), {})


def _kind_of(base: str) -> Call:
    """A class of the program's own that inherits from a builtin one."""
    return Call("make_class", "Liar", "Liar", (Call("find", "builtins", base),), None, None, False)


@pytest.mark.parametrize("name", ["<type>", "<plain classes>", "<BaseException>", "<attribute>"])
def test_a_text_that_lies_finds_no_guard(load: Load, name: str) -> None:
    """A name is a text of the very type: one that answers for itself is none."""
    liar, lie = _kind_of("str"), Call("make_function", 0, (0,), (), "lie", "lie")
    body = crafted(
        ("found", Call("find", "builtins", Call("make_object", liar, (name,)))),
        source="def lie(self): return True",
        defined=[liar, lie],
        methods=[(liar, {"isidentifier": lie})],
        functions=[(lie, _EMPTY)],
    )
    with pytest.raises(ImageError, match="a str is wanted"):
        load(body)


def test_defaults_that_lie_about_their_number_are_refused(load: Load) -> None:
    """Python writes as many defaults into a frame as there are, whatever their length says."""
    liar = _kind_of("tuple")
    length, function = (Call("make_function", 0, (n,), (), "f", "f") for n in range(2))
    body = crafted(
        ("f", function),
        source="def length(self): return 0\ndef f(a, b=1): return a, b\n",
        defined=[liar, length, function],
        methods=[(liar, {"__len__": length})],
        functions=[
            (length, _EMPTY),
            (function, (Call("make_object", liar, (tuple(range(40)),)), *_EMPTY[1:])),
        ],
    )
    with pytest.raises(ImageError, match="a tuple is wanted"):
        load(body)


def test_a_name_that_passes_for_another_is_set_on_no_class(load: Load) -> None:
    """What is checked is what is set: a text with a hash and an equality of its own is neither."""
    liar, kind = _kind_of("str"), _kind_of("object")
    hashed, equal, read = (Call("make_function", 0, (n,), (), "f", "f") for n in range(3))
    body = crafted(
        ("Kind", kind),
        source="def h(self): return hash('__init__')\n"
        "def e(self, other): return other == '__init__'\ndef g(self, name): return 42\n",
        defined=[liar, kind, hashed, equal, read],
        methods=[(liar, {"__hash__": hashed, "__eq__": equal})],
        functions=[(each, _EMPTY) for each in (hashed, equal, read)],
        kinds=[
            (
                kind,
                {
                    "attributes": {Call("make_object", liar, ("__getattribute__",)): read},
                    "annotations": {},
                },
            )
        ],
    )
    with pytest.raises(ImageError, match="a str is wanted"):
        load(body)


@pytest.mark.parametrize(
    "attributes",
    [
        *[{name: 1} for name in ("__getattribute__", "__del__", "__dict__", "__class__")],
        *[{name: 1} for name in ("__reduce__", "__setstate__", "__instancecheck__")],
        *[{name: 1} for name in ("__mro_entries__", "__bases__", "_abc_impl", "__slots__")],
        {"__dataclass_fields__": {}},
        {"__abstractmethods__": []},
    ],
)
def test_a_class_has_no_attribute_that_a_program_may_not_define(
    load: Load, attributes: dict[str, Any]
) -> None:
    """Special names of a class are those that a class body may bind."""
    with pytest.raises(ImageError):
        load(crafted(("A", OWN), methods=[(OWN, attributes)]))
    with pytest.raises(ImageError):
        load(crafted(kinds=[(OWN, {"attributes": attributes, "annotations": {}})]))


@pytest.mark.parametrize("names", [{"__class__": 1}, {"__dict__": {}}, {"_a": 1, 3: 1}])
def test_an_object_has_no_special_variables(load: Load, names: dict[Any, Any]) -> None:
    """What an object is given goes by the rules for its class."""
    made = Call("make_object", OWN, ())
    with pytest.raises(ImageError):
        load(crafted(("a", made), waiting=[(made, (names, {}, ()))]))


def test_an_enums_own_tables_are_not_written(load: Load) -> None:
    """An enum keeps its members in variables that are not the program's to write."""
    kind = Call("make_enum", "E", "E", (Call("find", "enum", "Enum"),), [("A", 1)], None)
    for name in ("_member_map_", "_value2member_map_", "_member_type_", "A"):
        with pytest.raises(ImageError):
            load(crafted(methods=[(kind, {name: 1})]))


def test_defaults_of_a_named_tuple_are_given_to_its_own_maker(load: Load) -> None:
    """Another function under ``__new__`` is not given defaults."""
    kind = Call("make_named_tuple", "P", "P", ("a",))
    new = Call("make_static", False, Call("find", "json", "dumps"))
    box = load(
        crafted(
            ("P", kind),
            methods=[(kind, {"__new__": new})],
            kinds=[(kind, {"attributes": {}, "annotations": {}, "defaults": {"a": 1}})],
        )
    )
    assert box.run("import json\njson.dumps([1])").value == "[1]"
    own = Call("make_class", "A", "A", (Call("find", "builtins", "tuple"),), None, None, False)
    with pytest.raises(ImageError):
        load(crafted(kinds=[(own, {"attributes": {}, "annotations": {}, "defaults": {}})]))


def test_what_the_policy_keeps_in_closures_is_not_taken_over(load: Load) -> None:
    """A method's check of its first argument is made anew: its answer is no part of an image."""
    source = (
        "class A:\n    def m(self):\n        def inner(): return self._paths\n"
        "        return inner, self._paths\n"
    )
    getter = Call("make_value", _place("attrgetter"), ("real",))
    code = (0, 0, 0)
    functions = [
        Call("make_function", 0, code, cells, "inner", "inner") for cells in ((1, 2), (2, 1))
    ]
    box = load(
        crafted(
            *zip("fg", functions, strict=True),
            source=source,
            defined=functions,
            cells=[(1, (True,)), (2, (getter,))],
        )
    )
    for name in "fg":
        assert box.run(f"{name}()").status == "error"


def test_the_class_behind_super_is_the_programs_own(load: Load) -> None:
    """``super()`` starts from a class of the program's, whatever an image says."""
    source = "class A:\n    def m(self): return super().__init__\n"
    function = Call("make_function", 0, (0, 0), (1,), "m", "m")
    counter = Call("find", "collections", "Counter")
    with pytest.raises(ImageError):
        load(crafted(source=source, defined=[function], cells=[(1, (counter,))]))


def test_a_cell_is_never_a_value(load: Load) -> None:
    """A cell can't be had: it would let a program write what its own code relies on."""
    source = "def f():\n    n = 1\n    def g(): return n\n    return g\n"
    function = Call("make_function", 0, (0, 0), (1,), "g", "g")
    box = load(crafted(("g", function), source=source, defined=[function], cells=[(1, (5,))]))
    assert box.run("g()").value == 5
    assert box.run("g.__closure__").status == "error"


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return ().__reduce__",
        "import os",
        "def f(): return f.__globals__",
        "global done\ndef f():\n    global done\n    done = 1",
        "def f(",
    ],
)
def test_sources_go_through_the_policy_again(load: Load, source: str) -> None:
    """What a program may not write is not compiled from an image either."""
    if source == "import os":  # which runs, and finds nothing, for a turn's own lines do not run
        assert load(crafted(("x", 1), source=source))["x"] == 1
        return
    with pytest.raises(ImageError, match="refused"):
        load(crafted(source=source))


@pytest.mark.parametrize(
    "name", ["__builtins__", "__name__", "<own>", "super", "done", "a b", 3, "__import__"]
)
def test_a_variable_has_a_name_that_it_can_have(load: Load, name: Any) -> None:
    """Nothing that code relies on is bound by an image."""
    with pytest.raises(ImageError):
        load(crafted((name, 1)))


def test_code_that_loading_runs_has_its_time_and_no_gates(
    backend: Any,
) -> None:
    """A key's own ``__hash__`` runs while it is loaded: it can call no gate."""
    heard: list[Any] = []
    source = "class K:\n    def __hash__(self): return tell(1) or 1\n    def __init__(self): pass\n"
    kind = Call("make_class", "K", "K", (BASE,), None, None, False)
    method = Call("make_function", 0, (0, 0), (), "__hash__", "K.__hash__")
    made = Call("make_object", kind, ())
    body = crafted(("tried", {made: 1}), source=source, methods=[(kind, {"__hash__": method})])
    with pytest.raises(ImageError, match="gates can be called while a turn runs"):
        Sandbox.load(enveloped(body), trust=True, backend=backend, gates={"tell": heard.append})
    assert heard == []


def test_a_deep_or_huge_claim_costs_no_host(load: Load) -> None:
    """Lengths that aren't there, and memory that isn't either, are errors."""
    for opcodes in (
        b"\x80\x05\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x05j\xff\xff\xff\xff.",
        b"\x80\x05\x8b\xff\xff\xff\x7f.",
    ):
        with pytest.raises(ImageError):
            load(opcodes)


def test_the_host_reads_nothing_of_a_state(tmp_path: Path) -> None:
    """To the host a state is bytes: those of a bomb are loaded by a worker alone, which refuses."""
    touched = tmp_path / "touched"
    bomb = pickle.dumps(_Touches(str(touched)))
    with pytest.raises(ImageError):
        Sandbox.load(enveloped(bomb), trust=True)
    assert not touched.exists()


class _Touches:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (self.path, "w")
