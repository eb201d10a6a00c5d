"""Which names a program may read, set and bind, and what to write instead of the others."""

from __future__ import annotations

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

OPERATOR_METHODS = frozenset(
    (
        "__init__ __post_init__ __repr__ __str__ __bytes__ __format__ __len__ __length_hint__ "
        "__bool__ __hash__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__ "
        "__delitem__ __missing__ __call__ __enter__ __exit__ __aenter__ __aexit__ __aiter__ "
        "__anext__ __await__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ __iadd__ "
        "__sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ "
        "__itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ "
        "__divmod__ __rdivmod__ __pow__ __rpow__ __ipow__ __matmul__ __rmatmul__ __imatmul__ "
        "__and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __lshift__ "
        "__rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__ __neg__ __pos__ __abs__ "
        "__invert__ __int__ __float__ __complex__ __index__ __round__ __floor__ __ceil__ "
        "__trunc__ __copy__ __deepcopy__ __dir__ __sizeof__ __fspath__"
    ).split()
)
"""Special methods that do what an operator or a builtin does anyway: defined and called freely."""
CLASS_METHODS = OPERATOR_METHODS | frozenset(
    (
        "__new__ __getattr__ __set_name__ __get__ __set__ __delete__ __init_subclass__ "
        "__class_getitem__ __subclasshook__ __setattr__ __delattr__"
    ).split()
)
"""Special methods that a class may define."""
WRITERS = frozenset({"__setattr__", "__delattr__"})
"""Special methods that write an attribute by its name: a guard checks the name."""
SUPER_METHODS = (
    CLASS_METHODS - WRITERS - {"__get__", "__set__", "__delete__", "__getattr__", "__new__"}
)
"""Special methods that are reached through ``super()``. Not those of descriptors: a base class's
own would read and write what other objects keep to themselves; ``__new__`` has a guard."""
READABLE = frozenset(
    (
        "__name__ __doc__ __qualname__ __module__ __version__ __members__ "
        "__cause__ __context__ __traceback__ __suppress_context__ __notes__ __slots__ "
        "__match_args__ "
        "__abstractmethods__ __isabstractmethod__ __total__ __required_keys__ __optional_keys__ "
        "__type_params__ __value__ __supertype__ __bound__ __constraints__ __covariant__ "
        "__contravariant__"
    ).split()
)
"""Special attributes that are harmless data of any object."""
OWN_READABLE = WRITERS | frozenset(
    (
        "__init__ __class__ __dict__ __annotations__ __mro__ __bases__ __base__ __defaults__ "
        "__kwdefaults__ __wrapped__ __self__ __func__ __new__"
    ).split()
)
"""Special attributes that are read by a guard: all but ``__class__`` of the program's own only."""
NAMEDTUPLE = frozenset({"_asdict", "_fields", "_make", "_replace"})
"""What a namedtuple's class has for everybody; underscores keep it apart from the fields."""
LIBRARY_MARKS = frozenset({"_abc_impl", "_is_protocol", "_is_runtime_protocol"})
"""Private names that ABC and Protocol leave on every class that inherits from them."""
SETTABLE = CLASS_METHODS | {"__name__", "__qualname__", "__doc__", "__wrapped__"}
"""Special attributes that are set by a guard, on the program's own functions and classes."""
MODULE_VARIABLES = frozenset(
    "__all__ __author__ __copyright__ __credits__ __date__ __email__ __license__ __status__ "
    "__version__".split()
)
"""Special names that a turn may bind at its top level, as modules do."""
READABLE_NAMES = MODULE_VARIABLES | frozenset(
    {
        *("__name__", "__doc__", "__qualname__", "__module__", "__debug__", "__class__"),
        "__annotations__",
    }
)
"""Special names that can be read as variables; ``__class__`` is a method's own class."""
CLASS_VARIABLES = frozenset({"__hash__", "__doc__", "__match_args__"})
"""Special names that a class body may assign."""
DYNAMIC = frozenset({"format", "format_map", "vformat", "get_field", "get_value"})
"""Names that read attributes named in a text when the object is a string or a formatter."""

INSTEAD = {
    "__globals__": "globals() gives your variables",
    "__builtins__": "the builtins are there by their names",
    "__import__": "write an import statement",
    "__file__": "your code is in no file",
    "__code__": "inspect.signature tells a function's parameters",
    "__closure__": "keep in a variable what you want to see",
    "__subclasses__": "keep a list of your own in __init_subclass__",
    "__traceback__": "call with_traceback()",
    "__cause__": "write raise ... from ...",
    "__getattribute__": "define __getattr__ or a property",
    "__del__": "define __enter__ and __exit__, or a method that is called at the end",
    "__instancecheck__": "inherit from ABC and use register()",
    "__subclasscheck__": "inherit from ABC and use register()",
    "__prepare__": "use __init_subclass__ or a class decorator",
    "__mro_entries__": "inherit from a class",
    "__dict__": "vars(obj).update(...) sets attributes",
    "__class__": "make an object of the other class",
    "__annotations__": "write the annotations where the names are",
    "__dataclass_fields__": "use dataclasses.fields",
    "__origin__": "use typing.get_origin",
    "__args__": "use typing.get_args",
    "__stdout__": "keep sys.stdout in a variable before you turn it elsewhere",
    "__stderr__": "keep sys.stderr in a variable before you turn it elsewhere",
    "__weakref__": "use weakref.ref",
    **dict.fromkeys(
        ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__"),
        "define __copy__ and __deepcopy__",
    ),
}
"""What to do instead of what a special name is refused for."""


def is_special(name: str) -> bool:
    """Whether Python itself gives meaning to a name (``__x__``)."""
    # The text's own methods, whatever a subclass of it says.
    return str.startswith(name, "__") and str.endswith(name, "__") and str.__len__(name) > 4


def is_private(name: str) -> bool:
    """Whether a name is one that a class keeps to itself (``_x``, ``__x``)."""
    return str.startswith(name, "_") and str.__ne__(name, "_") and not is_special(name)


def why_not_readable(name: str) -> str | None:
    """Why an attribute of that name may never be read, or None where it may.

    Private names and the dynamic ones pass here: whether they may depends on the object.
    """
    if name in INSPECT_ATTRIBUTES:
        return f'"{name}" is not available: it leads into the interpreter\'s own frames'
    if is_special(name) and name not in READABLE and name not in OPERATOR_METHODS:
        reason = INSTEAD.get(name, "special attributes lead out of the sandbox")
        return f'"{name}" is not available: {reason}'
    return None


def is_guarded(name: str) -> bool:
    """Whether an attribute of that name is read by a guard only, or never."""
    if is_private(name) or name in DYNAMIC or name in OWN_READABLE:
        return True
    return why_not_readable(name) is not None


def why_not_writable(name: str) -> str | None:
    """Why an attribute of that name may never be set or deleted, or None where it may."""
    if name in SETTABLE:
        return None
    if is_special(name):
        reason = INSTEAD.get(name, "special attributes belong to Python")
        return f'"{name}" can\'t be set: {reason}'
    return why_not_readable(name)


def mangled(name: str, class_name: str | None) -> str:
    """The name that the compiler makes of a ``__private`` one inside a class."""
    stem = (class_name or "").lstrip("_")
    if stem and name.startswith("__") and not name.endswith("__") and "." not in name:
        return f"_{stem}{name}"
    return name
