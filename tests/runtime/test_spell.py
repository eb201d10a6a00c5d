"""Spell files: what they may say, and how what is wrong with one is told."""

from __future__ import annotations

import datetime as dt
import sysconfig

import pytest
from circlet import Loom, ScriptedLLM
from circlet.runtime.errors import MissingKey, SpellError, UnknownProvider
from circlet.runtime.spell import KEYS, load, read_spell

CIRCLE = "circle: {medium: code, gates: [done], wards: [max_turns: 3]}\n"
HEAD = "llm: {script: script.yaml}\n"
SPELL = HEAD + CIRCLE


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes files into one folder, with a script beside them, and gives a spell's path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.yaml").write_text("- code: done(context)\n")

    def write(text, name="spell.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def fault(write, text, llm=None):
    """The one line that a spell's fault is told in, from the file's name on."""
    path = write(text)
    with pytest.raises(SpellError) as caught:
        load(path, llm)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path.parent}/")


# -- what it may say -------------------------------------------------------------------------


def test_a_whole_spell(write):
    """CANTRIP-1: model, identity and circle come from the file, and so do intent and context."""
    path = write(
        """
llm: {script: script.yaml}
identity: {system_prompt: Be brief., temperature: 0.5}
circle:
  medium: code
  gates: [done, call_entity, {name: read, root: ., idempotent: true, timeout_s: 5}]
  wards:
    - max_turns: 7
    - {max_depth: 2, require_done_tool: true}
children:
  llm: {script: script.yaml}
  llms: {cheap: {script: script.yaml}}
  registry: [echo]
retry: {max_retries: 1}
intent: Give the context.
context: {a: [1, 2.5, 2024-02-29]}
"""
    )
    spell = load(path)
    assert spell.intent == "Give the context."
    assert spell.context == {"a": [1, 2.5, dt.date(2024, 2, 29)]}
    assert spell.source == path.read_text()
    cantrip = spell.cantrip(Loom())
    assert cantrip.identity.system_prompt == "Be brief."
    assert cantrip.identity.temperature == 0.5
    assert [gate.name for gate in cantrip.circle.gates] == ["done", "call_entity", "read"]
    read = cantrip.circle.gates[2]
    assert (read.timeout_s, read.bound["root"].path) == (5, str(path.parent.resolve()))
    assert cantrip.circle.wards.in_force()["max_turns"] == 7
    assert cantrip.circle.wards.require_done_tool
    assert list(cantrip.llms) == ["cheap"]
    assert [gate.name for gate in cantrip.registry] == ["echo"]
    assert cantrip.retry.max_retries == 1


def test_it_can_be_cast(write):
    """CIRCLE-8: a context keeps its types from the file to the answer."""
    spell = load(write(SPELL + "intent: go\ncontext: !!binary AAE=\n"))
    loom = Loom()
    cast = spell.cantrip(loom).cast(spell.intent, spell.context)
    assert cast.result == b"\x00\x01"
    assert cast.loom is loom


def test_each_cantrip_has_a_loom_of_its_own(write):
    """LOOM-12: without a loom given, each cantrip of a spell has one in memory."""
    spell = load(write(SPELL))
    assert spell.cantrip().loom is not spell.cantrip().loom


def test_an_identity_may_be_a_text(write):
    """IDENTITY-2: a text alone is the system prompt."""
    assert load(write(SPELL + "identity: Be kind.")).cantrip().identity.system_prompt == "Be kind."


def test_no_intent_and_no_context(write):
    """INTENT-1: a spell need not name them: whoever casts it does."""
    spell = load(write(SPELL))
    assert (spell.intent, spell.context) == (None, ...)


def test_wards_may_be_one_mapping(write):
    """WARD-1: wards in one mapping are the same as in a list; given twice, the tighter holds."""
    text = HEAD + "circle: {medium: code, gates: [done], wards: %s}"
    one = load(write(text % "{max_turns: 3, max_depth: 2}")).cantrip()
    many = load(write(text % "[{max_turns: 3}, {max_depth: 2}, {max_turns: 9}]")).cantrip()
    assert one.circle.wards == many.circle.wards


@pytest.mark.parametrize(
    ("content", "context"), [(b"a\r\n\xc3\xbc", "a\r\nü"), (b"\xff\xfe\x00", b"\xff\xfe\x00")]
)
def test_context_of_a_file(write, content, context):
    """A context file is a text, or bytes where it isn't UTF-8; nothing in it is changed."""
    write(content, "data.bin")
    assert load(write(SPELL + "context: {file: data.bin}")).context == context


def test_a_context_that_has_a_file_among_other_things(write):
    """Only a mapping of nothing but ``file`` names one."""
    assert load(write(SPELL + "context: {file: a, b: 1}")).context == {"file": "a", "b": 1}


