"""Bytes as a program's variables: read by a machine that knows few of pickle's instructions.

It looks up no names, sets no state, makes no instances; and it calls only what stands in the table
of ``MAKERS``. Bytes that a hostile program has written can do nothing with it that the program
could not do itself.
"""

from __future__ import annotations

import decimal
import io
import pickle
import types
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..tracebacks import kind_of, message_of
from . import generators, own_classes, own_functions, own_objects, values
from .errors import Unloadable
from .names import Names, find, is_kept
from .shapes import Parts, row
from .sources import Compiled


@dataclass
class Loading:
    """An image that is being read.

    Attributes:
        names: What things are called.
        compiled: The sources of its functions.
        cells: Variables of closures, by their numbers, those that keep a method's class apart.
        tuples: What makes the objects of the named tuples that were made.
    """

    names: Names
    compiled: Compiled
    cells: defaultdict[Parts, types.CellType] = field(
        default_factory=lambda: defaultdict(types.CellType)
    )
    tuples: dict[Any, Any] = field(default_factory=dict)


_INSTRUCTIONS = (
    *(pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.POP, pickle.POP_MARK),
    *(pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.BINFLOAT),
    *(pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1, pickle.LONG4),
    *(pickle.SHORT_BINUNICODE, pickle.BINUNICODE, pickle.BINUNICODE8),
    *(pickle.SHORT_BINBYTES, pickle.BINBYTES, pickle.BINBYTES8, pickle.BYTEARRAY8),
    *(pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
    *(pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_SET, pickle.FROZENSET),
    *(pickle.MEMOIZE, pickle.BINGET, pickle.LONG_BINGET),
)
"""What the reading machine knows of pickle as it is; what it has of its own comes on top."""


_MACHINE: Any = pickle._Unpickler


class _Reader(_MACHINE):  # type: ignore[misc]
    """The machine that reads an image. In Python, so that a deadline can end it anywhere."""

    dispatch = {code[0]: _MACHINE.dispatch[code[0]] for code in _INSTRUCTIONS}

    def __init__(self, body: bytes | bytearray | memoryview) -> None:
        super().__init__(io.BytesIO(body))
        self.loading: Loading | None = None

    def find_class(self, module: str, name: str) -> NoReturn:
        """Nothing is found by a name."""
        raise ValueError(f"{module}.{name} is named")

    def _name(self) -> None:
        """The maker to call is left as a text: nobody can get hold of one."""
        name, _ = self.stack.pop(), self.stack.pop()
        self.stack.append(name)

    dispatch[pickle.STACK_GLOBAL[0]] = _name

    def _call(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(arguments) is not tuple:
            raise ValueError("what is called is no name")
        self.stack.append(MAKERS[name](self.loading, *arguments))

    dispatch[pickle.REDUCE[0]] = _call

    def _append(self) -> None:
        value = self.stack.pop()
        self._top(list).append(value)

    dispatch[pickle.APPEND[0]] = _append

    def _extend(self) -> None:
        values = self.pop_mark()
        self._top(list).extend(values)

    dispatch[pickle.APPENDS[0]] = _extend

    def _add(self) -> None:
        values = self.pop_mark()
        self._top(set).update(values)

    dispatch[pickle.ADDITEMS[0]] = _add

    def _set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._top(dict)[key] = value

    dispatch[pickle.SETITEM[0]] = _set_item

    def _set_items(self) -> None:
        values = self.pop_mark()
        self._top(dict).update(zip(values[::2], values[1::2], strict=True))

    dispatch[pickle.SETITEMS[0]] = _set_items

    def _top(self, kind: type) -> Any:
        if type(self.stack[-1]) is not kind:
            raise ValueError("what is filled is another container")
        return self.stack[-1]


def load(body: bytes | bytearray | memoryview, names: Names) -> None:
    """Read an image into a program's variables.

    Args:
        body: Its bytes, of which nothing is trusted.
        names: What things are called.

    Raises:
        Unloadable: It can't be had here, or is malformed.
        MemoryError: It takes more than the session has.
    """
    try:
        _load(_Reader(body), names)
    except (Unloadable, MemoryError):
        raise
    except SyntaxError as error:
        raise Unloadable(f"its source is refused: {message_of(error)}") from None
    except Exception as error:  # of the program's own code, or for bytes that are none of ours
        raise Unloadable(f"it can't be read: {kind_of(error)}: {message_of(error)}") from None


def _load(reader: _Reader, names: Names) -> None:
    compiled = Compiled(frozenset(names.gates), names.checked)
    loading = reader.loading = Loading(names, compiled)
    head = reader.load()
    compiled.read(head["sources"])
    reader.load()  # classes and functions, which are now known to what follows
    for fill in (
        own_classes.fill_methods,
        own_functions.fill_function,
        own_functions.fill_cell,
        own_classes.fill_class,
    ):
        for x, contents in reader.load():
            fill(loading, x, contents)
    while (variable := reader.load()) is not None:
        _bind(names, *row(variable))
    while (waiting := reader.load()) is not None:
        for x, state in waiting:
            own_objects.fill_object(loading, x, state)
    generators.go_on(head["generators"])
    decimal.setcontext(head["decimal"])


def _bind(names: Names, name: Any, value: Any) -> None:
    if not is_kept(name) or (name == "__annotations__" and type(value) is not dict):
        raise ValueError("a variable has no name that it can have")
    if name in names.gates:
        raise Unloadable(
            f"it has a variable {name!r}, which is a gate of this session; give the gate another "
            "name"
        )
    names.variables[name] = value


MAKERS: dict[str, Callable[..., Any]] = {
    maker.__name__: maker
    for maker in (
        find,
        *own_functions.MAKERS,
        *own_classes.MAKERS,
        *own_objects.MAKERS,
        *values.MAKERS,
    )
}
"""What an image can have called, by name; each is given the loading before its arguments."""
