"""What objects in an image are called that are not the program's own: facades, builtins, gates."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..names import MODULE_VARIABLES, is_special
from ..outcomes import OUTCOMES
from ..scopes import is_variable
from .errors import Unloadable
from .own_classes import ORDERINGS
from .shapes import Parts, text

if TYPE_CHECKING:
    from .unpickling import Loading

_KEPT = MODULE_VARIABLES | {"__annotations__"}
"""Special names that a program's variables may have."""
_OTHERS: dict[str, Any] = {
    "NoneType": types.NoneType,
    **OUTCOMES,
    **{f"ordering {place}": made for place, made in enumerate(ORDERINGS)},
}
"""What a program may hold that has no name for it."""


@dataclass
class Names:
    """What an object is called that is not the program's own.

    Args:
        variables: The program's variables.
        modules: What it can import, by name.
        builtins: What it finds beside its variables.
        gates: Its gates, by name.
        checked: Whether its sources are compiled by the policy's rules.
    """

    variables: dict[str, Any]
    modules: Mapping[str, Any]
    builtins: Mapping[str, Any]
    gates: Mapping[str, Any]
    checked: bool = True

    def __post_init__(self) -> None:
        self._known: dict[int, Parts] = {}
        for module, face in self.modules.items():
            self._know(face, "", module)
            for name, value in vars(face).items():
                self._know(value, module, name)
        for name, value in self.builtins.items():
            if name.isidentifier():
                self._know(value, "builtins", name)
        for name, value in _OTHERS.items():
            self._know(value, "others", name)
        for name, value in self.gates.items():
            self._know(value, "gates", name)

    def _know(self, value: Any, module: str, name: str) -> None:
        if not is_special(name):
            self._known.setdefault(id(value), (module, name))

    def of(self, value: Any) -> Parts | None:
        """The home and the name of a value, or None."""
        return self._known.get(id(value))

    def find(self, home: str, name: str) -> Any:
        """The value of that name.

        Raises:
            Unloadable: It can't be had here.
        """
        if home == "gates" and name not in self.gates:
            raise Unloadable(f"it holds the gate {name!r}, which this session lacks")
        if home == "" and name not in self.modules:
            raise Unloadable(f"it holds the module {name!r}, which can't be imported here")
        places = {"gates": self.gates, "": self.modules, "others": _OTHERS}
        if home in places:
            return places[home][name]
        if home != "builtins" and home not in self.modules:
            raise Unloadable(f"it holds {home}.{name}, and {home!r} can't be imported here")
        names = self.builtins if home == "builtins" else vars(self.modules[home])
        if is_special(name) or not name.isidentifier() or name not in names:
            raise Unloadable(f"it holds {home}.{name}, which is not there")
        return names[name] if home == "builtins" else getattr(self.modules[home], name)

    def own(self) -> dict[str, Any]:
        """The variables that are the program's, by name."""
        return {
            name: value
            for name, value in self.variables.items()
            if name not in self.gates and is_kept(name) and OUTCOMES.get(name, self) is not value
        }


def is_kept(name: Any) -> bool:
    """Whether a program can have a variable of that name, which an image keeps."""
    return type(name) is str and (is_variable(name) or name in _KEPT)


def find(loading: Loading, home: str, name: str) -> Any:
    """What is not the program's own, by its name."""
    return loading.names.find(text(home), text(name))
