"""The page about trajectories: its code does what it says, and it names every kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from circlet import Cantrip, Circle, Loom, ScriptedLLM
from circlet.runtime.trajectory.events import Event

PAGE = (Path(__file__).parents[1] / "docs/trajectory.md").read_text(encoding="utf-8")


def test_requests_are_rebuilt_by_the_page_s_code(tmp_path):
    """The code on the page rebuilds every request that the model was sent."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    llm = ScriptedLLM([{"code": "x = 1"}, {"code": "done(x)"}])
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": 3}])
    with Loom(tmp_path / "run") as loom:
        Cantrip(llm=llm, circle=circle, loom=loom).cast("go")
    rebuilt = list(names["requests"](tmp_path / "run"))
    assert [same for *_, same in rebuilt] == [True, True]
    sent = [[message.content for message in request.messages] for request in llm.requests]
    assert [[one["content"] for one in request["messages"]] for _, request, _ in rebuilt] == sent


def test_each_kind_is_on_the_page():
    """The table has each kind with its fields, in order."""
    for kind in get_args(Event):
        fields = [
            f"`{name}{'' if field.is_required() else '?'}`"
            for name, field in kind.model_fields.items()
            if name not in ("t", "seq", "kind")
        ]
        name = kind.model_fields["kind"].default
        assert f"| `{name}` | {', '.join(fields)} |" in PAGE
