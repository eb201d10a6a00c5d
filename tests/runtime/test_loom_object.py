"""The object ``loom``: an entity's own past, as its programs read it (``LOOM-11``)."""

import anyio
import pytest
from circlet import AsyncSandbox, Cantrip, Circle, Folding, Gate, ScriptedLLM
from circlet.runtime.loom import Loom
from circlet.runtime.recall import Recall
from circlet.sandbox.dialogue import GateInfo


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def result(spell, intent="go", **fields):
    return spell.cast(intent, **fields).result


def test_a_turn_is_read_back(code):
    """LOOM-11: code, text, observation, value, error and calls of a turn, as they were."""
    first = {"content": "let me see", "code": "print('hello')\necho('x')\n40 + 2"}
    spell = code(
        [
            first,
            run("1 / 0"),
            run(
                "t, u = loom.turn(1), loom.turn(2)\n"
                "c = t.calls[0]\n"
                "done([t.turn, t.text, t.code, t.observation, t.value, t.is_error, t.error,\n"
                "      [c.gate, c.arguments, c.result, c.is_error],\n"
                "      u.is_error, u.error, len(loom)])"
            ),
        ],
        "echo",
    )
    *plain, call_, failed, error, count = result(spell)
    code_ = "print('hello')\necho('x')\n40 + 2"
    assert plain == [1, "let me see", code_, "hello\n42", "42", False, None]
    assert call_ == ["echo", '{"text": "x"}', "x", False]
    assert (failed, count) == (True, 2)
    assert "ZeroDivisionError" in error


def test_what_was_folded_is_read_back(code):
    """LOOM-11: turns that the model is no longer told of are there whole."""
    script = [run("print('n' * 50_000)"), *[run("pass")] * 3, run("done(len(loom.printed(1)))")]
    spell = code(script, folding=Folding(after_turns=2))
    assert result(spell) == 50_001


def test_all_turns(code):
    """LOOM-11: loom.turns is a list, the oldest first; the turn that runs is not in it."""
    spell = code([run("a = 1"), run("b = 2"), run("done([t.code for t in loom.turns])")])
    assert result(spell) == ["a = 1", "b = 2"]


def test_nothing_yet(code):
    """LOOM-11: in the first turn there is nothing to read, and that is said."""
    spell = code(
        [
            run(
                "try: loom.turn(1)\nexcept IndexError as e: said = str(e)\n"
                "done([len(loom), loom.turns, loom.children, loom.search('x'), said])"
            )
        ]
    )
    assert result(spell) == [0, [], [], [], "loom: there is no turn 1: no turn is over yet"]


def test_it_teaches_its_use(code):
    """LOOM-11: to look at it says how it is used, and one line of the capability text too."""
    spell = code([run("loom"), run("done(1)")])
    spell.cast("go")
    head = spell.llm.requests[0].messages[0].content
    assert head.count("`loom` holds your earlier turns") == 1
    shown = spell.llm.requests[1].messages[-1].content
    assert shown.startswith("<your earlier turns: len(loom); loom.turn(n)")
    assert len(shown) < 300


def test_search(code):
    """LOOM-11: where a text stands, the newest turn first, with what is around it."""
    spell = code(
        [
            run("print('x' * 300 + 'needle' + 'y' * 300)"),
            run("pass  # needle"),
            run("done([[h.turn, h.where, h.excerpt] for h in loom.search('needle')])"),
        ]
    )
    hits = result(spell)
    places = [[2, "code"], [1, "code"], [1, "observation"], [1, "printed"]]
    assert [hit[:2] for hit in hits] == places
    assert hits[-1][2] == "x" * 100 + "needle" + "y" * 100


def test_a_search_is_bounded(code):
    """Viewport: a search tells of some twenty places, and how to go on from there."""
    script = [run(f"print('needle {n}')") for n in range(12)]
    spell = code(
        [
            *script,
            run(
                "a = loom.search('needle')\nb = loom.search('needle', before=a[-1].turn)\n"
                "done([[h.turn, h.where] for h in [*a, *b]])"
            ),
        ],
        wards=[{"max_turns": 20}],
    )
    hits = result(spell)
    stops = [hit for hit in hits if hit[1] == "stopped"]
    assert len(stops) == 1
    found = {turn for turn, where in hits if where != "stopped"}
    assert found == set(range(1, 13))
    assert hits.index(stops[0]) <= 23


