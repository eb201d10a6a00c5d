"""The spell file: a cantrip written down in YAML, with an intent and a context for it."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..gates import Gate, find
from ..gates import gate as as_gate
from ..gates.arguments import explain
from ..gates.gate import SETTINGS
from ..gates.hints import suggestion
from ..sandbox.packages import check_packages
from .cantrip import Cantrip
from .circle import Circle, check_medium, resolve_gates
from .document import Part, parse
from .errors import SpellError
from .folding import Folding
from .identity import Identity
from .llm import LLM, Retry, ScriptedLLM
from .llm import llm as named_llm
from .loom import Loom
from .redaction import Secrets
from .wards import Wards

KEYS = ("llm", "identity", "circle", "children", "retry", "folding", "intent", "context")
"""What a spell file may say."""
_CIRCLE_KEYS = ("medium", "gates", "wards", "packages")
_CHILDREN_KEYS = ("llm", "llms", "registry")


@dataclass(frozen=True)
class Spell:
    """What a spell file says, read and checked.

    Attributes:
        path: The file.
        source: Its text, as it was read.
        intent: The intent that it names, or None.
        context: The context that it names; ``...`` where it names none.
    """

    path: Path
    source: str
    intent: str | None
    context: Any
    _made_of: Mapping[str, Any] = field(repr=False)

    def cantrip(self, loom: Loom | None = None) -> Cantrip:
        """A cantrip as the file describes it.

        Args:
            loom: Where all that happens is recorded. Default: a loom in memory.
        """
        return Cantrip(loom=Loom() if loom is None else loom, **self._made_of)


def load(path: str | Path, llm: LLM | str | None = None) -> Spell:
    """Read a spell file.

    Paths in it are relative to its folder. In its strings ``${stdlib}`` is the folder of the
    running Python's standard library and ``${NAME}`` an environment variable; one whose name is
    a secret's, such as ``DB_PASSWORD``, is withheld as the cantrip's ``secrets`` are.

    Args:
        path: The file.
        llm: A model, or ``provider:model``, instead of the file's ``llm`` and of its
            children's default; what is under ``children.llms`` stays.

    Raises:
        SpellError: The file can't be read, or says something wrong; the text gives the line.
        LLMError: ``llm`` names no model that can be had here.
    """
    path = Path(path)
    return read_spell(_source(path), path, llm)


def read_spell(
    source: str, path: Path, llm: LLM | str | None = None, folder: Path | None = None
) -> Spell:
    """``load`` for a text that has been read already.

    Args:
        source: The text.
        path: Where it stands.
        llm: See ``load``.
        folder: What paths in it are relative to. Default: the folder that it stands in.
    """
    document = parse(source, str(path))
    fields = document.fields("a spell file", KEYS)
    reader = _Reader(path.parent if folder is None else folder)
    if llm is None and "llm" not in fields:
        raise SpellError(
            f"{path}: cantrip requires an llm: write llm: PROVIDER:MODEL or llm: {{script: FILE}}"
        )
    if "circle" not in fields:
        raise SpellError(f"{path}: cantrip requires a circle")
    made_of: dict[str, Any] = {"circle": reader.circle(fields["circle"])}
    if "identity" in fields:
        made_of["identity"] = reader.identity(fields["identity"])
    if "retry" in fields:
        made_of["retry"] = _model(Retry, fields["retry"], "retry")
    if "folding" in fields:
        made_of["folding"] = _model(Folding, fields["folding"], "folding")
    intent = fields["intent"].text("intent") if "intent" in fields else None
    context = reader.context(fields["context"]) if "context" in fields else ...
    # Models come last: what they lack is not in the file but where it is run.
    made_of["llm"] = _given(llm) if llm is not None else reader.llm(fields["llm"])
    if "children" in fields:
        made_of.update(reader.children(fields["children"], None if llm is None else made_of["llm"]))
    made_of["secrets"] = Secrets.of_variables(document.variables)
    return Spell(path, source, intent, context, made_of)


def read_context(path: Path) -> str | bytes:
    """What a file holds as a context: its text, or its bytes where they are not UTF-8.

    Raises:
        SpellError: It can't be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SpellError(f"the context file {path} can't be read: {error.strerror}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


