"""Texts run as code, and the variables that code runs on as a program may see them.

No dictionary that code runs on is ever a program's to hold: with one it could put something of
its own where the guards are looked up. ``globals()`` is a view that checks; a dictionary that is
handed to ``exec`` is kept in step with one of ours. What a program holds of all this has no
state of its own, for an object's state can be written past its class.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableMapping
from types import CodeType, FrameType
from typing import Any
from weakref import WeakKeyDictionary

from . import classes
from .compiling import compile_text
from .names import is_special
from .symbols import TURN
from .tracebacks import remember_source

_OPTIMIZED = 1  # of a code object: its variables are no dictionary, as a function's
_CACHED = 256
"""Texts whose code is kept: one that is evaluated again and again is compiled once."""
STRING = "<string>"
"""What a text without a file name is called."""
_BUILTINS = "__builtins__"
_Names = dict[str, Any]


def is_variable(name: Any) -> bool:
    """Whether a program can have a variable of that name."""
    if type(name) is not str or name == "super":
        return False
    return name.isidentifier() and not is_special(name)


class _Token:
    """Stands for something of ours in a program's hands; it can be compared, and that is all."""

    __slots__ = ("__weakref__",)

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError(f"{type(self).__name__} can't be made here")


class Builtins(_Token):
    """What ``exec`` leaves under ``__builtins__`` in a program's dictionary: which scope it has."""

    def __repr__(self) -> str:
        return "<builtins>"


class Code(_Token):
    """What ``compile`` gives: ``exec`` and ``eval`` take it."""

    def __repr__(self) -> str:
        return "<code>"


class Variables(MutableMapping[str, Any]):
    """The variables of a scope as its program may see and set them: what ``globals()`` gives."""

    __slots__ = ("__weakref__",)
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("globals() gives your variables; make a dict for others")

    def __getitem__(self, name: str) -> Any:
        if not is_variable(name):
            raise KeyError(name)
        return _scopes[self].names[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _scopes[self].check(name)
        _scopes[self].names[name] = value

    def __delitem__(self, name: str) -> None:
        _scopes[self].check(name)
        del _scopes[self].names[name]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in _scopes[self].names if is_variable(name)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))

    def copy(self) -> _Names:
        """The variables as a dictionary."""
        return dict(self)


class _Locals:
    """A program's own mapping as the local names of a text: identifiers only are looked up."""

    def __init__(self, mapping: Any) -> None:
        self._mapping = mapping
        self._hidden: _Names = {}  # what the policy keeps under names of its own

    def __getitem__(self, name: str) -> Any:
        return (self._mapping if is_variable(name) else self._hidden)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        (self._mapping if is_variable(name) else self._hidden)[name] = value

    def variables(self) -> _Names:
        """The local names as a dictionary."""
        return {name: self._mapping[name] for name in self._mapping if is_variable(name)}

    def __delitem__(self, name: str) -> None:
        del (self._mapping if is_variable(name) else self._hidden)[name]


class Scope:
    """A dictionary that code runs on. Never given to a program.

    Args:
        names: The dictionary.
        reserved: Names in it that a program may not rebind.

    Attributes:
        builtins: What its code finds beside it, where that is not what all programs find.
    """

    def __init__(self, names: _Names, reserved: frozenset[str] = frozenset()) -> None:
        self.names = names
        self.reserved = reserved
        self.running = False
        self.builtins: _Names | None = None

    def check(self, name: Any) -> None:
        """Raise unless a program may bind that name."""
        if not is_variable(name):
            raise KeyError(f"{name!r} can't be the name of a variable")
        if name in self.reserved:
            raise KeyError(f"{name!r} is a gate here and can't be rebound")

    def take_from(self, given: _Names) -> None:
        """Have the variables that a program's dictionary has, and no others."""
        for name in [name for name in self.names if is_variable(name) and name not in given]:
            del self.names[name]
        self.names.update(item for item in dict.items(given) if is_variable(item[0]))

    def give_to(self, given: _Names) -> None:
        """Leave in a program's dictionary what there is now."""
        for name in [name for name in given if is_variable(name) and name not in self.names]:
            del given[name]
        for name, value in self.names.items():
            if is_variable(name):
                given[name] = value


