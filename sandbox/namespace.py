"""What a program finds: its builtins, its imports, and the guards that its code calls."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import guards
from .facades.build import narrowed
from .facades.facade import Facade
from .outcomes import ChildFailed, GateInterrupted, Truncated
from .policy import GUARD_ATTRIBUTE, GUARD_CAUGHT, GUARD_OWN, is_special
from .preview import without_addresses
from .scopes import Texts

_PLAIN = [
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "ord",
    "pow",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "zip",
    "NotImplemented",
    "Ellipsis",
]
"""Builtins that a program finds as they are."""

_INSTEAD = {
    "open": "there are no files here: use a gate to read or write, or io.StringIO for a text",
    "input": "nobody is there to answer: work with what you have, or ask through a gate",
    "breakpoint": "there is no debugger here: print what you want to see",
    "help": "print an object's __doc__ instead",
    "exit": "a turn ends at its last line; when you have the result, call done(result)",
    "quit": "a turn ends at its last line; when you have the result, call done(result)",
}
"""Builtins that are closed, and what to do instead."""

NAMES: Mapping[str, Any] = {
    "Truncated": Truncated,
    "ChildFailed": ChildFailed,
    "GateInterrupted": GateInterrupted,
}
"""Names of ours that every program finds."""


def _closed(name: str, instead: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NameError(f"{name}() is not available: {instead}")

    return refuse


class Namespace:
    """One program's variables, with the builtins and imports that its code runs on.

    Args:
        facades: Every facade there is, by module name.
        write: Takes what the program prints.
        checked: Whether its builtins are the guarded ones; for tests of the other wall alone.
    """

    def __init__(
        self,
        facades: Mapping[str, type[Facade]],
        write: Callable[[str], None],
        checked: bool = True,
    ) -> None:
        self._facades = facades
        self._importable = sorted(facades)
        self._write = write
        self._fixed: dict[str, Any] = {}
        # A module of that name must hold the variables: dataclass and Enum look for the one
        # that a class says it comes from.
        self.module = types.ModuleType("__main__")
        self.variables: dict[str, Any] = vars(self.module)
        self.variables.update(NAMES)
        self._builtins: dict[str, Any] = {}
        self._texts = Texts(self.variables, self._builtins)
        self._pristine = self._make_builtins() if checked else self._plain_builtins()
        self.restore()

    def narrow(self, modules: Iterable[str] | None) -> None:
        """Let the program import these modules only; None lets it import all.

        Raises:
            ValueError: A module has no facade.
        """
        if modules is None:
            return
        unknown = sorted(set(modules) - set(self._facades))
        if unknown:
            raise ValueError(
                f"no module {unknown[0]!r} can be given to a program; "
                f"there are: {', '.join(sorted(self._facades))}"
            )
        self._importable = sorted(modules)
        self._facades = narrowed(self._facades, self._importable)

    def fix(self, names: Mapping[str, Any]) -> None:
        """Give the program names that it can't lose: its gates."""
        self._fixed.update(names)
        self._texts.reserve(self.reserved)
        self.restore()

    @property
    def reserved(self) -> frozenset[str]:
        """The names that a turn may not rebind."""
        return frozenset(self._fixed)

    def restore(self) -> None:
        """Put back what the runner relies on, whatever the program did to it."""
        self._builtins.update(self._pristine)
        self.variables["__builtins__"] = self._builtins
        self.variables["__name__"] = "__main__"
        self.variables.update(self._fixed)

    def _make_builtins(self) -> dict[str, Any]:
        names = {name: getattr(builtins, name) for name in _PLAIN}
        for name, value in vars(builtins).items():
            if isinstance(value, type) and issubclass(value, BaseException):
                names[name] = value
        names.update({name: _closed(name, instead) for name, instead in _INSTEAD.items()})
        names.update(
            {
                "type": guards.Type,
                "getattr": guards.get_attribute,
                "hasattr": guards.has_attribute,
                "setattr": guards.set_attribute,
                "delattr": guards.delete_attribute,
                "vars": self._vars,
                "dir": self._dir,
                "exec": self._texts.exec,
                "eval": self._texts.eval,
                "compile": self._texts.compile,
                "globals": self._texts.globals,
                "locals": self._texts.locals,
                "print": self._print,
                "__import__": self._import,
                "__build_class__": guards.build_class,
                GUARD_ATTRIBUTE: guards.attribute,
                GUARD_OWN: guards.own,
                GUARD_CAUGHT: guards.caught,
                "<Exception>": Exception,
            }
        )
        return names

    def _plain_builtins(self) -> dict[str, Any]:
        return {**vars(builtins), "print": self._print}

    def _print(
        self,
        *values: Any,
        sep: str | None = " ",
        end: str | None = "\n",
        file: Any = None,
        flush: bool = False,  # noqa: ARG002 - the signature of print
    ) -> None:
        separator = " " if sep is None else sep
        text = separator.join([str(value) for value in values]) + ("\n" if end is None else end)
        (self._write if file is None else file.write)(without_addresses(text))

    def _vars(self, *args: Any) -> Any:
        return guards.variables(*args) if args else self._texts.variables_of(sys._getframe(1))

    def _dir(self, *args: Any) -> list[str]:
        names = dir(*args) if args else list(self._texts.variables_of(sys._getframe(1)))
        return sorted(name for name in names if not is_special(name))

    def _import(
        self,
        name: str,
        _globals: Any = None,
        _locals: Any = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> Any:
        if type(fromlist) is list and name in sys.modules:
            # C code (time.strptime, for one) imports through here and looks the module up
            # itself; an import statement gives a tuple or None. Nothing is given away.
            return None
        if type(name) is not str or level or name not in self._importable:
            raise ModuleNotFoundError(
                f"no module {name!r} here; you can import: {', '.join(self._importable)}", name=name
            )
        wanted = name if fromlist else name.partition(".")[0]
        return self._facades[wanted]
