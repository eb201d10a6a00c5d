"""One line after an error, where its author can act on it: what was meant, what to write.

A hint reads no more than names, and what plain variables, dictionaries and lists hold; it calls
none of the program's code. It names nothing that the program may not read: no private name, no
special one, no module that can't be imported.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from .classes import is_inherited, is_own
from .facades.names import LEFT_OUT
from .failing import dict_of, failing, held_by, innermost
from .names import is_private, is_special, why_not_readable
from .namespace import CLOSED_BUILTINS
from .preview import show
from .tracebacks import message_of

NAME_CHARS = 60
"""Longest name that is compared with others."""
MAX_NAMES = 1_000
"""Most names that one is compared with, of each sort."""
SHOWN_KEYS = 10
MAX_PLACES = 3
"""Modules that are told to have one and the same name."""

NO_SYSTEM = (
    "There are no files and no network here: give it an io.StringIO or io.BytesIO in place of a "
    "path, see whether it gives the text itself where no path is named, or use a gate."
)
NOT_INSTALLED = "Nothing can be installed here: use what does without it."

_OTHER_NAMES = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "null": "None",
    "undefined": "None",
    "json.parse": "json.loads",
    "json.stringify": "json.dumps",
}
"""What programs call what they have not imported, or what other languages call it."""
_WAYS = {
    "_fields": "ast.iter_fields(node) gives the names and values of a node's fields.",
    "_attributes": "They are lineno, col_offset, end_lineno and end_col_offset.",
    "_member_names_": "__members__ has the members by name.",
    "_member_map_": "__members__ has the members by name.",
    "_value2member_map_": "Calling the class with a value gives its member.",
}
"""What there is instead of private names that programs read in the library's classes."""
_LATER = ("cmath", "asyncio", "operator", "typing", "ast")
"""Modules whose names are likelier meant from another one that has them too."""
_CONSTANTS = ("None", "True", "False")
_LOCAL = re.compile(r"local variable '(\w+)'")
_CLOSED = re.compile(r'"(\w+)" of .* is private')
_PLAIN_REASON = re.compile(r"has no |no attribute|no member")
"""What is said of an attribute that just isn't there, and not of one that is there and failed."""
_METHODS = frozenset(
    name for kind in (str, bytes, list, dict, set) for name in vars(kind) if not is_special(name)
)
"""Names that modules have too, and that are likelier meant as a method."""
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_AWAITED = re.compile(r"'await' outside|'async (with|for)' outside|asynchronous comprehension out")


@dataclass(frozen=True, slots=True)
class Known:
    """What a program can name.

    Attributes:
        variables: Its own variables and gates.
        builtins: What it finds beside them.
        modules: The modules that it can import, by name.
    """

    variables: Mapping[str, Any]
    builtins: Mapping[str, Any]
    modules: Mapping[str, Any]


def hint(error: BaseException, known: Known) -> str:
    """What helps against an error, in one line; the empty string where nothing is known to."""
    return " ".join(_sentences(error, known))


def _sentences(error: BaseException, known: Known) -> Iterator[str]:
    if isinstance(error, UnboundLocalError):
        yield from _for_local(error, known)
    elif isinstance(error, NameError):
        yield from _for_name(error, known)
    elif isinstance(error, AttributeError):
        yield from _for_attribute(error, known)
    elif isinstance(error, ImportError):
        yield from _for_import(error, known)
    elif isinstance(error, SyntaxError):
        yield from _for_syntax(error, known)
    elif isinstance(error, RecursionError):
        yield (
            f"The limit is {sys.getrecursionlimit():,} calls inside one another: use a loop, with "
            "a list of what is to do."
        )
    elif isinstance(error, OSError):
        yield from _for_system(error)
    elif type(error) is KeyError:
        yield from _for_key(error)
    elif type(error) is TypeError:
        yield from _for_call(error, known)


# -- names ---------------------------------------------------------------------------------------


def _for_name(error: NameError, known: Known) -> Iterator[str]:
    name = _name(error.name)
    if name is None:
        return
    where = list(_where(name, known))
    yield from where
    frame = innermost(error)
    own = [*known.variables] if frame is None else [*frame.f_locals, *frame.f_globals]
    own = [one for one in own if _is_plain(one)]
    if where:
        yield from _did_you_mean(name, own, cutoff=0.85)
    elif _OTHER_NAMES.get(name) in _CONSTANTS:
        yield f"Did you mean '{_OTHER_NAMES[name]}'?"
    else:
        builtins = [one for one in known.builtins if _is_plain(one) and one not in CLOSED_BUILTINS]
        yield from _did_you_mean(name, [*own, *builtins, *_CONSTANTS, *known.modules])