def test_reads_are_no_gate_calls(code):
    """LOOM-11: a read is not recorded as a call, and loom is not listed among the gates."""
    spell = code([run("a = 1"), run("loom.turn(1)\nlen(loom)"), run("call"), run("done(1)")])
    cast = spell.cast("go")
    assert [turn.gate_calls for turn in cast.thread] == [[], [], [], ["done"]]
    assert [turn.observation.records for turn in cast.thread[:3]] == [(), (), ()]
    gates = spell.llm.requests[0].messages[0].content.partition("Gates:\n")[2].partition("\n\n")[0]
    assert "loom" not in gates


def test_reads_are_not_told_of_as_effects(code):
    """LOOM-11: a turn that is undone has its gate calls told, and reads are none."""
    spell = code(
        [run("a = 1"), run("len(loom); echo('sent'); sum(range(10 ** 12))"), run("done(a)")],
        "echo",
        wards=[{"max_turns": 5, "max_eval_ms": 300}],
    )
    assert result(spell) == 1
    told = spell.llm.requests[2].messages[-1].content
    assert "echo('sent') gave str, 4 chars: 'sent'" in told
    assert "loom(" not in told


def test_the_name_is_reserved(code):
    """LOOM-11: like a gate's name it can't be rebound, and no gate can take it."""
    spell = code([run("loom = 3"), run("def loom(): pass"), run("done(len(loom))")])
    cast = spell.cast("go")
    assert cast.result == 2
    assert all("can't be rebound" in turn.observation.text for turn in cast.thread[:2])
    with pytest.raises(Exception, match="can't be named 'loom'"):
        code([], Gate("loom", lambda: 1))


def test_it_costs_nothing_unused(code):
    """LOOM-11: nothing of the past is sent to a program that doesn't ask."""
    asked = []
    read = Recall.read

    async def counted(self, before, what, *args):
        asked.append(what)
        return await read(self, before, what, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recall, "read", counted)
        code([run("a = 1"), run("loom"), run("done(a)")]).cast("go")
        assert asked == []
        code([run("a = 1"), run("done(len(loom))")]).cast("go")
    assert asked == ["count"]


# -- kin -------------------------------------------------------------------------------------------


def test_a_parent_reads_its_children(deep):
    """LOOM-11: what a child did can be read by its parent once the turn is over."""
    child = ScriptedLLM([run("print('inner')"), run("done('from child')")])
    spell = deep(
        [
            run("r = call_entity('look')"),
            run(
                "c = loom.children[0]\n"
                "t = loom.turn(1, of=c.id)\n"
                "done([c.intent, c.outcome, c.reason, c.result, c.turns, t.code, t.observation,\n"
                "      loom.turn(1).children == [c.id], loom.printed(1, of=c.id),\n"
                "      loom.search('inner', of=c.id)[-1].turn, loom.children_of(c.id)])"
            ),
        ],
        child_llm=child,
    )
    assert result(spell) == [
        *("look", "terminated", "done", "str, 10 chars: 'from child'", 2),
        *("print('inner')", "inner", True, "inner\n", 1, []),
    ]


def test_a_grandchild(deep):
    """LOOM-11: a parent reads all below it, through its own ids only."""
    models = ScriptedLLM(
        {
            "top": [
                run("call_entity('mid')"),
                run(
                    "mid = loom.children[0]\nleaf = loom.children_of(mid.id)[0]\n"
                    "done([leaf.intent, loom.turn(1, of=leaf.id).code])"
                ),
            ],
            "mid": [run("done(call_entity('leaf'))")],
            "leaf": [run("done('deep')")],
        }
    )
    spell = deep(models, wards=[{"max_turns": 5}, {"max_depth": 2}])
    assert result(spell, "top") == ["leaf", "done('deep')"]


def test_nobody_reads_upwards_or_sideways(deep):
    """COMP-4: a child reads neither its parent nor its siblings, even by their ids."""
    probe = (
        "seen = []\n"
        "for one in context:\n"
        "    for read in (lambda: loom.turn(1, of=one), lambda: loom.search('secret', of=one),\n"
        "                 lambda: loom.children_of(one), lambda: loom.printed(1, of=one)):\n"
        "        try: seen.append(read())\n"
        "        except LookupError as e: pass\n"
        "done([seen, len(loom), loom.turns, loom.children])"
    )
    child = ScriptedLLM({"first": [run("done('secret of a sibling')")], "second": [run(probe)]})
    spell = deep(
        [
            run("secret = 'of the parent'\ncall_entity('first')"),
            run("done(call_entity('second', context=[loom.children[0].id, 'parent-1']))"),
        ],
        child_llm=child,
    )
    with spell.summon(entity_id="parent-1") as entity:
        assert entity.send("go").result == [[], 0, [], []]


