"""Walks from every object that a program can name to all that it can reach; a script.

It follows what the policy admits: attributes by public names, items, and the results of calls
with a few plain arguments. It prints, as JSON, how much it saw and each path to an object that
leads out. Run in a process of its own, for it calls whatever it finds.
"""

from __future__ import annotations

import builtins
import enum
import gc
import io
import json
import os
import re
import signal
import sys
import threading
import types
from collections import Counter, deque
from pathlib import Path
from typing import Any

from circlet.sandbox import classes, guards
from circlet.sandbox.facades.facade import Facade
from circlet.sandbox.facades.names import PUBLIC
from circlet.sandbox.worker import Worker

MAX_OBJECTS = 300_000
MAX_DEPTH = 5
SAMPLES = 8
"""Objects of a class that are followed where calls made them: others are like them."""
CALL_SECONDS = 0.05
LIBRARY = ("loop", "run_until_complete", "run_forever", "sleep", "exit", "serve")
"""Names that are not called: they only wait."""
OUTSIDE = {
    *("posix", "nt", "os", "subprocess", "socket", "_socket", "gc", "ctypes", "_ctypes", "_imp"),
    *("marshal", "_thread", "signal", "_signal", "faulthandler", "mmap", "fcntl", "select"),
    *("_posixsubprocess", "importlib", "_frozen_importlib", "_frozen_importlib_external"),
    *("pickle", "_pickle", "threading", "multiprocessing", "shutil", "tempfile"),
    *("runpy", "code", "codeop", "pty", "resource", "builtins.open"),
}
"""Modules none of whose functions or classes a program has any business with."""
PLAIN = (str, int, float, bool, bytes, complex, type(None), range, slice)
LOCKS = (type(threading.Lock()), type(threading.RLock()))
OURS = str(Path(classes.__file__).parent)
ADMITTED = {
    *("posix.urandom", "posix.fspath", "os.PathLike", "os.PathLike.__fspath__"),
    *("posix._path_normpath", "posix._path_splitroot_ex"),  # of texts, in C from 3.13 on
}
KEPT = re.compile(
    r"logging\.(root|lastResort)\.|sys\.argv$|.*\.__slots__$"
    r"|keyword\.\w+$|html\.entities\.\w+$|hashlib\.algorithms_\w+$"
)
"""Containers that are the program's own to change, or that nobody reads again."""
MAKERS = {
    *("typing.NamedTuple", "typing.TypedDict", "typing.NewType", "collections.namedtuple"),
    *("enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"),
    "dataclasses.make_dataclass",
}
"""What makes classes, of names that are checked."""
FORBIDDEN_TYPES = (types.ModuleType, types.FrameType, types.CodeType)
FORBIDDEN = {
    id(thing): name
    for name, thing in {
        "open": builtins.open,
        "exec": builtins.exec,
        "eval": builtins.eval,
        "compile": builtins.compile,
        "__import__": builtins.__import__,
        "getattr": builtins.getattr,
        "setattr": builtins.setattr,
        "delattr": builtins.delattr,
        "vars": builtins.vars,
        "globals": builtins.globals,
        "locals": builtins.locals,
        "type": type,
        "str.format": str.format,
        "str.format_map": str.format_map,
        "builtins": vars(builtins),
        "sys.modules": sys.modules,
        "os.environ": os.environ,
    }.items()
}