def test_paths_are_relative_to_the_spell(write, tmp_path, monkeypatch):
    """A spell can be run from anywhere."""
    path = write(SPELL)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load(path).cantrip().llm.name == "scripted:script.yaml"


def test_anchors_and_merges(write):
    """Plain YAML works: an alias repeats a value, a merge a mapping; a given key wins."""
    text = (
        "llm: &model {script: script.yaml}\nchildren: {llm: *model}\n"
        "circle: {medium: code, gates: [done], wards: [{max_turns: 1}]}\n"
        "context: {base: &base {a: 1, b: 2}, more: {<<: *base, b: 3}}\n"
    )
    spell = load(write(text))
    assert spell.context["more"] == {"a": 1, "b": 3}
    assert spell.cantrip().child_llm.name == "scripted:script.yaml"


# -- variables ---------------------------------------------------------------------------------


def test_variables_expand(write, monkeypatch):
    """``${stdlib}`` and the environment expand in strings, wherever these stand."""
    monkeypatch.setenv("CITY", "Oslo")
    spell = load(write(SPELL + 'intent: "in ${CITY}, $5"\ncontext: ["${stdlib}/x", "$${CITY}"]'))
    assert spell.intent == "in Oslo, $5"
    assert spell.context == [f"{sysconfig.get_path('stdlib')}/x", "${CITY}"]


def test_an_unset_variable_is_named_with_its_line(write, monkeypatch):
    """An unset variable is told with the line that it stands on, inside a long text too."""
    monkeypatch.delenv("NOWHERE", raising=False)
    message = fault(write, SPELL + "intent: |\n  first\n  second ${NOWHERE}\n")
    assert message.startswith("spell.yaml:5: the variable NOWHERE is not set")


def test_what_a_variable_holds_does_not_expand_again(write, monkeypatch):
    """A value from the environment is taken as it is."""
    monkeypatch.setenv("ODD", "${NOWHERE}")
    assert load(write(SPELL + "intent: ${ODD}")).intent == "${NOWHERE}"


# -- gates from a file -------------------------------------------------------------------------

GATES = """
from __future__ import annotations
from dataclasses import dataclass
from circlet import gate

@dataclass
class Place:
    name: str

def shout(text: str) -> str:
    "Make it loud."
    return text.upper()

@gate(name="whisper", idempotent=True)
def quiet(text: str) -> str:
    return text.lower()

number = 3
"""


def test_gates_of_a_python_file(write):
    """CIRCLE-10: a function or a gate of a Python file beside the spell can be a gate."""
    write(GATES, "mine.py")
    text = HEAD + (
        "circle:\n  medium: code\n  wards: [max_turns: 1]\n  gates:\n    - done\n"
        "    - {from: mine.py, name: shout, ephemeral: true}\n    - {from: mine.py, name: quiet}\n"
    )
    gates = load(write(text)).cantrip().circle.gates
    assert [(gate.name, gate.ephemeral, gate.idempotent) for gate in gates[1:]] == [
        ("shout", True, False),
        ("whisper", False, True),
    ]
    assert gates[1](text="a") == "A"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{from: none.py, name: f}", "there is no file"),
        ("{from: mine.py, name: shoot}", "holds no 'shoot'; did you mean shout?"),
        ("{from: mine.py, name: number}", "is no gate and no function"),
        ("{from: broken.py, name: f}", "can't be imported: SyntaxError"),
        ("{from: leaves.py, name: f}", "can't be imported: SystemExit"),
        ("{from: script.yaml, name: f}", "is no Python file: its name must end in .py"),
        ("{from: mine.py}", "a gate given as a mapping needs a name"),
        ("raed", "unknown gate 'raed'; did you mean read?"),
        ("{name: raed}", "unknown gate 'raed'; did you mean read?"),
        ("{name: read, rot: .}", "unknown key 'rot' in the gate read; did you mean root?"),
        ("{name: read, root: gone}", "must be an existing folder"),
        ("{name: echo, timeout_s: soon}", "timeout_s must be a number of seconds above 0"),
        ("{name: echo, ephemeral: perhaps}", "ephemeral must be true or false"),
        ("{name: echo, root: .}", "unknown key 'root' in the gate echo"),
        ("[read]", "a gate must be a name"),
        ("done", "two gates are named 'done'"),
        ("{from: mine.py, name: print}", "holds no 'print'"),
    ],
)
def test_a_wrong_gate(write, item, message):
    """CIRCLE-10: what is wrong with a gate is told with its line."""
    write(GATES, "mine.py")
    write("def f(:\n", "broken.py")
    write("raise SystemExit(3)\n", "leaves.py")
    text = HEAD + f"circle:\n  medium: code\n  gates:\n    - done\n    - {item}\n"
    told = fault(write, text + "  wards: [max_turns: 1]\n")
    assert message in told
    assert told.startswith(("spell.yaml:6: ", "spell.yaml:4: "))