def _where(name: str, known: Known) -> Iterator[str]:
    """Which import binds a name, or that none can."""
    module = _OTHER_NAMES.get(name, name)
    if module in known.modules:
        alias = "" if module == name else f" as {name}"
        yield f"'{name}' is a module: write `import {module}{alias}` first."
    elif places := _modules_with(name, known):
        yield _from_there(name, places)
    elif module.partition(".")[0] in sys.stdlib_module_names or module in ("numpy", "pandas"):
        yield f"'{module}' is a module that can't be imported here."
    elif module not in (name, *_CONSTANTS):
        yield f"'{module}' can't be imported here."


def _modules_with(name: str, known: Known) -> list[str]:
    """Modules that have a public name, the likeliest first."""
    found = [module for module, face in known.modules.items() if name in _public(face)]
    found.sort(key=lambda module: (_LATER.index(module) + 1 if module in _LATER else 0, module))
    return found[:MAX_PLACES]


def _from_there(name: str, places: list[str]) -> str:
    where = " and ".join([", ".join(places[:-1]), places[-1]] if places[1:] else places)
    return f"'{name}' is in {where}: write `from {places[0]} import {name}` first."


def _for_local(error: NameError, known: Known) -> Iterator[str]:
    found = _LOCAL.search(message_of(error))
    if found and found[1] in known.variables:
        yield (
            f"'{found[1]}' is assigned in this function, so it is local to it; write "
            f"`global {found[1]}` at its top to use the one outside."
        )


# -- attributes and imports ----------------------------------------------------------------------


def _for_attribute(error: AttributeError, known: Known) -> Iterator[str]:
    name, obj = _name(error.name), error.obj
    if found := _CLOSED.match(message_of(error)):
        if found[1] in _WAYS:
            yield _WAYS[found[1]]
        return
    if name is None or (is_special(name) and name not in ("__init__", "__name__")):
        return
    module = next((one for one, face in known.modules.items() if face is obj), None)
    if module is not None:
        if f"{module}.{name}" not in LEFT_OUT:  # else the error itself says why
            yield from _for_module_attribute(name, module, known)
        return
    if isinstance(obj, type) and obj.__name__ == name:
        yield f"'{name}' is the class itself here, not the module: leave the second one out."
        return
    message = message_of(error)
    if message != name and not _PLAIN_REASON.search(message):
        return
    sentences = list(_did_you_mean(name, _attributes(obj, is_private(name))))
    yield from sentences
    if not sentences and isinstance(obj, type) and obj.__module__ in _modules_with(name, known):
        yield _from_there(name, [obj.__module__])


def _for_module_attribute(name: str, module: str, known: Known) -> Iterator[str]:
    face = known.modules[module]
    inner = [
        one
        for one, value in _public(face).items()
        if isinstance(value, type) and name in _attributes(value, False)
    ]
    inner.sort(key=lambda one: one != module)
    sentences = list(_did_you_mean(name, _public(face)))
    if other := _OTHER_NAMES.get(f"{module}.{name}"):
        yield f"Did you mean '{other}'?"
    elif sentences:
        yield from sentences
    elif places := _meant_from(name, known):
        yield _from_there(name, places)
    elif inner:
        yield f"Did you mean '{module}.{inner[0]}.{name}'?"


def _meant_from(name: str, known: Known) -> list[str]:
    """Modules from which a name is likely meant that was looked for in another one."""
    if name in _METHODS or name in known.modules:
        return []
    return [
        module
        for module in _modules_with(name, known)
        if module != "ast" and f"{module}.{name}" not in known.modules
    ]


def _attributes(obj: Any, private: bool) -> list[str]:
    """The names that an object has and the program may read; ``private`` ones only if asked."""
    kind = obj if isinstance(obj, type) else type(obj)
    names = {name for base in type.mro(kind) for name in dict_of(base)}
    if not isinstance(obj, type):
        names.update(dict_of(obj))
    return [name for name in names if _is_open(kind, name, private)]


def _is_open(kind: type, name: Any, private: bool) -> bool:
    if type(name) is not str or is_special(name) or why_not_readable(name):
        return False
    if is_private(name):
        return private and is_own(kind) and not is_inherited(kind, name)
    return True


def _public(face: Any) -> Mapping[str, Any]:
    """The names of a module, whether it is ours or one given as it is."""
    if isinstance(face, ModuleType):
        return {name: value for name, value in vars(face).items() if not name.startswith("_")}
    return {name: value for name, value in dict_of(face).items() if _is_plain(name)}


