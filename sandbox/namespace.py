"""What a program finds: its builtins, its imports, and the guards that its code calls."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import classes, guards
from .facades import build, streams
from .facades.facade import Facade
from .facades.names import LEFT_OUT
from .names import is_special
from .outcomes import OUTCOMES
from .scopes import Texts
from .symbols import (
    GUARD_ATTRIBUTE,
    GUARD_CAUGHT,
    GUARD_OWN,
    GUARD_PATTERNS,
    GUARD_SLOTS,
    PLAIN_CLASSES,
    TYPE_OF,
)

PLAIN_BUILTINS = (
    "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict "
    "divmod enumerate filter float format frozenset hash hex id int isinstance issubclass iter "
    "len list map max memoryview min next object oct ord pow property range repr reversed round "
    "set slice sorted staticmethod str sum super tuple zip NotImplemented Ellipsis"
).split()
"""Builtins that a program finds as they are."""

CLOSED_BUILTINS = {
    "open": "there are no files here: use a gate to read or write, or io.StringIO for a text",
    "breakpoint": "there is no debugger here: print what you want to see",
    "help": "print an object's __doc__ instead",
    "exit": "a turn ends at its last line; when you have the result, call done(result)",
    "quit": "a turn ends at its last line; when you have the result, call done(result)",
}
"""Builtins that are closed, and what to do instead."""


def _closed(name: str, instead: str) -> Callable[..., Any]:
    # What a program that tries to open a file is ready for is that there is none.
    error = FileNotFoundError if name == "open" else NameError

    def refuse(*_: Any, **__: Any) -> Any:
        raise error(f"{name}() is not available: {instead}")

    return refuse


def _of_package(name: str, fromlist: Iterable[str] | None) -> Any:
    """A loaded package, or a submodule of one, as an import statement wants it."""
    package = name.partition(".")[0]
    if name not in sys.modules:
        raise ModuleNotFoundError(f"the package {package} has no module {name!r} here", name=name)
    return sys.modules[name if fromlist else package]


class Namespace:
    """One program's variables, with the builtins and imports that its code runs on.

    Args:
        facades: Every facade there is, by module name.
        write: Takes what the program prints.
        checked: Whether its builtins are the guarded ones; for tests of the other wall alone.
        packages: Names of loaded packages that it may import, with all of their submodules.
    """

    def __init__(
        self,
        facades: Mapping[str, type[Facade]],
        write: Callable[[str], None],
        checked: bool = True,
        packages: Iterable[str] = (),
    ) -> None:
        self._facades = facades
        self._packages = frozenset(packages)
        self._importable = sorted({*facades, *self._packages})
        streams.connect(write)
        self._fixed: dict[str, Any] = {}
        # A module of that name must hold the variables: dataclass and Enum look for the one
        # that a class says it comes from.
        self.module = types.ModuleType("__main__")
        self.variables: dict[str, Any] = vars(self.module)
        self.variables.update(OUTCOMES)
        self._builtins: dict[str, Any] = {}
        self._texts = Texts(self.variables, self._builtins)
        self._pristine = self._make_builtins() if checked else self._plain_builtins()
        self.restore()

    def narrow(self, modules: Iterable[str] | None) -> None:
        """Let the program import these modules only; None lets it import all.

        Raises:
            ValueError: A module has no facade, and is no package.
        """
        if modules is None:
            return
        wanted = set(modules)
        unknown = sorted(wanted.difference(self._importable))
        if unknown:
            raise ValueError(
                f"no module {unknown[0]!r} can be given to a program; "
                f"there are: {', '.join(self._importable)}"
            )
        self._importable = sorted(wanted)
        self._packages &= wanted
        self._facades = build.narrowed(self._facades, wanted - self._packages)

    def fix(self, names: Mapping[str, Any]) -> None:
        """Give the program names that it can't lose: its gates."""
        self._fixed.update(names)
        self._texts.reserve(self.reserved)
        self.restore()

    @property
    def reserved(self) -> frozenset[str]:
        """The names that a turn may not rebind."""
        return frozenset(self._fixed)

    @property
    def modules(self) -> dict[str, Any]:
        """What the program can import, by name."""
        return {name: self._facades.get(name) or sys.modules[name] for name in self._importable}

    @property
    def builtins(self) -> Mapping[str, Any]:
        """What the program finds beside its own variables."""
        return self._builtins

    def restore(self) -> list[Any]:
        """Put back what the runner relies on, whatever the program did to it.

        Returns:
            What stood there: to let go of it may run code of the program's.
        """
        names = ("__builtins__", "__name__", *self._fixed)
        left = [build.restore(), list(self._builtins.values())]
        left.append([self.variables.get(name) for name in names])
        self._builtins.update(self._pristine)
        self.variables["__builtins__"] = self._builtins
        self.variables["__name__"] = "__main__"
        self.variables.update(self._fixed)
        return left

    def _make_builtins(self) -> dict[str, Any]:
        names = {name: getattr(builtins, name) for name in PLAIN_BUILTINS}
        for name, value in vars(builtins).items():
            if isinstance(value, type) and issubclass(value, BaseException):
                names[name] = value
        names.update({name: _closed(name, instead) for name, instead in CLOSED_BUILTINS.items()})
        names.update(
            {
                "type": classes.Type,
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
                "print": streams.show,
                "input": streams.read_line,
                "__import__": self._import,
                "__build_class__": classes.build_class,
                GUARD_ATTRIBUTE: guards.attribute,
                GUARD_OWN: guards.own,
                GUARD_CAUGHT: guards.caught,
                GUARD_PATTERNS: guards.patterns,
                GUARD_SLOTS: classes.slots,
                PLAIN_CLASSES: classes.PlainClasses(),
                TYPE_OF: type,
                "<BaseException>": BaseException,
            }
        )
        for name, value in names.items():
            function = getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType) and name.isidentifier():
                function.__name__ = function.__qualname__ = name  # as its errors call it
        return names

    def __repr__(self) -> str:
        return "<builtins>"

    def _plain_builtins(self) -> dict[str, Any]:
        return {**vars(builtins), "print": streams.show}

    def _vars(self, *args: Any) -> Any:
        """The attributes of the program's own objects; without one, what ``locals()`` gives."""
        return guards.variables(*args) if args else self._texts.variables_of(sys._getframe(1))

    def _dir(self, *args: Any) -> list[str]:
        """The names that an object has, or those of the scope, without the special ones."""
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
        if type(name) is str and not level and name.partition(".")[0] in self._packages:
            return _of_package(name, fromlist)
        if type(name) is not str or level or name not in self._importable:
            reason = LEFT_OUT.get(name) or LEFT_OUT.get(str(name).partition(".")[0])
            raise ModuleNotFoundError(
                f"no module {name!r} here{f' ({reason})' if reason else ''}; "
                f"you can import: {', '.join(self._importable)}",
                name=name,
            )
        if not fromlist:
            return self._facades[name.partition(".")[0]]
        _check_names(self._facades[name], fromlist)
        return self._facades[name]


def _check_names(facade: type[Facade], names: Iterable[str]) -> None:
    """Raise ImportError unless a facade has all of these names.

    For one that it lacks, Python itself would look for a module of that name among all that
    are loaded.
    """
    for name in names:
        if name != "*" and not hasattr(facade, name):
            module = facade.__name__
            raise ImportError(f"cannot import name {name!r} from {module!r}", name=module)