def test_a_gate_that_the_medium_has_taken(write):
    """A gate of a code circle can't have a name that every program finds already."""
    write("def len(x: list) -> int: return 0\n", "mine.py")
    text = (
        "circle: {medium: code, gates: [done, {from: mine.py, name: len}], wards: [max_turns: 1]}"
    )
    assert fault(write, HEAD + text).startswith("spell.yaml:2: a gate of a code circle can't be")


# -- models ----------------------------------------------------------------------------------


def test_a_given_model_takes_the_place_of_the_default_ones(write):
    """COMP-7: ``llm`` replaces the file's model and the children's default, not those by name."""
    text = (
        "llm: openai:not-looked-for\nchildren: {llm: openai:nor-this, llms: {cheap: "
        "{script: script.yaml}}}\n" + CIRCLE
    )
    given = ScriptedLLM([], name="given")
    cantrip = load(write(text), llm=given).cantrip()
    assert cantrip.llm is cantrip.child_llm is given
    assert cantrip.llms["cheap"].name == "scripted:script.yaml"


def test_a_given_model_by_name(write, monkeypatch):
    """LLM-6: a given ``provider:model`` is built; its faults are not the file's."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert load(write(SPELL), llm="local:http://localhost:1/v1#m").cantrip().llm.name == "local:m"
    with pytest.raises(MissingKey, match=r"^openai needs a key"):
        load(write(SPELL), llm="openai:m")
    with pytest.raises(UnknownProvider):
        load(write(SPELL), llm="nobody:m")


def test_children_have_no_default_model_of_their_own(write):
    """COMP-7: without ``children.llm`` a child has its parent's model."""
    assert load(write(SPELL), llm=ScriptedLLM([])).cantrip().child_llm is None


