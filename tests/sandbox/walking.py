"""A walk over objects by all that the policy admits: see ``reach.py``."""

from __future__ import annotations

import functools
import gc
import json
import operator
import signal
import sys
import types
from collections import Counter, deque
from typing import Any

from circlet.sandbox import classes, guards
from circlet.sandbox.facades.facade import Facade
from outside import why_bad
from recorders import Recorders

MAX_OBJECTS = 300_000
MAX_DEPTH = 6
SAMPLES = 8
"""Objects of a class, or functions of one code, that are followed where calls made them: others
are like them."""
CALL_SECONDS = 0.05
LIBRARY = ("loop", "run_until_complete", "run_forever", "sleep", "exit", "serve")
"""Names that are not called: they only wait."""
PLAIN = (str, int, float, bool, bytes, complex, type(None), range, slice)
FEW = 7
"""Of the arguments, those that are tried where much is called."""
OBJECTS = 2
"""Objects of a subclass that are used."""
FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
ERROR_NAMES = ("args", "obj", "name", "value", "object", "exceptions", "__notes__", "code")
"""What an error may tell of where it came up."""
PROTOCOLS = {"__iter__": 3, "__await__": 5, "__aiter__": 0, "__enter__": 0, "__anext__": 0}
"""How objects are asked for others, and how many steps are taken with the answer."""
OPERATIONS = (
    *(operator.eq, operator.ne, operator.lt, operator.ge, operator.contains, operator.getitem),
    *(operator.add, operator.mul, operator.mod, operator.or_, operator.and_, operator.sub),
)
VIEWS = (types.MappingProxyType,)
"""Classes whose objects keep another from being changed."""