def test_nobody_reads_sideways_later_on(deep):
    """COMP-4: that stays so when a child has turns of its own, as many as the one that made it."""
    probe = (
        "try: done(loom.turn(1, of=context).code)\n"
        "except LookupError: done([len(loom), loom.children])"
    )
    child = ScriptedLLM(
        {"first": [run("done('secret')")], "second": [*[run("pass")] * 3, run(probe)]}
    )
    spell = deep(
        [
            run("call_entity('first')"),
            run("done(call_entity('second', context=loom.children[0].id))"),
        ],
        child_llm=child,
    )
    assert result(spell) == [3, []]


def test_a_fork_has_none_of_the_children_that_came_after(deep):
    """LOOM-4, COMP-4: whom the original spawned after the fork's turn is no child of the fork."""
    child = ScriptedLLM([run("done('early')"), run("done('late')")])
    spell = deep(
        [run("call_entity('early')"), run("call_entity('late')"), run("done(1)")], child_llm=child
    )
    original = spell.cast("go")
    late = original.loom.entities[original.entity_id].children[1].id
    probe = (
        f"try: loom.turn(1, of={late!r})\n"
        "except LookupError: done([c.intent for c in loom.children])"
    )
    other = ScriptedLLM([*[run("pass")] * 3, run(probe)])
    fork = spell.fork(original.thread, from_turn=1, intent="again", llm=other)
    assert fork.result == ["early"]


def test_another_cast_of_the_same_loom(code):
    """COMP-4: what else is in a shared loom is not an entity's past."""
    loom = Loom()
    first = code([run("secret = 1"), run("done(1)")], loom=loom).cast("go")
    probe = f"try: loom.turn(1, of={first.entity_id!r})\nexcept LookupError: done([len(loom)])"
    assert result(code([run(probe)], loom=loom)) == [0]


# -- lives -----------------------------------------------------------------------------------------


def test_over_a_lasting_entitys_life(code):
    """ENTITY-5: the turns of earlier intents are there in later ones."""
    spell = code([run("a = 1"), run("done(a)"), run("done([len(loom), loom.turn(1).code])")])
    with spell.summon() as entity:
        entity.send("one")
        assert entity.send("two").result == [2, "a = 1"]


def test_a_fork_reads_what_it_is_forked_from(code):
    """LOOM-4: its past is the original's up to that turn, and its own from then on."""
    spell = code([run("a = 1"), run("b = 2"), run("done('original')")])
    original = spell.cast("go")
    other = ScriptedLLM([run("c = 3"), run("done([[t.code for t in loom.turns], len(loom)])")])
    fork = spell.fork(original.thread, from_turn=1, intent="again", llm=other)
    assert fork.result == [["a = 1", "c = 3"], 2]


def test_a_replayed_read_gives_the_same(deep):
    """LOOM-13: a turn that is run again reads what it read, not what was recorded since."""
    child = ScriptedLLM([run("done('x')")])
    spell = deep(
        [
            run("print('one')"),
            run(
                "n, kids = len(loom), len(loom.children)\n"
                "found = len(loom.search('print'))\nprint(n)"
            ),
            run("call_entity('kid')"),
            run("print('print')"),
            run("done(n)"),
        ],
        child_llm=child,
    )
    original = spell.cast("go")
    other = ScriptedLLM([run("done([n, kids, found, len(loom), len(loom.children)])")])
    fork = spell.fork(original.thread, from_turn=4, intent="again", llm=other)
    assert fork.difference is None
    assert fork.result == [1, 0, 1, 4, 1]


def test_rolled_back_reads_give_the_same(code):
    """LOOM-11: what a rolled back session runs again for its state, it reads as it did."""
    spell = code(
        [
            run("n = len(loom)"),
            run("m = len(loom)"),
            run("sum(range(10 ** 12))"),
            run("done([n, m, len(loom)])"),
        ],
        wards=[{"max_turns": 5, "max_eval_ms": 300}],
    )
    assert result(spell) == [0, 1, 3]