class Walk:
    """One walk, breadth first; each object is looked at once."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}
        self.kinds: set[tuple[type, str]] = set()
        self.waiting: deque[tuple[Any, str, int, bool]] = deque()
        self.bad: dict[str, str] = {}
        self.samples: Counter[type] = Counter()
        self.heirs: set[type] = set()
        self.calls = 0

    def add(self, obj: Any, path: str, depth: int, given: bool) -> None:
        """Have an object looked at; ``given`` where it was there before any call."""
        if type(obj) in PLAIN and depth > 1:
            return  # numbers and texts: their methods have been looked at
        if id(obj) in self.seen or len(self.seen) >= MAX_OBJECTS:
            return
        kind = type(obj)
        self.samples[kind] += 1
        if not given and self.samples[kind] > SAMPLES and kind not in (type, types.FunctionType):
            return
        self.seen[id(obj)] = obj  # kept, so that no other gets its identity
        if why := self._why_bad(obj, path, given):
            self.bad[path] = why
        elif depth < MAX_DEPTH:
            self.waiting.append((obj, path, depth + 1, given))

    def _why_bad(self, obj: Any, path: str, given: bool) -> str | None:
        if id(obj) in FORBIDDEN:
            return FORBIDDEN[id(obj)]
        if isinstance(obj, FORBIDDEN_TYPES):
            return type(obj).__name__
        if classes.is_class(obj) and issubclass(obj, type) and obj is not classes.Type:
            return f"the metaclass {obj.__name__}"
        if (
            classes.is_class(obj)
            and classes.is_own(obj)
            and obj is not _Own
            and obj not in self.heirs
        ):
            made = isinstance(obj, enum.EnumMeta) or path.rpartition("(")[0] in MAKERS
            return None if made else f"a new class {obj.__name__}"
        if callable(obj) and not isinstance(obj, types.MethodType) and not _is_lock(obj):
            module = getattr(obj, "__module__", None)
            if _is_foreign(obj) and isinstance(module, str) and module.split(".")[0] in OUTSIDE:
                name = f"{module}.{getattr(obj, '__qualname__', obj)}"
                return None if name in ADMITTED else name
        if (
            given
            and isinstance(obj, dict | list | set | bytearray | deque)
            and not KEPT.match(path)
        ):
            return f"a shared {type(obj).__name__}"
        return None

    def run(self) -> None:
        """Go on until there is nothing new."""
        while self.waiting:
            obj, path, depth, given = self.waiting.popleft()
            self._attributes(obj, path, depth, given)
            self._items(obj, path, depth, given)
            self._calls(obj, path, depth)
            if classes.is_class(obj) and depth < MAX_DEPTH - 1:
                self._heirs(obj, path, depth)

    def _heirs(self, kind: type, path: str, depth: int) -> None:
        """Look at what a class keeps in its objects: a subclass of the program's own sees that."""
        try:
            heir = classes.build_class(_body, "Heir", kind)
        except BaseException:
            return
        self.heirs.add(heir)
        for name in {name for base in type.mro(type(heir)) + type.mro(heir) for name in vars(base)}:
            try:
                self.add(guards.get_attribute(heir, name), f"Heir({path}).{name}", depth, False)
            except BaseException:
                continue
        for args in ARGUMENTS:
            try:
                obj = self._within_time(heir, *args)
                kept = dict(vars(obj))
            except BaseException:
                continue
            for name, value in kept.items():
                self.add(value, f"Heir({path}).{name}", depth + 1, False)

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

    def _calls(self, obj: Any, path: str, depth: int) -> None:
        if not callable(obj) or path.rpartition(".")[2] in LIBRARY:
            return
        for args in ARGUMENTS:
            self.calls += 1
            try:
                result = self._within_time(obj, *args)
            except BaseException as error:
                self.add(error, f"{path}{args!r:.30}!", depth + 1, False)
                continue
            self.add(result, f"{path}{args!r:.30}", depth + 1, False)

    def _within_time(self, function: Any, *args: Any) -> Any:
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
        try:
            return function(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _is_foreign(obj: Any) -> bool:
    """Whether it is no function of ours: those go by the names of what they stand for."""
    ours = isinstance(obj, types.FunctionType) and obj.__code__.co_filename.startswith(OURS)
    return not ours


def _is_lock(obj: Any) -> bool:
    """Locks come from ``_thread``; all they can do is wait, which ends with the turn."""
    return any(obj is kind for kind in LOCKS) or type(obj) in LOCKS


def _body() -> None:
    """What a class statement without names runs."""


def _exit(code: int) -> None:
    raise AssertionError(f"the process would have ended with {code}")


def _makes_anew(obj: Any, name: str) -> bool:
    """Whether reading the attribute makes an object each time, so that nobody shares it."""
    try:
        return guards.get_attribute(obj, name) is not guards.get_attribute(obj, name)
    except BaseException:
        return True


def _function(*_: Any) -> int:
    return 1


class _Own:
    pass


ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    *((), ("a",), (1,), ([1, 2],), ({"a": 1},), (_function,), (_Own,), (_Own(),), (int,)),
    *(("a", "b"), (_Own, "a"), (_Own(), "a"), (_function, [1]), ([1], [2]), ([_Own], [_Own])),
    *((_Own, "a", (), {}), (_Own, ["a"], {}), (_Own, 1), (_Own(), _Own), ([1], _Own)),
)


def _stop(*_: Any) -> None:
    raise TimeoutError


def main() -> None:
    """Walk, and print what was found.

    Arguments are names that are added to facades; with some the walk begins at these alone.
    """
    added = [argument.rpartition(".") for argument in sys.argv[1:]]
    for module, _, name in added:
        PUBLIC[module] = f"{PUBLIC.get(module, '')} {name}"
    end, os._exit = os._exit, _exit  # only now: what is called below must not end the walk
    worker = Worker()
    worker.make_ready()
    namespace = worker._namespace
    signal.signal(signal.SIGALRM, _stop)
    sys.stdout = io.StringIO()
    sys.setrecursionlimit(300)
    walk = Walk()
    for module, _, name in added:
        walk.add(getattr(namespace._facades[module], name), f"{module}.{name}", 0, True)
    if not added:
        for name, value in {**namespace._pristine, **namespace.variables}.items():
            if name.isidentifier() and not name.startswith("__"):
                walk.add(value, name, 0, True)
        for name, facade in namespace._facades.items():
            walk.add(facade, name, 0, True)
    gc.disable()
    walk.run()
    found = json.dumps({"seen": len(walk.seen), "calls": walk.calls, "bad": walk.bad})
    os.write(1, found.encode())
    end(0)


main()
