"""A program's variables as bytes: a pickle that names nothing but what stands in a table.

Written by Python's own pickler, which is given a reduction for whatever is no plain container or
value, and so runs none of the program's code. ``unpickling`` reads it.

First come all classes and functions, bare; then methods; then what functions and classes hold;
then the variables, one by one, bound as they are read. So an object that is put into a dictionary
finds its ``__hash__``, and what that uses.
"""

from __future__ import annotations

import decimal
import enum
import pickle
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .. import classes
from ..compiling import calls_deep
from ..facades.interpreter import MOST_CALLS
from ..limits import MAX_IMAGE
from . import generators, own_classes, own_functions, own_objects, values
from .errors import TooLarge, Unfit
from .names import Names, find
from .shapes import Parts
from .sources import Sources
from .unpickling import MAKERS

PROTOCOL = 5
_NAME_CHARS, _REASON_CHARS, _MOST_TOLD = 200, 300, 1_000


class Found:
    """Objects in the order in which they were found, each once.

    Attributes:
        all: The objects.
    """

    def __init__(self) -> None:
        self.all: list[Any] = []
        self._numbers: dict[int, int] = {}

    def note(self, x: Any) -> int:
        """The number of an object, from 0."""
        number = self._numbers.setdefault(id(x), len(self.all))
        if number == len(self.all):
            self.all.append(x)  # as long as it is here, no other object has its id
        return number


@dataclass
class Plan:
    """What is known of an image that is being written.

    Attributes:
        names: What things are called.
        sources: The sources of its functions.
        deferring: Whether objects wait for what they hold.
        classes: The program's own classes in it; functions and cells likewise.
        waiting: Objects that wait.
    """

    names: Names
    sources: Sources
    deferring: bool = False
    classes: Found = field(default_factory=Found)
    functions: Found = field(default_factory=Found)
    cells: Found = field(default_factory=Found)
    waiting: list[Any] = field(default_factory=list)

    def take(self, x: Any) -> Any:
        """Take an object apart: what makes it, with which arguments, and what fills it.

        Raises:
            Unfit: It can't be kept.
        """
        if type(x) is types.FunctionType and MAKERS.get(x.__name__) is x:
            return NotImplemented
        known = self.names.of(x)
        if known is not None:
            return find, known
        kind = type(x)
        taker = own_functions.TAKERS.get(kind) or _taker_of(x, kind)
        if taker is None:
            raise values.unfit(x)
        try:
            return taker(self, x)
        except (Unfit, RecursionError, MemoryError):
            raise
        except Exception as error:  # of the library's own, about what it can't take apart
            raise Unfit(f"a {kind.__name__} can't be taken apart: {error}") from None


def _taker_of(x: Any, kind: type) -> Callable[[Any, Any], Parts] | None:
    if classes.is_class(x):
        return own_classes.take_class
    if isinstance(kind, enum.EnumMeta):
        return own_classes.take_member
    if classes.is_own(kind) or kind in own_objects.EXACT or issubclass(kind, BaseException):
        return own_objects.take_object
    return values.taker_of(kind)


class _Writer(pickle.Pickler):
    def __init__(self, plan: Plan, sink: Any) -> None:
        super().__init__(sink, PROTOCOL)
        self._plan = plan

    def reducer_override(self, x: Any) -> Any:
        return self._plan.take(x)