def test_a_conversation_has_no_such_object(chat):
    """LOOM-11: where nobody writes code nothing is said of it."""
    spell = chat([call("done", answer="ok")])
    spell.cast("go")
    request = spell.llm.requests[0]
    assert [tool.name for tool in request.tools] == ["done"]
    assert len(request.messages) == 1


# -- bad questions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ("loom.turn(9)", "IndexError: loom: there is no turn 9: there are turns 1 to 1"),
        ("loom.turn(0)", "IndexError: loom: there is no turn 0"),
        ("loom.turn('1')", "TypeError: loom: a turn's number is an int, not '1'"),
        ("loom.turn(True)", "TypeError: loom: a turn's number is an int, not a bool"),
        ("loom.search('')", "ValueError: loom: search for a text of 1 to 1,000 characters"),
        ("loom.search('x' * 2000)", "ValueError: loom: search for a text"),
        ("loom.search('x', before='y')", "TypeError: loom: before= is a turn's number, not 'y'"),
        ("loom.turn(1, of='nobody')", "LookupError: loom: none of your children is 'nobody'"),
        ("loom.children_of(3)", "LookupError: loom: none of your children is a int"),
        ("loom('delete', None)", "ValueError: loom: it can't tell 'delete'"),
        ("loom([], None)", "ValueError: loom: it can't tell"),
    ],
)
def test_bad_questions(code, read, message):
    """LOOM-11: what can't be read is one clear error in the program."""
    cast = code([run("a = 1"), run(read), run("done(1)")]).cast("go")
    assert message in cast.thread[1].observation.text
    assert cast.result == 1


# -- the wall --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "loom.turn.__func__",
        "loom.turn.__globals__",
        "type(loom).turn.__globals__",
        "loom.x = 1",
        "loom.turn = 1",
        "type(loom).turn = 1",
        "del loom.turn",
        "class Mine(type(loom)): pass",
        "vars(loom)",
        "type(loom)('x', print, {})",
        "type(loom).turns.fget.__globals__",
        "'{0.turn.__func__.__globals__}'.format(loom)",
    ],
)
def test_nothing_else_can_be_had_of_it(code, source):
    """Language wall: the object gives what it reads, and no way to what it is made of."""
    cast = code([run(source), run("done(len(loom))")]).cast("go")
    assert cast.thread[0].observation.is_error
    assert cast.result == 1


def test_what_is_read_are_plain_objects(code):
    """LOOM-11: a page can be kept, copied, changed and handed on in parts, like any other value."""
    spell = code(
        [
            run("a = 1"),
            run("import copy\nt = loom.turn(1)\nu = copy.deepcopy(t)\nu.code = 'mine'"),
            run("done([t.code, u.code, t == loom.turn(1)])"),
        ]
    )
    assert result(spell) == ["a = 1", "mine", True]


def test_a_record_in_a_bare_sandbox():
    """A gate that stands for a record is read through methods; the sandbox knows no loom."""
    asked = []

    async def answer(what, *args):
        asked.append((what, args))
        return {"count": 2, "turn": {"number": 1, "calls": [{"gate": "g"}]}, "printed": "p"}[what]

    async def main():
        info = GateInfo("a record", reads=True)
        async with AsyncSandbox(gates={"past": answer}, gate_infos={"past": info}) as box:
            turn = await box.run("(past, len(past), past.turn(1).calls[0].gate, past.printed(1))")
            return turn.shown

    assert anyio.run(main) == "(<a record>, 2, 'g', 'p')"
    assert asked == [("count", (None,)), ("turn", (None, 1)), ("printed", (None, 1))]


def test_an_image_keeps_what_refers_to_it(code):
    """A variable that holds the object comes back with the session's state, as a gate does."""
    spell = code(
        [run("mine = [loom]"), run("sum(range(10 ** 12))"), run("done(len(mine[0]))")],
        wards=[{"max_turns": 5, "max_eval_ms": 300}],
    )
    assert result(spell) == 2


def test_a_cantrip_with_a_medium_of_its_own():
    """LOOM-11: a code circle made by hand has the object too."""
    spell = Cantrip(
        llm=ScriptedLLM([run("done(repr(loom)[:20])")]),
        circle=Circle(medium="code", gates=["done"], wards=[{"max_turns": 2}]),
    )
    assert spell.cast("go").result == "<your earlier turns:"