class Walk:
    """One walk, breadth first; each object is looked at once.

    Args:
        recorders: Of the program that walks.
    """

    def __init__(self, recorders: Recorders) -> None:
        self.recorders = recorders
        self.plain = recorders.variables["Plain"]
        self.arguments = _arguments(recorders.variables)
        self.seen: dict[int, Any] = {}
        self.kinds: set[tuple[type, str]] = set()
        self.operated: set[type] = set()
        self.failed: set[tuple[str, type]] = set()
        self.waiting: deque[tuple[Any, str, int, bool]] = deque()
        self.bad: dict[str, str] = {}
        self.samples: Counter[Any] = Counter()
        self.made: set[type] = {self.plain, recorders.variables["Recorder"]}
        self.calls = self.handed = 0

    def add(self, obj: Any, path: str, depth: int, given: bool) -> None:
        """Have an object looked at; ``given`` where it was there before any call."""
        if type(obj) in PLAIN and depth > 1:
            return  # numbers and texts: their methods have been looked at
        if id(obj) in self.seen or len(self.seen) >= MAX_OBJECTS:
            return
        kind = _sort(obj)
        self.samples[kind] += 1
        is_like_others = self.samples[kind] > SAMPLES and kind is not type
        if not given and is_like_others and not any(map(classes.leads_out, _parts(obj))):
            return
        self.seen[id(obj)] = obj  # kept, so that no other gets its identity
        if why := why_bad(obj, path, given, self.made):
            self.bad[path] = why
        elif depth < MAX_DEPTH:
            self.waiting.append((obj, path, depth + 1, given))

    def run(self) -> None:
        """Go on until there is nothing new."""
        while self.waiting:
            obj, path, depth, given = self.waiting.popleft()
            self._attributes(obj, path, depth, given)
            self._items(obj, path, depth, given)
            self._calls(obj, path, depth)
            self._operations(obj, path, depth)
            self._held(obj, path, depth)
            if given:
                self._keywords(obj, path, depth)
                self._short_of_depth(obj, path, depth)
            if classes.is_class(obj) and depth < MAX_DEPTH - 1:
                self._heirs(obj, path, depth)
            self._handed(path, depth)

    # -- recorders ---------------------------------------------------------------------------

    def _handed(self, path: str, depth: int) -> None:
        """Look at what recorders were handed."""
        for obj in self.recorders.taken():
            self.handed += 1
            self.add(obj, f"{path} > recorder", depth + 1, False)

    def _heirs(self, kind: type, path: str, depth: int) -> None:
        """Look at what a class keeps in its objects, and what it hands to methods of a subclass."""
        made = iter(self.recorders.heirs(kind))
        for sort in ("Heir", "Overriding", "WithRecorders"):
            try:
                heir = next(made)
            except BaseException:
                return
            self.made.add(heir)
            self._heir(heir, f"{sort}({path})", depth, names=sort == "Heir")

    def _heir(self, heir: type, path: str, depth: int, names: bool) -> None:
        bases = type.mro(type(heir)) + type.mro(heir)
        for name in {name for base in bases for name in vars(base)} if names else ():
            try:
                self.add(guards.get_attribute(heir, name), f"{path}.{name}", depth, False)
            except BaseException:
                continue
        used = 0
        for args in self.arguments if names else self.arguments[:FEW]:
            try:
                obj = self._within_time(heir, *args)
                kept = dict(vars(obj))
            except BaseException as error:
                self._error(error, f"{path}()", depth)
                continue
            for name, value in kept.items():
                self.add(value, f"{path}.{name}", depth + 1, False)
            if not names and used < OBJECTS:
                used += 1
                self._exchanged(obj, path, depth)
            self._handed(path, depth)

    def _exchanged(self, obj: Any, path: str, depth: int) -> None:
        """Call an object's methods; then with recorders in the place of what it keeps."""
        self._use(obj, path, depth)
        for name in [name for name in vars(obj) if not name.startswith("_")]:
            try:
                guards.set_attribute(obj, name, self.recorders.variables["recorder"])
            except BaseException:
                continue
        self._use(obj, f"{path} of recorders", depth)

    def _use(self, obj: Any, path: str, depth: int) -> None:
        names = {name for base in type.mro(type(obj)) for name in vars(base)}
        for name in sorted(names - {"__init__"}):  # which would set it up anew
            try:
                method = guards.get_attribute(obj, name)
            except BaseException as error:
                self._error(error, f"{path}.{name}", depth)
                continue
            if callable(method) and name not in LIBRARY and not classes.is_class(method):
                self._calls(method, f"{path}.{name}", depth, self.arguments[:FEW])
        self._held(obj, path, depth)

    def _held(self, obj: Any, path: str, depth: int) -> None:
        """Look at what a descriptor gives, as an attribute of a class of the program's own."""
        if not hasattr(type(obj), "__get__") or isinstance(obj, FUNCTIONS):
            return
        if (type(obj), path) in self.kinds:
            return
        self.kinds.add((type(obj), path))
        try:
            holder = self.recorders.variables["held"](obj)
            self.made.add(holder)
            values = [self._within_time(getattr, one, "value") for one in (holder(), holder)]
        except BaseException as error:
            self._error(error, f"held({path})", depth)
            return
        for value in values:
            self.add(value, f"held({path})", depth + 1, False)
            if callable(value):
                self._calls(value, f"held({path})", depth, self.arguments[:FEW])

    def _operations(self, obj: Any, path: str, depth: int) -> None:
        """Each operator with a recorder at the other side."""
        kind = type(obj)
        if kind in self.operated:
            return
        self.operated.add(kind)
        results = self.recorders.variables["operated"](obj)
        for operation in OPERATIONS * 2:
            try:
                result = self._within_time(next, results)
            except BaseException:
                return
            self.add(result, f"{operation.__name__}({path})", depth + 1, False)
            behind = gc.get_referents(obj) if isinstance(obj, VIEWS) else ()
            if any(one is another for one in self.recorders.taken() for another in behind):
                self.bad[f"{operation.__name__}({path}) > recorder"] = "what lies behind a view"

    def _keywords(self, obj: Any, path: str, depth: int) -> None:
        """Give a recorder for each thing that a function takes by keyword."""
        code = getattr(obj, "__code__", None)
        if type(obj) is types.FunctionType and code is not None:
            count = code.co_argcount + code.co_kwonlyargcount
            for name in code.co_varnames[code.co_posonlyargcount : count]:
                call = functools.partial(obj, **{name: self.recorders.variables["record"]})
                self._calls(call, f"{path}({name}=)", depth, self.arguments[:FEW])

    def _short_of_depth(self, obj: Any, path: str, depth: int) -> None:
        """Calls that run out of depth, each at another place: an error may hold what was there."""
        if not isinstance(obj, types.FunctionType | types.MethodType) or not _is_slow_to_end(path):
            return
        present, limit = _depth_of_calls(), sys.getrecursionlimit()
        for room in range(4, 16):
            for args in ((int,), (self.plain(), int)):
                try:
                    sys.setrecursionlimit(present + room)
                    obj(*args)
                except BaseException as error:
                    sys.setrecursionlimit(limit)
                    self._error(error, f"{path} at depth {room}", depth)
                finally:
                    sys.setrecursionlimit(limit)

    # -- what there is -----------------------------------------------------------------------

    def _attributes(self, obj: Any, path: str, depth: int, given: bool) -> None:
        kind = type(obj)
        if not classes.is_class(obj) and not isinstance(obj, types.FunctionType | Facade):
            # Of many objects of a class one tells it all, at each place where one is found.
            key = (kind, path.rpartition(".")[2][:20])
            if key in self.kinds:
                return
            self.kinds.add(key)
        names = set(object.__dir__(obj)) | {name for base in type.mro(kind) for name in vars(base)}
        if classes.is_class(obj):
            names |= {name for base in type.mro(obj) for name in vars(base)}
        for name in sorted(name for name in names if type(name) is str):
            try:
                value = self._within_time(guards.get_attribute, obj, name)
            except BaseException:
                continue
            self.add(value, f"{path}.{name}", depth, given and not _makes_anew(obj, name))

    def _items(self, obj: Any, path: str, depth: int, given: bool) -> None:
        if isinstance(obj, dict):
            for key, value in list(dict.items(obj))[:300]:
                self.add(key, f"{path}.keys", depth, given)
                self.add(value, f"{path}[{str(key)[:20]}]", depth, given)
        elif isinstance(obj, list | tuple | set | frozenset | deque):
            for value in list(obj)[:300]:
                self.add(value, f"{path}[]", depth, given)
        elif not classes.is_class(obj):
            self._protocols(obj, path, depth)

    def _protocols(self, obj: Any, path: str, depth: int) -> None:
        """What comes out of an object that can be iterated, awaited or entered."""
        kind = type(obj)
        for name, steps in PROTOCOLS.items():
            if not hasattr(kind, name):
                continue
            try:
                found = self._within_time(getattr(kind, name), obj)
            except BaseException as error:
                self._error(error, f"{path}.{name}", depth)
                continue
            self.add(found, f"{path}.{name}", depth, False)
            for _ in range(steps):
                try:
                    value = self._within_time(next, found)
                except BaseException as error:
                    self.add(getattr(error, "value", None), f"{path}.{name}", depth, False)
                    self._error(error, f"{path}.{name}", depth)
                    break
                self.add(value, f"{path}.{name}[]", depth, False)

    def _calls(
        self, obj: Any, path: str, depth: int, arguments: tuple[tuple[Any, ...], ...] = ()
    ) -> None:
        if not callable(obj) or path.rpartition(".")[2] in LIBRARY:
            return
        for args in arguments or self.arguments:
            self.calls += 1
            try:
                result = self._within_time(obj, *args)
            except BaseException as error:
                self._error(error, path, depth)
                continue
            self.add(result, f"{path}{args!r:.30}", depth + 1, False)

    def _error(self, error: Any, path: str, depth: int) -> None:
        """Look at an error and at those that came before it; one of a kind at each place."""
        seen = 0
        while isinstance(error, BaseException) and seen < 8:
            key = (path, type(error))
            if key not in self.failed:
                self.failed.add(key)
                for name in ERROR_NAMES:
                    value = guards.get_attribute(error, name, None)
                    for part in value if isinstance(value, tuple | list) else (value,):
                        self.add(part, f"{path}!.{name}", max(depth, MAX_DEPTH - 1), False)
                self.add(error, f"{path}!", depth + 1, False)
            error, seen = error.__context__ or error.__cause__, seen + 1

    def _within_time(self, function: Any, *args: Any) -> Any:
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
        try:
            return function(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _parts(obj: Any) -> list[Any]:
    """An object and, of a container, the first that it holds."""
    if isinstance(obj, dict):
        return [obj, *list(dict.values(obj))[:20]]
    return [obj, *list(obj)[:20]] if isinstance(obj, list | tuple | set | frozenset) else [obj]


def _sort(obj: Any) -> Any:
    """What tells objects apart that lead elsewhere: their class; of what is called, its code."""
    if type(obj) is types.MethodType:
        return _sort(obj.__func__)
    if type(obj) in FUNCTIONS:
        return getattr(obj, "__code__", None) or (obj.__qualname__, obj.__module__)
    return type(obj)


def _makes_anew(obj: Any, name: str) -> bool:
    """Whether reading the attribute makes an object each time, so that nobody shares it."""
    try:
        return guards.get_attribute(obj, name) is not guards.get_attribute(obj, name)
    except BaseException:
        return True


def _function(*_: Any) -> int:
    return 1


def _depth_of_calls() -> int:
    frame, depth = sys._getframe(1), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth


def _is_slow_to_end(path: str) -> bool:
    """Whether a call may be looked at in each depth: one that only waits would take too long."""
    return path.rpartition(".")[2] not in LIBRARY


def _arguments(names: dict[str, Any]) -> tuple[tuple[Any, ...], ...]:
    """What is called with; the first few are those that lead farthest."""
    own, record, recorder = names["Plain"], names["record"], names["recorder"]
    return (
        *((), (record,), (recorder,), (int,), ("a",), (own(), int), ("a", recorder)),
        *((None,), (1,), ([1, 2],), ({"a": 1},), (_function,), (own,), (own(),), ([recorder],)),
        *(("a", "b"), (own, "a"), (own(), "a"), (_function, [1]), ([1], [2]), ([own], [own])),
        *((own, "a", (), {}), (own, ["a"], {}), (own, 1), (own(), own), ([1], own)),
        *((record, recorder), (recorder, record), (record, [1, 2]), ([int], record)),
        *((recorder, recorder, recorder), (json.dumps,), (Counter,), (operator.itemgetter(0),)),
    )