@pytest.mark.parametrize(
    ("llm", "message"),
    [
        ("openai:gpt-5.1", "openai needs a key: set OPENAI_API_KEY"),
        ("opnai:gpt", "'opnai:gpt' names no provider"),
        ("{script: gone.yaml}", "can't be read: No such file"),
        ("{scripts: a}", "unknown key 'scripts' in llm; did you mean script?"),
        ("{}", "llm must be PROVIDER:MODEL or {script: FILE}"),
        ("[a]", "llm must be PROVIDER:MODEL or {script: FILE}"),
        ("3", "llm must be PROVIDER:MODEL or {script: FILE}"),
    ],
)
def test_a_wrong_model(write, monkeypatch, llm, message):
    """LLM-6: what is wrong with a model is told with its line."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = fault(write, f"{CIRCLE}llm: {llm}\n")
    assert told.startswith("spell.yaml:2: ")
    assert message in told


# -- LOOP-2 ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("circle: {}", "cantrip requires an llm"),
        ("llm:\n" + CIRCLE, "cantrip requires an llm"),
        (HEAD, "cantrip requires a circle"),
        (
            HEAD + "circle: {wards: [{require_done_tool: true}]}",
            "cantrip with require_done must have a done gate",
        ),
        (HEAD + "circle: {gates: []}", "circle must have a done gate"),
        (HEAD + "circle: {gates: [done]}", "cantrip must have at least one truncation ward"),
        (
            HEAD + "circle: {gates: [done], wards: [max_turns: 1]}",
            "circle must declare a medium",
        ),
        (
            HEAD + "circle: {gates: [done], wards: [max_turns: 1], medium: [code, tool]}",
            "circle must declare exactly one medium",
        ),
        (
            HEAD + "circle: {gates: [done], wards: [max_turns: 1], medium: cobol}",
            "unknown medium 'cobol'; there are: conversation, code",
        ),
    ],
)
def test_what_a_cantrip_needs_is_checked_in_order(write, text, message):
    """LOOP-2, MEDIUM-1: no model, no done, no truncation ward, and last of all the medium."""
    assert message in fault(write, text)


def test_a_given_model_is_a_model(write):
    """CANTRIP-1: a spell without ``llm`` can be cast with one that is given."""
    assert load(write(CIRCLE), llm=ScriptedLLM([], name="given")).cantrip().llm.name == "given"


# -- what is wrong with a file -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SPELL + "cirle: 1", "3: unknown key 'cirle' in a spell file; did you mean circle?"),
        (SPELL + "xyz: 1", f"3: unknown key 'xyz' in a spell file; there are: {', '.join(KEYS)}"),
        (SPELL + "folding: {turns: 1}", "3: unknown key 'turns' in folding"),
        (SPELL + "folding:\n  share: 2", "4: folding: share"),
        (HEAD + "circle:\n  gate: [done]", "3: unknown key 'gate' in circle; did you mean gates?"),
        (SPELL + "children: {llm_: a}", "3: unknown key 'llm_' in children; did you mean llm?"),
        (SPELL + "llm: {script: script.yaml}", "3: the key 'llm' was given before, on line 1"),
        (SPELL + "context: {a: {b: 1,\n  b: 2}}", "4: the key 'b' was given before, on line 3"),
        (SPELL + "identity: {temperature: hot}", "3: identity: temperature must be a number"),
        (SPELL + "identity:\n  top: 1", "4: unknown key 'top' in identity; did you mean top_p?"),
        (SPELL + "retry: {max_retries: -1}", "3: retry: max_retries"),
        (SPELL + "intent: [a]", "3: intent must be a text, not a list"),
        (SPELL + "context: {file: gone.txt}", "3: the context file"),
        (SPELL + "context: 2024-13-45", "3: month must be in"),
        (SPELL + "context: !!python/name:os.system x", "3: could not determine a constructor"),
        (SPELL + "context: {[a]: 1}", "3: a key of context must be a name, not a list"),
        (SPELL + "context: [{[a]: 1}]", "3: found unhashable key"),
        (SPELL + "intent: {a: b}", "3: intent must be a text, not a mapping"),
        (SPELL + "? [a]\n: 1", "3: a key of a spell file must be a name, not a list"),
        (SPELL + "children: 1", "3: children must be a mapping, not 1"),
        (SPELL + "a: b: c", "3: mapping values are not allowed here"),
        (SPELL + "a: [1, 2", "3: "),
        (SPELL + "\tb: 1", "3: found character '\\t'"),
        (SPELL + "a: *nobody", "3: found undefined alias"),
        (SPELL + "---\na: 1", "3: but found another document"),
        (SPELL + "a: \x00", "3: unacceptable character"),
        ("- a", "1: a spell file must be a mapping, not a list"),
        ("just text", "1: a spell file must be a mapping, not just text"),
    ],
)
def test_a_fault_names_its_line(write, text, message):
    """A fault is one line: the file, the line, what is wrong, and what there is instead."""
    assert fault(write, text).startswith(f"spell.yaml:{message}")


@pytest.mark.parametrize(
    ("wards", "message"),
    [
        ("[{max_turn: 3}]", "unknown ward 'max_turn'; did you mean max_turns?"),
        ("{max_turns: 3, max_turn: 3}", "unknown ward 'max_turn'; did you mean max_turns?"),
        ("[{max_turns: many}]", "the ward max_turns can't be 'many'"),
        ("[{max_turns: }]", "the ward max_turns has no value"),
        ("[max_turns]", "a ward must be a mapping, not max_turns"),
        ("max_turns", "a ward must be a mapping, not max_turns"),
    ],
)
def test_a_wrong_ward(write, wards, message):
    """WARD-1: an unknown ward, or a wrong value of one, is told with its line."""
    told = fault(write, HEAD + f"circle:\n  medium: code\n  gates: [done]\n  wards: {wards}\n")
    assert told.startswith(f"spell.yaml:5: {message}")


def test_a_spell_that_is_not_there(tmp_path):
    """A missing file is named."""
    with pytest.raises(SpellError, match=r"^there is no spell file at .*gone\.yaml$"):
        load(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff", "is not UTF-8 text"), (b"", "the file is empty"), (b"# only\n", "is empty")],
)
def test_a_file_that_is_no_spell(write, content, message):
    """A file without a document in it, or that is no text, is named."""
    with pytest.raises(SpellError, match=rf"spell\.yaml.*{message}"):
        load(write(content))


def test_a_folder_is_no_spell(tmp_path):
    """A folder in a spell's place is named."""
    with pytest.raises(SpellError, match="can't be read: Is a directory"):
        load(tmp_path)


def test_a_file_that_nests_too_deep(write):
    """Nesting without end is a fault like any other."""
    assert "nests too deep" in fault(write, SPELL + "context: " + "[" * 5000)


def test_a_value_that_holds_itself_ends(write):
    """An alias of what it stands in does not hang the reader; the codec refuses the value."""
    spell = load(write(SPELL + "context: &loop [*loop]\n"))
    assert spell.context[0] is spell.context


def test_aliases_stay_shared(write):
    """Aliases of aliases are not written out, which would take memory without end."""
    lines = ["context:", "  - &a0 [x, x]"]
    lines += [f"  - &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    context = load(write(SPELL + "\n".join(lines))).context
    assert context[59][0] is context[58]


def test_a_text_instead_of_a_file(write, tmp_path):
    """The text of a spell can be given where there is no file: paths go by the one named."""
    write("")
    spell = read_spell(SPELL + "intent: go", tmp_path / "not-there.yaml")
    assert spell.intent == "go"
    assert spell.cantrip().llm.name == "scripted:script.yaml"
