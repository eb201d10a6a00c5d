"""What a case is played on: its models, gates, files and loom, put together as anybody would."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from ...gates import STANDARD, ChildRequest, Gate, find
from ..cantrip import Cantrip
from ..circle import Circle
from ..folding import Folding
from ..identity import Identity
from ..llm import LLM, Retry
from ..loom import Loom
from ..spawn import ChildSpec, Parent, spawn
from ..spell import read_spell
from ..wards import Wards
from . import vocabulary
from .keys import CaseFault, fields, flag, items, mapping, number, text, unknown_key
from .models import MEDIA, Model, by_depth, is_model

_FOLDING = {"trigger_after_turns": "after_turns"}
"""The suite's words for a folding's fields, where they differ."""


@dataclass
class Stage:
    """What a case is played on.

    Args:
        setup: The case's setup.
        models: Its models, by key.
        folder: A folder of its own, where its files lie.

    Attributes:
        loom: Where all of the case is recorded.
        gate_runs: How often the functions of gates that the case describes ran, by name.
    """

    setup: dict[str, Any]
    models: dict[str, Model]
    folder: Path
    loom: Loom = field(default_factory=Loom)
    gate_runs: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for key in self.setup:
            if key not in vocabulary.SETUP and not is_model(key):
                raise unknown_key(key, "setup", vocabulary.SETUP)
        for name, content in mapping(self.setup.get("filesystem") or {}, "filesystem").items():
            path = self._place(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text(content, f"filesystem.{name}").encode())

    def _place(self, name: Any) -> Path:
        """Where a path of the case lies in its folder."""
        path = PurePosixPath(text(name, "a path"))
        if not path.is_absolute() or ".." in path.parts:
            raise CaseFault(f"a path in a case is absolute and plain, not {name!r}")
        return self.folder.joinpath(*path.parts[1:])

    def model(self, key: str) -> LLM:
        """A model that an action names.

        Raises:
            CaseFault: The setup has none of that name.
        """
        if key not in self.models:
            known = ", ".join(self.models) or "none"
            raise CaseFault(f"the setup has no model {key!r}; there are: {known}")
        return self.models[key].llm

    # -- a cantrip, built in Python --------------------------------------------------------------

    def cantrip(self, llm: str = "llm") -> Cantrip:
        """The case's cantrip, with one of its models.

        Raises:
            CaseFault: The setup says something that can't be built.
            CircletError: The library refuses it.
        """
        return Cantrip(
            llm=self._own_model(llm),
            identity=self._identity(),
            circle=self._circle(),
            loom=self.loom,
            registry=self._registry(),
            **self._for_children(),
            **self._settings(),
        )

    def _circle(self) -> Circle | None:
        if self.setup.get("circle") is None:
            return None  # what is said of that is the library's own
        circle = fields(self.setup["circle"], "setup.circle", vocabulary.CIRCLE)
        return Circle(
            gates=tuple(self._gate(item) for item in _gates(circle)),
            wards=Wards.of(items(circle.get("wards", []), "setup.circle.wards")),
            **_medium(circle),
        )

    def _own_model(self, key: str) -> LLM | None:
        if key == "llm" and self.setup.get("llm") is None:
            return None  # what is said of that is the library's own
        return self.model(key)

    def _identity(self) -> Identity:
        return Identity(**mapping(self.setup.get("identity") or {}, "setup.identity"))

    def _registry(self) -> list[Gate]:
        """The gates that children may ask for: by default every standard one but ``done``."""
        listed = self.setup.get("registry")
        if listed is not None:
            return [self._gate(item) for item in items(listed, "setup.registry")]
        names = (name for name, one in STANDARD.items() if not (one.final or one.delegates))
        return [self._gate(name) for name in names]

    def _for_children(self) -> dict[str, Any]:
        """Who children query: one model, one that requests name, or one for each level."""
        levels = by_depth(self.models)
        if levels:
            return {"spawn": _spawn_by_depth(levels)}
        child = self.models.get("child_llm")
        if child is None:
            return {}
        return {"child_llm": child.llm} if child.name is None else {"llms": {child.name: child.llm}}

    def _settings(self) -> dict[str, Any]:
        # How long retries wait is shown elsewhere; here nobody has to sit it out.
        retry = {"base_s": 0, **mapping(self.setup.get("retry") or {}, "setup.retry")}
        settings: dict[str, Any] = {"retry": Retry(**retry)}
        if "folding" in self.setup:
            settings["folding"] = Folding(**self._folding())
        if "secrets" in self.setup:
            settings["secrets"] = self.setup["secrets"]
        return settings

    def _folding(self) -> dict[str, Any]:
        said = mapping(self.setup["folding"], "setup.folding")
        return {_FOLDING.get(name, name): value for name, value in said.items()}

    # -- gates -----------------------------------------------------------------------------------

    def _gate(self, item: Any) -> Gate:
        """A gate: a standard one by its name, or one as the case describes it."""
        said = fields({"name": item} if isinstance(item, str) else item, "a gate", vocabulary.GATE)
        name = text(said.get("name"), "a gate's name")
        if name == "fetch" and not any(key in said for key in vocabulary.DESCRIBED):
            said["result"] = "a page that nobody fetched"
        if any(key in said for key in vocabulary.DESCRIBED):
            if "dependencies" in said:
                raise CaseFault(f"the gate {name} is described, so it has no dependencies")
            built = Gate(name, self._function(name, said), parameters=said.get("parameters"))
        else:
            built = self._standard(name, said)
        if "ephemeral" in said:
            built = built.configure(ephemeral=said["ephemeral"])
        return built

    def _standard(self, name: str, said: dict[str, Any]) -> Gate:
        built = find(name)
        if "parameters" in said:
            built = replace(built, parameters=said["parameters"], arguments=None)
        needs = mapping(said.get("dependencies") or {}, f"{name}.dependencies")
        if "root" in needs:
            root = self._place(needs["root"])
            root.mkdir(parents=True, exist_ok=True)
            needs["root"] = str(root)
        return built.bind(**needs) if needs else built

    def _function(self, name: str, said: dict[str, Any]) -> Callable[..., Any]:
        """What a described gate does: wait, then fail, count, or give its result."""
        behavior, counts = said.get("behavior"), flag(said.get("stateful", False), "stateful")
        lacks = {"delay": "delay_ms", "throw": "error"}
        if behavior is not None and behavior not in lacks:
            raise CaseFault(
                f"unknown behavior {behavior!r} of {name}; there are {', '.join(lacks)}"
            )
        if behavior and lacks[behavior] not in said:
            raise CaseFault(f"the gate {name} is to {behavior}, so it needs {lacks[behavior]}")
        if "error" in said:
            text(said["error"], f"{name}.error")
        wait_s = number(said.get("delay_ms", 0), f"{name}.delay_ms") / 1000

        async def behave(**_: Any) -> Any:
            self.gate_runs[name] += 1
            await asyncio.sleep(wait_s)
            if "error" in said:
                raise RuntimeError(said["error"])
            return self.gate_runs[name] if counts else said.get("result")

        return behave

    # -- a cantrip, read from a document ---------------------------------------------------------

    def document(self) -> Cantrip:
        """The case's cantrip as a spell file would have it, read and built as one.

        Raises:
            SpellError, CantripError: The library refuses it; the text says why.
        """
        spell = {key: self.setup[key] for key in ("identity", "retry") if self.setup.get(key)}
        if "folding" in self.setup:
            spell["folding"] = self._folding()
        if self.setup.get("circle") is not None:
            circle = fields(self.setup["circle"], "setup.circle", vocabulary.CIRCLE)
            gates = [self._written(item) for item in _gates(circle)]
            spell["circle"] = {"gates": gates, "wards": circle.get("wards"), **_medium(circle)}
            # Now, for the library may refuse something else before it comes to them.
            for ward in items(circle.get("wards") or [], "setup.circle.wards"):
                fields(ward, "setup.circle.wards", tuple(Wards.model_fields))
        source = yaml.safe_dump(spell, allow_unicode=True)
        path = self.folder / "spell.yaml"
        return read_spell(source, path, self._own_model("llm")).cantrip(self.loom)

    def _written(self, item: Any) -> Any:
        """A gate as a spell file has it; what a described one does is no matter there."""
        said = fields({"name": item} if isinstance(item, str) else item, "a gate", vocabulary.GATE)
        name = text(said.get("name"), "a gate's name")
        if not any(key in said for key in (*vocabulary.DESCRIBED, "parameters")):
            needs = mapping(said.get("dependencies") or {}, f"{name}.dependencies")
            return {"name": name, **needs} if needs else name
        source = f"from circlet import Gate\n{name} = Gate('{name}', None)\n"
        (self.folder / f"gate_{name}.py").write_text(source, encoding="utf-8")
        return {"from": f"gate_{name}.py", "name": name}


def _gates(circle: Mapping[str, Any]) -> list[Any]:
    return items(circle.get("gates", []), "setup.circle.gates")


def _medium(circle: Mapping[str, Any]) -> dict[str, Any]:
    """The medium that a circle declares, under whichever key; several that differ as a list."""
    declared: list[Any] = []
    for key in ("medium", "type", "circle_type"):
        if key in circle:
            declared += circle[key] if isinstance(circle[key], list) else [circle[key]]
    media = list(dict.fromkeys(MEDIA.get(str(one), one) for one in declared))
    return {"medium": media[0] if len(media) == 1 else media} if media else {}


def _spawn_by_depth(levels: Mapping[int, LLM]) -> Callable[[ChildRequest, Parent], ChildSpec]:
    """A spawn function whose children query the model of their level, where there is one."""

    def by_level(request: ChildRequest, parent: Parent) -> ChildSpec:
        spec = spawn(request, parent)
        return replace(spec, llm=levels.get(parent.depth + 1, spec.llm))

    return by_level