def _for_import(error: ImportError, known: Known) -> Iterator[str]:
    if isinstance(error, ModuleNotFoundError):
        name = _name(error.name)
        if _is_of_package(error):
            yield NOT_INSTALLED
        elif name is not None:
            yield from _did_you_mean(name, known.modules, cutoff=0.75)
        return
    found = _IMPORTED.search(message_of(error))
    if found is None and innermost(error) is None:
        yield NOT_INSTALLED
    if found is None or found[2] not in known.modules:
        return
    name, module = found[1], found[2]
    if why := LEFT_OUT.get(f"{module}.{name}"):
        yield f"It is left out here: {why}."
        return
    sentences = list(_did_you_mean(name, _public(known.modules[module])))
    places = _meant_from(name, known)
    yield from [_from_there(name, places)] if places else sentences


def _is_of_package(error: ImportError) -> bool:
    """Whether a package looked for a module: what a program looks for is told in other words."""
    return innermost(error) is None and message_of(error).startswith("No module named")


def _for_system(error: OSError) -> Iterator[str]:
    """What to use where a library asked the system for something. A gate's errors say it all."""
    is_systems = type(error.errno) is int or type(error).__module__ == "urllib.error"
    if is_systems and innermost(error) is None:
        yield NO_SYSTEM


# -- syntax --------------------------------------------------------------------------------------


def _for_syntax(error: SyntaxError, known: Known) -> Iterator[str]:
    message = message_of(error)
    if _AWAITED.search(message):
        if "asyncio" in known.modules:
            yield "Put it into `async def main():` and write `asyncio.run(main())`."
    elif message == "'return' outside function":
        yield "A turn is no function: end it with the expression that you want to see."
    elif type(error.filename) is str and type(error.lineno) is int:
        line = linecache.getline(error.filename, error.lineno).strip()
        if line.startswith(("```", "~~~")):
            yield "Leave the marks of a Markdown block out: what is run is the code alone."
        elif line.startswith(("!", "%")):
            yield "Commands of a shell or a notebook don't work here: write Python."


# -- what failed in an expression ----------------------------------------------------------------


def _for_key(error: KeyError) -> Iterator[str]:
    """The keys of the dictionary, where the failing expression shows which one it is."""
    node, frame = failing(error)
    if not isinstance(node, ast.Subscript) or frame is None:
        return
    try:
        held = held_by(node.value, frame)
    except LookupError:
        return
    if not isinstance(held, dict) or len(error.args) != 1:
        return
    keys = [key for key in dict.__iter__(held) if type(key) in (str, int)]
    sentences: list[str] = []
    if type(error.args[0]) is str:
        sentences += _did_you_mean(error.args[0], [key for key in keys if type(key) is str])
    if not sentences and keys:
        size = dict.__len__(held)
        shown = ", ".join(show(key, NAME_CHARS) for key in keys[:SHOWN_KEYS])
        sentences.append(
            f"Its keys are {shown}."
            if size == len(keys) <= SHOWN_KEYS
            else f"It has {size:,} keys, among them {shown}."
        )
    yield from sentences


def _for_call(error: TypeError, known: Known) -> Iterator[str]:
    """Whether what can't be called is a variable that hides a builtin."""
    node, frame = failing(error)
    if not isinstance(node, ast.Call) or frame is None or "not callable" not in message_of(error):
        return
    name = getattr(node.func, "id", None)
    if name not in known.builtins:
        return
    if name in frame.f_globals and (name not in frame.f_locals or _is_outermost(frame)):
        yield f"'{name}' is a variable of yours that hides the builtin; `del {name}` ends that."
    elif name in frame.f_locals:
        yield f"'{name}' is a variable of yours that hides the builtin; give it another name."


def _is_outermost(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>"


# -- likeness ------------------------------------------------------------------------------------


def _did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.7) -> Iterator[str]:
    likest = _likest(name, names, cutoff)
    if likest is not None:
        yield f"Did you mean '{likest}'?"


def _likest(name: str, names: Iterable[str], cutoff: float) -> str | None:
    """The name that is most like another one; how they are capitalised counts little."""
    if not 1 < len(name) <= NAME_CHARS:
        return None
    lowered: dict[str, str] = {}
    for one in names:
        if len(one) <= NAME_CHARS and one != name and len(lowered) < MAX_NAMES:
            lowered.setdefault(one.lower(), one)
    wanted = name.lower()
    # Letters that changed places are the likeliest slip.
    shuffled = [one for one in lowered if sorted(one) == sorted(wanted)]
    found = shuffled or difflib.get_close_matches(wanted, lowered, 1, cutoff)
    return lowered[found[0]] if found else None


def _name(name: Any) -> str | None:
    return name if type(name) is str and 0 < len(name) <= NAME_CHARS else None


def _is_plain(name: Any) -> bool:
    """Whether a name is one that a program can write and that Python gives no meaning to."""
    return type(name) is str and name.isidentifier() and not is_special(name)
