"""Third-party packages in a circle: who may import them, and who is told of them."""

from __future__ import annotations

import pytest
from circlet import Cantrip, Circle, ScriptedLLM
from circlet.runtime.errors import CantripError, SpellError, WardError
from circlet.runtime.spell import load
from circlet.runtime.wards import Wards
from circlet.sandbox import pool

GATES = ["done", "call_entity"]
TURNS = {"max_turns": 5}


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """A folder that the host imports from, with the package ``shelf`` in it."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").write_text("def read():\n    return 'read'\n")
    (tmp_path / "other_shelf.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    place = pool._places.pop(("shelf",), None)
    if place is not None and place.zygote is not None:
        place.zygote.close()


def cantrip(replies, wards=(TURNS,), **fields):
    circle = Circle(medium="code", packages=["shelf"], gates=GATES, wards=wards)
    return Cantrip(llm=ScriptedLLM(replies), circle=circle, **fields)


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        ("shelf", "packages are a list of names"),
        (["shelves"], "the package 'shelves' is not installed here"),
        (["json"], "'json' is part of Python and no package"),
    ],
)
def test_a_package_that_cannot_be_had(packages, message):
    """It is an error when the circle is made, and names the package."""
    with pytest.raises(CantripError, match=message):
        Circle(packages=packages)


def test_the_ward_modules_may_name_packages_of_the_circle():
    """Packages of the circle are modules to the ward, and no others are."""
    circle = Circle(packages=["shelf"], wards=[{"modules": ["re", "shelf"]}])
    assert circle.wards.modules == ("re", "shelf")
    with pytest.raises(WardError, match=r"the ward modules can't hold 'other_shelf'.*, shelf, "):
        Circle(packages=["shelf"], wards=[{"modules": ["other_shelf"]}])
    with pytest.raises(WardError, match="the ward modules can't hold 'shelf'"):
        Circle(wards=[{"modules": ["shelf"]}])
    with pytest.raises(WardError, match="the ward modules can't hold 'shelf'"):
        Wards().for_child([{"modules": ["shelf"]}])


@pytest.mark.kernel
def test_children_have_their_parents_packages():
    """WARD-1: a child may import what its parent may, less what its own wards leave out."""
    spell = cantrip(
        {
            "parent": [
                {"code": "import shelf\nhave = call_entity('have')"},
                {"code": "lack = call_entity('lack', wards=[{'modules': ['re']}])"},
                {"code": "done([shelf.read(), have, lack])"},
            ],
            "have": [{"code": "import shelf\ndone(shelf.read())"}],
            "lack": [{"code": "import shelf"}, {"code": "done('closed')"}],
        },
        wards=[TURNS, {"max_depth": 1}],
    )
    cast = spell.cast("parent")
    assert cast.result == ["read", "read", "closed"]
    assert "you can import: re" in "".join(turn.observation.text for turn in cast.loom.turns)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("wards", "told"), [([TURNS], True), ([TURNS, {"modules": ["re"]}], False)]
)
def test_the_entity_is_told(wards, told):
    """CIRCLE-11: it is told which packages it can import, and that their tables stay inside."""
    spell = cantrip([{"code": "done(1)"}], wards=wards)
    spell.cast("go")
    text = spell.llm.requests[0].messages[0].content
    assert ("The packages shelf are installed" in text) is told
    assert (", shelf, " in text) is told


@pytest.mark.kernel
def test_a_spell_names_them(site):
    """``circle.packages`` in a spell file is the circle's ``packages``."""
    (site / "script.yaml").write_text("- code: 'import shelf; done(shelf.read())'\n")
    path = site / "spell.yaml"
    path.write_text(
        "llm: {script: script.yaml}\n"
        "circle:\n  medium: code\n  gates: [done]\n  packages: [shelf]\n"
        "  wards: [{max_turns: 2}, {modules: [shelf]}]\n"
    )
    assert load(path).cantrip().cast("go").result == "read"


def test_a_spells_fault_has_its_line(site):
    """A package that can't be had is told with the line that names it."""
    path = site / "spell.yaml"
    path.write_text(
        "llm: x:y\ncircle:\n  medium: code\n  gates: [done]\n  wards: [max_turns: 2]\n"
        "  packages:\n    - shelf\n    - shelves\n"
    )
    with pytest.raises(SpellError, match=r"spell.yaml:8.*the package 'shelves' is not installed"):
        load(path)