class _Reader:
    """Reads the parts of one spell file.

    Args:
        folder: What paths are relative to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[Path, ModuleType] = {}

    def _path(self, part: Part, what: str) -> Path:
        return self._folder / part.text(what)

    def llm(self, part: Part) -> LLM:
        """``provider:model``, or ``{script: FILE}``."""
        if part.is_text:
            with part.blamed():
                return named_llm(part.text("llm"))
        if not part.is_mapping:
            raise part.fault("llm must be PROVIDER:MODEL or {script: FILE}")
        fields = part.fields("llm", ("script",))
        if "script" not in fields:
            raise part.fault("llm must be PROVIDER:MODEL or {script: FILE}")
        with fields["script"].blamed():
            return ScriptedLLM.from_file(self._path(fields["script"], "script"))

    def identity(self, part: Part) -> Identity:
        """An identity's fields, or its system prompt alone."""
        if part.is_text:
            return Identity(system_prompt=part.text("identity"))
        return _model(Identity, part, "identity")

    def circle(self, part: Part) -> Circle:
        """A circle, checked in the order of ``LOOP-2``; a medium has to be named (``MEDIUM-1``)."""
        fields = part.fields("circle", _CIRCLE_KEYS)
        gates = self.gates(fields["gates"], "gates") if "gates" in fields else ()
        packages = _packages(fields["packages"]) if "packages" in fields else ()
        wards = _wards(fields["wards"], packages) if "wards" in fields else Wards()
        with part.blamed():
            Circle(gates=gates, wards=wards).check()
        with fields.get("medium", part).blamed():
            medium = fields["medium"].value() if "medium" in fields else None
            check_medium(medium)
        with fields.get("gates", part).blamed():
            circle = Circle(medium=medium, gates=gates, wards=wards, packages=packages)
            circle.check()  # a medium takes some names for itself
        return circle

    def children(self, part: Part, instead: LLM | None) -> dict[str, Any]:
        """What children are made with; ``instead`` takes the place of their default model."""
        fields = part.fields("children", _CHILDREN_KEYS)
        made_of: dict[str, Any] = {}
        if "llm" in fields:
            made_of["child_llm"] = instead or self.llm(fields["llm"])
        if "llms" in fields:
            llms = fields["llms"].entries("llms")
            made_of["llms"] = {name: self.llm(one) for name, one in llms.items()}
        if "registry" in fields:
            made_of["registry"] = self.gates(fields["registry"], "registry")
        return made_of

    def context(self, part: Part) -> Any:
        """A value, or what ``{file: PATH}`` holds."""
        if part.is_mapping:
            entries = part.entries("context")
            if list(entries) == ["file"] and entries["file"].is_text:
                return _context_file(entries["file"], self._path(entries["file"], "file"))
        return part.value()

    def gates(self, part: Part, what: str) -> tuple[Gate, ...]:
        """A list of gates: names, ``{name: ...}`` or ``{from: FILE.py, name: ...}``."""
        gates = [self._gate(item) for item in part.items(what)]
        with part.blamed():
            return resolve_gates(gates)

    def _gate(self, part: Part) -> Gate:
        if part.is_text:
            with part.blamed():
                return find(part.text("a gate"))
        if not part.is_mapping:
            raise part.fault("a gate must be a name, {name: ...} or {from: FILE.py, name: ...}")
        entries = part.entries("a gate")
        if "name" not in entries:
            raise part.fault("a gate given as a mapping needs a name")
        name = entries["name"]
        with name.blamed():
            if "from" in entries:
                found = self._imported(entries["from"], name)
            else:
                found = find(name.text("a gate's name"))
        return self._configured(found, part)

    def _configured(self, gate: Gate, part: Part) -> Gate:
        """A gate with what its mapping says of it."""
        takes = gate.dependencies.names if gate.dependencies else ()
        known = ("name", "from", *takes, *SETTINGS)
        for key, value in part.fields(f"the gate {gate.name}", known).items():
            with value.blamed():
                if key == "root":
                    gate = gate.bind(root=str(self._path(value, "root")))
                elif key in takes:
                    gate = gate.bind(**{key: value.value()})
                elif key in SETTINGS:
                    gate = gate.configure(**{key: value.value()})
        return gate

    def _imported(self, file: Part, name: Part) -> Gate:
        path, wanted = self._path(file, "from"), name.text("a gate's name")
        if path not in self._modules:
            self._modules[path] = _execute(path, file)
        module = self._modules[path]
        found = getattr(module, wanted, None)
        if isinstance(found, Gate):
            return found
        if callable(found):
            declared: Gate = as_gate(found)
            return declared
        if found is not None:
            raise name.fault(f"{wanted} in {path} is no gate and no function")
        public = [one for one in vars(module) if not one.startswith("_")]
        raise name.fault(f"{path} holds no {wanted!r}; {suggestion(wanted, public)}")


def _source(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise SpellError(f"there is no spell file at {path}") from None
    except OSError as error:
        raise SpellError(f"the spell file {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SpellError(f"the spell file {path} is not UTF-8 text (byte {error.start})") from None


def _given(llm: LLM | str) -> LLM:
    return named_llm(llm) if isinstance(llm, str) else llm


def _context_file(part: Part, path: Path) -> str | bytes:
    try:
        return read_context(path)
    except SpellError as error:
        raise part.fault(str(error)) from None


def _packages(part: Part) -> tuple[str, ...]:
    """The names of packages, each blamed on its own line."""
    names: list[str] = []
    for item in part.items("packages"):
        try:
            names += check_packages([item.text("a package")])
        except ValueError as error:
            raise item.fault(str(error)) from None
    return check_packages(names)


def _wards(part: Part, packages: tuple[str, ...]) -> Wards:
    """Wards, as a list of mappings or as one."""
    given = []
    for entry in part.items("wards") if part.is_list else [part]:
        for name, value in entry.entries("a ward").items():
            with value.blamed():
                Wards.of([{name: value.value()}], packages)  # one by one, for the line
            given.append({name: value.value()})
    return Wards.of(given, packages)


_Model = TypeVar("_Model", bound=BaseModel)


def _model(model: type[_Model], part: Part, what: str) -> _Model:
    """A mapping's fields as a model whose fields all have defaults."""
    given = {}
    for name, field_part in part.fields(what, list(model.model_fields)).items():
        given[name] = field_part.value()
        with field_part.blamed():
            try:
                model(**{name: given[name]})  # one by one, for the line
            except ValidationError as error:
                raise field_part.fault(f"{what}: {explain(error)}") from None
    return model(**given)


def _execute(path: Path, part: Part) -> ModuleType:
    """Import a Python file by its path."""
    if not path.is_file():
        raise part.fault(f"there is no file {path}")
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(f"circlet_spell_{path.stem}_{digest}", path)
    if spec is None or spec.loader is None:
        raise part.fault(f"{path} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and the like look their module up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise part.fault(f"{path} can't be imported: {type(error).__name__}: {error}") from error
    return module
