"""Wards: what they may say, and that composing them never loosens one."""

import pytest
from circlet.runtime.errors import WardError
from circlet.runtime.wards import Wards, tighter
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = {
    "max_turns": st.integers(1, 50),
    "max_depth": st.integers(0, 8),
    "timeout_s": st.floats(0.1, 1e6),
    "max_eval_ms": st.integers(1, 60_000),
    "max_memory_mb": st.integers(8, 4096),
    "max_output_chars": st.integers(200, 50_000),
    "max_tokens": st.integers(0, 10_000),
    "max_entities": st.integers(0, 100),
    "max_batch": st.integers(1, 200),
    "max_concurrent": st.integers(1, 64),
    "max_errors_in_a_row": st.integers(1, 9),
}
MODULES = ("re", "json", "math", "ast")
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        **NUMBERS,
        "require_done_tool": st.booleans(),
        "modules": st.lists(st.sampled_from(MODULES), unique=True),
    },
)
WARDS = REQUESTS.map(Wards.of)


def no_looser(child: Wards, parent: Wards) -> bool:
    """Whether nothing that the parent forbids is allowed to the child."""
    for name in Wards.model_fields:
        mine, above = getattr(child, name), getattr(parent, name)
        if above is None:
            continue
        if name == "require_done_tool":
            held = mine or not above
        elif name == "modules":
            held = mine is not None and set(mine) <= set(above)
        else:
            held = mine is not None and mine <= above
        if not held:
            return False
    return True


@given(WARDS, st.lists(REQUESTS, max_size=4))
def test_a_line_of_children_never_loosens(root, requests):
    """WARD-1: however often wards are composed, a child only tightens."""
    parent = root
    for request in requests:
        child = parent.for_child([request])
        assert no_looser(child, parent)
        assert child.max_depth < parent.max_depth or parent.max_depth == 0
        parent = child


@given(WARDS, REQUESTS)
def test_a_child_has_exactly_the_tighter_value(parent, request):
    """WARD-1: numbers take the minimum, booleans OR; what is not asked for is the parent's."""
    child = parent.for_child([request])
    for name in set(Wards.model_fields) - {"max_depth"}:
        above = getattr(parent, name)
        if name not in request:
            assert getattr(child, name) == above
        elif name == "modules":
            asked = request[name]
            assert set(child.modules) == set(asked) & set(asked if above is None else above)
        elif name == "require_done_tool":
            assert child.require_done_tool == (above or request[name])
        else:
            assert getattr(child, name) == min(
                request[name], request[name] if above is None else above
            )


@given(st.lists(REQUESTS, max_size=4), st.randoms())
def test_order_does_not_matter(entries, random):
    """WARD-1: a ward that is given twice is the tighter one, in any order."""
    shuffled = random.sample(entries, len(entries))
    one, other = Wards.of(entries), Wards.of(shuffled)
    assert set(one.modules or ()) == set(other.modules or ())
    assert one.model_copy(update={"modules": None}) == other.model_copy(update={"modules": None})


@given(st.sampled_from([st.integers(), st.booleans()]).flatmap(lambda kind: st.tuples(kind, kind)))
def test_tighter_is_symmetric(values):
    """WARD-1: which of two wards comes first makes no difference."""
    one, other = values
    assert tighter(one, other) == tighter(other, one)
    assert tighter(one, None) == tighter(None, one) == one


def test_depth_falls_by_one_a_level():
    """COMP-6: the child of depth 2 has depth 1, its child 0, and it stays there."""
    child = Wards.of([{"max_depth": 2}]).for_child([])
    assert child.max_depth == 1
    assert child.for_child([{"max_depth": 9}]).max_depth == 0
    assert child.for_child([]).for_child([]).max_depth == 0


def test_a_parent_above_the_defaults_hands_its_own_down():
    """WARD-1: a default is no request, so it tightens nothing."""
    parent = Wards.of([{"max_batch": 100, "max_concurrent": 16, "max_depth": 3}])
    child = parent.for_child([{"max_turns": 2}])
    assert (child.max_batch, child.max_concurrent, child.max_depth) == (100, 16, 2)


def test_defaults():
    """COMP-3: a batch has 50 at most, 8 run at a time; max_depth is 1; nothing else restricts."""
    assert Wards().in_force() == {"max_depth": 1, "max_batch": 50, "max_concurrent": 8}
    assert not Wards().truncates


def test_a_limit_of_nothing_is_in_force():
    """CIRCLE-6: 0 restricts; only what is absent or false does not."""
    wards = Wards.of([{"max_depth": 0, "max_tokens": 0, "require_done_tool": False}])
    assert wards.in_force() == {
        "max_depth": 0,
        "max_tokens": 0,
        "max_batch": 50,
        "max_concurrent": 8,
    }


@pytest.mark.parametrize("ward", [{"max_turns": 1}, {"timeout_s": 5}, {"timeout_s": 0.5}])
def test_what_truncates(ward):
    """LOOP-2: max_turns and timeout_s guarantee an end."""
    assert Wards.of([ward]).truncates


@pytest.mark.parametrize(
    ("wards", "told"),
    [
        ([{"max_turn": 3}], r"unknown ward 'max_turn'; did you mean max_turns\?"),
        ([{"zzz": 3}], "unknown ward 'zzz'; there are: max_turns, "),
        ([{"max_turns": 0}], "the ward max_turns can't be 0: .*greater than or equal to 1"),
        ([{"max_turns": True}], "the ward max_turns can't be True"),
        ([{"max_turns": "3"}], "the ward max_turns can't be '3'"),
        ([{"max_turns": None}], "the ward max_turns has no value"),
        ([{"timeout_s": float("inf")}], "the ward timeout_s can't be inf"),
        ([{"timeout_s": float("nan")}], "the ward timeout_s can't be nan"),
        ([{"require_done_tool": 1}], "the ward require_done_tool can't be 1"),
        ([{"max_depth": -1}], "the ward max_depth can't be -1"),
        ([{"max_memory_mb": 10**9}], "the ward max_memory_mb can't be 1000000000"),
        ([{"modules": ["pickle"]}], "the ward modules can't hold 'pickle'; there are: .*, ast, "),
        ([{"modules": [["re"]]}], r"the ward modules can't hold \['re'\]"),
        ([{"modules": "re"}], "the ward modules can't be 're'"),
        (["max_turns"], "a ward is a mapping such as"),
        ("max_turns", "wards are a list such as"),
        (7, "wards are a list such as"),
    ],
)
def test_bad_wards(wards, told):
    """CIRCLE-6: a ward that is unknown or has no good value is refused in a line that names it."""
    with pytest.raises(WardError, match=told) as raised:
        Wards.of(wards)
    assert "\n" not in str(raised.value)


def test_a_mapping_will_do():
    """CIRCLE-6: wards may stand in one mapping, or one by one."""
    assert Wards.of({"max_turns": 3, "max_depth": 0}) == Wards.of(
        [{"max_turns": 3}, {"max_depth": 0}]
    )


@pytest.mark.parametrize("name", ["max_cost", "require_approval"])
def test_no_misleading_hint(name):
    """WARD-1: a ward that there is none like is answered with those that there are."""
    with pytest.raises(WardError, match=rf"unknown ward '{name}'; there are: max_turns, "):
        Wards.of([{name: 1}])