_scopes: WeakKeyDictionary[Any, Scope] = WeakKeyDictionary()
_codes: WeakKeyDictionary[Any, CodeType] = WeakKeyDictionary()


def _token(kind: type[_Token] | type[Variables]) -> Any:
    return kind.__new__(kind)


class Texts:
    """``exec``, ``eval``, ``compile``, ``globals`` and ``locals`` as one program finds them.

    Args:
        names: The program's own variables.
        builtins: What its code finds beside them.
    """

    def __init__(self, names: _Names, builtins: _Names) -> None:
        classes.close(_Token, Variables)
        self._main = Scope(names)
        self._view = self._view_of(self._main)
        self._builtins = builtins
        self._compiled: OrderedDict[tuple[str, str, frozenset[str]], CodeType] = OrderedDict()
        self._count = 0

    def __repr__(self) -> str:
        return "<builtins>"

    def reserve(self, names: frozenset[str]) -> None:
        """Let the program not rebind these names."""
        self._main.reserved = names

    # -- the builtins ----------------------------------------------------------------------------

    def exec(self, source: Any, globals: Any = None, locals: Any = None, /) -> None:  # noqa: A002
        """Run a text as a program's own code."""
        self._run(source, "exec", globals, locals, sys._getframe(1))

    def eval(self, source: Any, globals: Any = None, locals: Any = None, /) -> Any:  # noqa: A002
        """The value of a text as an expression of the program's own."""
        return self._run(source, "eval", globals, locals, sys._getframe(1))

    def compile(
        self,
        source: Any,
        filename: Any = STRING,
        mode: str = "exec",
        flags: int = 0,
        dont_inherit: bool = False,  # noqa: ARG002 - the signature of compile
        optimize: int = -1,  # noqa: ARG002
    ) -> Code:
        """The code of a text, for ``exec`` and ``eval``."""
        if mode not in ("exec", "eval") or flags:
            raise ValueError("compile() makes code of mode 'exec' or 'eval' here, without flags")
        code = _token(Code)
        shown = filename if type(filename) is str else STRING
        _codes[code] = self._compile(source, mode, self._main.reserved, shown)
        made: Code = code
        return made

    def globals(self) -> Variables:
        """The variables of the code that asks, to be seen and set."""
        return self._globals_of(_own(sys._getframe(1)))

    def locals(self) -> Any:
        """The local variables of the code that asks, as a copy; ``globals()`` outside functions."""
        return self.variables_of(sys._getframe(1))

    def variables_of(self, caller: FrameType) -> Any:
        """What ``locals()`` gives in that frame."""
        frame = _own(caller)
        if frame is not None and _is_class_body(frame):
            return self._view_of(Scope(frame.f_locals))
        inner = _local_names(frame)
        return self._globals_of(frame) if inner is None else inner

    def _globals_of(self, frame: FrameType | None) -> Variables:
        scope = self._scope_of(frame)
        return self._view if scope is self._main else self._view_of(scope)

    # -- running ---------------------------------------------------------------------------------

    def _run(self, source: Any, mode: str, given: Any, inner: Any, caller: FrameType) -> Any:
        frame = _own(caller)
        scope = self._scope_of(frame) if given is None else self._scope_for(given)
        if inner is None:
            inner = _local_names(frame) if given is None else None
        elif inner is given:
            inner = None
        code = self._code(source, mode, scope.reserved)
        if not isinstance(given, dict) or scope.running:
            return self._execute(code, mode, scope, inner)
        scope.take_from(given)
        scope.running = True
        try:
            return self._execute(code, mode, scope, inner)
        finally:
            scope.running = False
            scope.give_to(given)

    def _execute(self, code: CodeType, mode: str, scope: Scope, inner: Any) -> Any:
        scope.names[_BUILTINS] = scope.builtins or self._builtins
        arguments = (scope.names,) if inner is None else (scope.names, _Locals(inner))
        return eval(code, *arguments) if mode == "eval" else exec(code, *arguments)

    def _code(self, source: Any, mode: str, reserved: frozenset[str]) -> CodeType:
        if isinstance(source, Code):
            return _codes[source]
        return self._compile(source, mode, reserved)

    def _compile(
        self, source: Any, mode: str, reserved: frozenset[str], shown: str = STRING
    ) -> CodeType:
        if isinstance(source, ast.AST):
            # What is checked and what is compiled must be one, and a tree can tell two tales.
            source = ast.unparse(source)
        elif isinstance(source, bytes | bytearray):
            source = bytes(source).decode()
        if not isinstance(source, str):
            kind = type(source).__name__
            raise TypeError(f"{mode}() takes a text or what compile() gave, not {kind!r}")
        source = str.lstrip(source, " \t") if mode == "eval" else str.__str__(source)
        key = (source, mode, reserved)
        if key not in self._compiled:
            self._count += 1
            filename = f"{TURN}text {self._count}>"
            try:
                code = compile_text(source, filename, mode, reserved)
            except SyntaxError as error:
                error.filename = shown
                raise
            remember_source(filename, source)
            self._compiled[key] = code
            if len(self._compiled) > _CACHED:
                _, oldest = self._compiled.popitem(last=False)
                linecache.cache.pop(oldest.co_filename, None)
        self._compiled.move_to_end(key)
        return self._compiled[key]

    # -- scopes ----------------------------------------------------------------------------------

    def _scope_of(self, frame: FrameType | None) -> Scope:
        if frame is None or frame.f_globals is self._main.names:
            return self._main
        return Scope(frame.f_globals)

    def _scope_for(self, given: Any) -> Scope:
        """The scope that belongs to what a program hands over as globals."""
        if isinstance(given, Variables):
            return _scopes[given]
        if not isinstance(given, dict):
            raise TypeError(f"globals must be a dict, not {type(given).__name__!r}")
        token = dict.get(given, _BUILTINS)
        if not isinstance(token, Builtins):
            scope = Scope({"__name__": _module_name(given)})
            if isinstance(token, dict):
                scope.builtins = self._fewer_builtins(token)
            token = _token(Builtins)
            _scopes[token] = scope
            dict.__setitem__(given, _BUILTINS, token)
        return _scopes[token]

    def _fewer_builtins(self, given: _Names) -> _Names:
        """The program's own choice of builtins, and the guards, which are no identifiers."""
        guards = {name: value for name, value in self._builtins.items() if not name.isidentifier()}
        return guards | {name: value for name, value in dict.items(given) if is_variable(name)}

    def _view_of(self, scope: Scope) -> Variables:
        view: Variables = _token(Variables)
        _scopes[view] = scope
        return view


def _module_name(given: _Names) -> str:
    """What a dictionary says its module is called, as long as it is no module that is loaded."""
    name = dict.get(given, "__name__", "builtins")
    is_free = type(name) is str and (name == "__main__" or name not in sys.modules)
    return name if is_free else "builtins"


def _own(frame: FrameType) -> FrameType | None:
    """The frame, if it is one of the program's: a library's variables are nobody's to see."""
    return frame if frame.f_code.co_filename.startswith(TURN) else None


def _is_class_body(frame: FrameType) -> bool:
    if frame.f_code.co_flags & _OPTIMIZED or isinstance(frame.f_locals, _Locals):
        return False
    return frame.f_locals is not frame.f_globals


def _local_names(frame: FrameType | None) -> Mapping[str, Any] | None:
    """What is local to a frame, of a function as a copy; None where that is what is global."""
    if frame is None or frame.f_locals is frame.f_globals:
        return None
    if isinstance(frame.f_locals, _Locals):
        return frame.f_locals.variables()
    if _is_class_body(frame):
        return frame.f_locals
    return {name: value for name, value in frame.f_locals.items() if is_variable(name)}