class _Sink:
    """Takes the bytes of an image, and no more than one may have."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> None:
        self._size += len(data)
        if self._size > MAX_IMAGE:
            raise TooLarge(f"it would take more than {MAX_IMAGE:,} bytes")
        self.parts.append(bytes(data))


class _Nowhere:
    def write(self, data: Any) -> None:
        """Take bytes and drop them."""


def dump(names: Names) -> tuple[bytes, dict[str, str]]:
    """Write down the program's variables. Runs none of the program's code.

    Args:
        names: What things are called.

    Returns:
        The bytes, and the variables that can't be kept, each with the reason.

    Raises:
        TooLarge: They take more than ``MAX_IMAGE``, or than there is memory.
    """
    try:
        with calls_deep(MOST_CALLS):
            return _dump(names)
    except MemoryError:
        raise TooLarge("to write it takes more memory than the session has left") from None


def _dump(names: Names) -> tuple[bytes, dict[str, str]]:
    variables = names.own()
    left_out: dict[str, str] = {}
    try:
        plan = _survey(names, variables)
    except Unfit:
        for name, value in variables.items():
            try:
                _survey(names, {name: value})
            except Unfit as error:
                left_out[name] = str(error)
        variables = {name: value for name, value in variables.items() if name not in left_out}
        plan = _survey(names, variables)
    sink = _Sink()
    writer = _Writer(plan, sink)
    for segment in _segments(plan, variables):
        writer.dump(segment)
    return b"".join(sink.parts), _told(left_out)


def _told(left_out: Mapping[str, str]) -> dict[str, str]:
    """What is told of variables that can't be kept: of each a little, and not of thousands."""
    told = {
        name[:_NAME_CHARS]: reason[:_REASON_CHARS]
        for name, reason in islice(left_out.items(), _MOST_TOLD)
    }
    if len(left_out) > _MOST_TOLD:
        told["..."] = f"so are {len(left_out) - _MOST_TOLD:,} more"
    return told


def _survey(names: Names, variables: Mapping[str, Any]) -> Plan:
    """Find the classes, functions and cells behind variables.

    Raises:
        Unfit: A variable can't be kept.
    """
    sources = Sources(names.checked)
    for deferring in (False, True):
        plan = Plan(names, sources, deferring)
        writer = _Writer(plan, _Nowhere())
        try:
            writer.dump(variables)
            for contents in _found(plan):
                writer.dump(contents)
        except RecursionError:
            continue
        except pickle.PicklingError as error:
            raise Unfit(f"it can't be taken apart: {error}") from None
        return Plan(names, sources, deferring, plan.classes, plan.functions, plan.cells)
    raise Unfit("it nests too deep; keep it in pieces, or in flat lists with indexes")


def _found(plan: Plan) -> Iterator[Any]:
    """What the things hold that were found so far, and those that are found meanwhile."""
    found = (plan.functions.all, plan.cells.all, plan.classes.all, plan.waiting)
    seen = [0] * len(found)
    while any(count < len(each) for count, each in zip(seen, found, strict=True)):
        for place, each in enumerate(found):
            while seen[place] < len(each):
                seen[place] += 1
                yield _contents(plan, each[seen[place] - 1])


def _contents(plan: Plan, x: Any) -> Any:
    if type(x) is types.FunctionType:
        return own_functions.contents_of(x)
    if type(x) is types.CellType:
        return own_functions.cell_contents(x)
    if classes.is_class(x):
        return own_classes.methods_of(plan, x), own_classes.contents_of(plan, x)
    return own_objects.state_of(x)


def _segments(plan: Plan, variables: Mapping[str, Any]) -> Iterator[Any]:
    """What an image is made of, in the order in which it is read."""
    functions, kinds = plan.functions.all, plan.classes.all
    yield {
        "sources": plan.sources.texts,
        "generators": generators.states(),
        "decimal": decimal.getcontext().copy(),
    }
    yield kinds, functions
    yield [(kind, own_classes.methods_of(plan, kind)) for kind in kinds]
    yield [(each, own_functions.contents_of(each)) for each in functions]
    yield [
        (number, own_functions.cell_contents(cell)) for number, cell in enumerate(plan.cells.all, 1)
    ]
    yield [(kind, own_classes.contents_of(plan, kind)) for kind in kinds]
    yield from variables.items()
    yield None
    while plan.waiting:
        waiting, plan.waiting = plan.waiting, []
        yield [(x, own_objects.state_of(x)) for x in waiting]
    yield None
