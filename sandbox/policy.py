"""Which source is accepted: a RestrictedPython transformer that proves names at compile time.

What leads out of a namespace is reached by a name: an attribute, an import, a rebound guard.
So names are checked where they stand in the source and plain bytecode is emitted, which runs
at CPython's speed. Guards remain for what depends on the object at run time: single-underscore
attributes, ``__class__`` and the ``format`` family. The names of the guards are no identifiers,
so no source can bind, read or shadow one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

GUARD_ATTRIBUTE = "<attribute>"
"""``GUARD_ATTRIBUTE(object, name)``: a read whose safety depends on the object."""
GUARD_OWN = "<own>"
"""``GUARD_OWN(object, name)``: the object, if the program may write that attribute of it."""
GUARD_CAUGHT = "<caught>"
"""``GUARD_CAUGHT(kinds)``: what an ``except`` clause catches, which an interrupt never is."""
TURN = "<turn "
"""How the file name of a program's code begins: ``<turn 3>``."""
VALUE = "<value>"
"""Where a turn's last expression leaves its value."""

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
        "__trunc__ __copy__ __deepcopy__"
    ).split()
)
"""Special methods that do what an operator or a builtin does anyway: defined and called freely."""
CLASS_METHODS = OPERATOR_METHODS | frozenset(
    (
        "__new__ __getattr__ __set_name__ __get__ __set__ __delete__ __init_subclass__ "
        "__class_getitem__"
    ).split()
)
"""Special methods that a class may define."""
SUPER_METHODS = CLASS_METHODS - {"__get__", "__set__", "__delete__", "__getattr__"}
"""Special methods that are reached through ``super()``. Not those of descriptors: a base class's
own would read and write what other objects keep to themselves."""
READABLE = frozenset({"__name__", "__doc__", "__qualname__"})
"""Special attributes that are harmless strings."""
CLASS_VARIABLES = frozenset({"__slots__", "__hash__", "__doc__"})
"""Special names that a class body may assign."""
DYNAMIC = frozenset({"format", "format_map", "vformat", "get_field", "get_value"})
"""Names that read attributes named in a text when the object is a string or a formatter."""

_Node = TypeVar("_Node", bound=ast.AST)


class Refused(SyntaxError):
    """The source uses what the language wall doesn't allow; carries line, column and text."""

    __module__ = "builtins"  # a program is shown its bare name


def is_special(name: str) -> bool:
    """Whether Python itself gives meaning to a name (``__x__``)."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def is_private(name: str) -> bool:
    """Whether a name is one that a class keeps to itself (``_x``, ``__x``)."""
    return name.startswith("_") and name != "_" and not is_special(name)


def why_not_readable(name: str) -> str | None:
    """Why an attribute of that name may never be read, or None where it may.

    Private names and the dynamic ones pass here: whether they may depends on the object.
    """
    if name in INSPECT_ATTRIBUTES:
        return f'"{name}" is not available: it leads into the interpreter\'s own frames'
    if is_special(name) and name not in READABLE and name not in OPERATOR_METHODS:
        return f'"{name}" is not available: special attributes lead out of the sandbox'
    return None


def why_not_writable(name: str) -> str | None:
    """Why an attribute of that name may never be set or deleted, or None where it may."""
    if is_special(name):
        return f'"{name}" can\'t be set: special attributes belong to Python'
    return why_not_readable(name)


def mangled(name: str, class_name: str | None) -> str:
    """The name that the compiler makes of a ``__private`` one inside a class."""
    stem = (class_name or "").lstrip("_")
    if stem and name.startswith("__") and not name.endswith("__") and "." not in name:
        return f"_{stem}{name}"
    return name


class Policy(RestrictingNodeTransformer):
    """Checks one turn's tree and puts the guards in. Errors are gathered with their place.

    Every node that has no method here or in RestrictedPython is refused, so that the syntax
    of a newer Python is closed until somebody has looked at it.
    """

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        super().__init__(None, None, None)
        self.refusals: list[tuple[ast.AST, str]] = []
        self._reserved = reserved
        self._class: str | None = None  # the class whose body or methods we are in
        self._in_class_body = False
        self._at_turn_level = self._walrus_at_turn_level = True

    def error(self, node: ast.AST, info: str) -> None:
        """Note a refusal with its node."""
        self.refusals.append((node, info))

    def not_allowed(self, node: ast.AST) -> None:
        """Deny a construct by its name."""
        self.error(node, f"{type(node).__name__} is not allowed here")

    # -- names ---------------------------------------------------------------------------

    def check_name(
        self,
        node: ast.AST,
        name: str | None,
        allow_magic_methods: bool = False,  # noqa: ARG002 - the base class's signature
    ) -> None:
        """Check a name that is bound, by whatever binder."""
        if name is None:
            return
        if name == "super":
            self.error(node, '"super" can\'t be rebound; choose another name')
        elif is_special(name) and not (self._in_class_body and name in CLASS_VARIABLES):
            self.error(node, f'"{name}" can\'t be bound: special names belong to Python')
        elif self._at_turn_level and name in self._reserved:
            self.error(node, f'"{name}" is a gate here and can\'t be rebound; choose another name')

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        """Check what is bound; allow every read but of special names."""
        if not isinstance(node.ctx, ast.Load):
            self.check_name(node, node.id)
        elif is_special(node.id) and node.id not in READABLE:
            self.error(node, f'"{node.id}" is not available')
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:  # noqa: N802
        """Check the names."""
        for name in node.names:
            self.check_name(node, name)
            if name in self._reserved:
                self.error(node, f'"{name}" is a gate here and can\'t be rebound')
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:  # noqa: N802
        """Check the names."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def check_import_names(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        """Check what an import binds; which modules there are is the namespace's to say."""
        for alias in node.names:
            if alias.asname or isinstance(node, ast.ImportFrom):
                self.check_name(node, alias.asname or alias.name)
            else:
                self.check_name(node, alias.name.partition(".")[0])
        if any(alias.name == "*" for alias in node.names):
            self.error(node, "import * is not allowed: name what you import")
        if isinstance(node, ast.ImportFrom) and node.level:
            self.error(node, "relative imports are not allowed: there is no package here")
        return node

    # -- attributes ----------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        """Check the name; guard those whose safety depends on the object."""
        node = self.node_contents_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self._read(node)
        self._check(node, why_not_writable(node.attr))
        if is_private(node.attr):
            node.value = self._guard(node, GUARD_OWN)
        return node

    def _read(self, node: ast.Attribute) -> ast.AST:
        if _is_super_call(node.value) and node.attr in SUPER_METHODS:
            return node
        if node.attr == "__class__" or node.attr in DYNAMIC or is_private(node.attr):
            return self._guard(node, GUARD_ATTRIBUTE)
        self._check(node, why_not_readable(node.attr))
        return node

    def _guard(self, node: ast.Attribute, guard: str) -> ast.Call:
        name = mangled(node.attr, self._class)
        call = ast.Call(ast.Name(guard, ast.Load()), [node.value, ast.Constant(name)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def _check(self, node: ast.AST, refusal: str | None) -> None:
        if refusal:
            self.error(node, refusal)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        """Allow; the target's value is handed to the operand's method, so it is checked too."""
        if isinstance(node.target, ast.Attribute) and node.target.attr in DYNAMIC:
            self.error(
                node, f'"{node.target.attr}" can\'t be the target of an augmented assignment'
            )
        return self.node_contents_visit(node)

    # -- statements and expressions that stock RestrictedPython guards at run time ----------

    def _allow(self, node: _Node) -> _Node:
        """Allow the construct; its parts are checked."""
        return self.node_contents_visit(node)

    visit_Subscript = _allow  # noqa: N815
    visit_Assign = _allow  # noqa: N815
    visit_AnnAssign = _allow  # noqa: N815
    visit_Call = _allow  # noqa: N815
    visit_With = _allow  # noqa: N815
    visit_AsyncWith = _allow  # noqa: N815
    visit_AsyncFor = _allow  # noqa: N815
    visit_Await = _allow  # noqa: N815
    guard_iter = _allow

    def visit_TryStar(self, node: ast.AST) -> ast.AST:  # noqa: N802
        """Deny: CPython before 3.12.9 and 3.13.2 trusts what a group's own ``split`` returns."""
        self.error(node, "except* is not allowed here: catch the group, and look at .exceptions")
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:  # noqa: N802
        """Check the name; no clause catches an interrupt, a bare one catches ``Exception``."""
        self.check_name(node, node.name)
        node = self.node_contents_visit(node)
        if node.type is None:
            node.type = ast.copy_location(ast.Name("<Exception>", ast.Load()), node)
        else:
            call = ast.Call(ast.Name(GUARD_CAUGHT, ast.Load()), [node.type], [])
            node.type = ast.fix_missing_locations(ast.copy_location(call, node.type))
        return node

    # -- scopes --------------------------------------------------------------------------

    def visit_FunctionDef(self, node: Any) -> Any:  # noqa: N802
        """Check the names of the function and its arguments."""
        if not (self._in_class_body and node.name in CLASS_METHODS):
            self.check_name(node, node.name)
        node.decorator_list = self._each(node.decorator_list)
        node.args = self.visit(node.args)  # defaults and annotations belong to the outer scope
        node.returns = self.visit(node.returns) if node.returns else None
        with self._scope():
            self.check_function_argument_names(node)
            if hasattr(node, "type_params"):  # Python 3.12 and later
                node.type_params = self._each(node.type_params)
            node.body = self._each(node.body)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:  # noqa: N802
        """Check the names of the arguments."""
        node.args = self.visit(node.args)
        with self._scope():
            self.check_function_argument_names(node)
            node.body = self.visit(node.body)
        return node

    def _each(self, nodes: list[Any]) -> list[Any]:
        return [self.visit(node) for node in nodes]

    def _comprehension(self, node: _Node) -> _Node:
        """Allow; its targets are local to it, but for those of ``:=``."""
        with self._scope(walrus_at_turn_level=self._walrus_at_turn_level):
            return self.node_contents_visit(node)

    visit_ListComp = _comprehension  # noqa: N815
    visit_SetComp = _comprehension  # noqa: N815
    visit_DictComp = _comprehension  # noqa: N815
    visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        """Check the name; the class's making is guarded at run time."""
        self.check_name(node, node.name)
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg == "metaclass":
                self.error(
                    node, "a class can't name its metaclass; inherit from ABC or Enum instead"
                )
        node.decorator_list = self._each(node.decorator_list)
        node.bases = self._each(node.bases)
        node.keywords = self._each(node.keywords)
        with self._scope(class_name=node.name, class_body=True):
            if hasattr(node, "type_params"):  # Python 3.12 and later
                node.type_params = self._each(node.type_params)
            node.body = self._each(node.body)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:  # noqa: N802
        """Check the name, which a comprehension binds in the scope around it."""
        at_turn_level, self._at_turn_level = self._at_turn_level, self._walrus_at_turn_level
        node.target = self.visit(node.target)
        self._at_turn_level = at_turn_level
        node.value = self.visit(node.value)
        return node

    @contextmanager
    def _scope(
        self,
        class_name: str | None = None,
        class_body: bool = False,
        walrus_at_turn_level: bool = False,
    ) -> Iterator[None]:
        before = self._class, self._in_class_body, self._at_turn_level, self._walrus_at_turn_level
        self._class = class_name or self._class
        self._in_class_body, self._at_turn_level = class_body, False
        self._walrus_at_turn_level = walrus_at_turn_level
        try:
            yield
        finally:
            self._class, self._in_class_body, self._at_turn_level, self._walrus_at_turn_level = (
                before
            )

    # -- match ---------------------------------------------------------------------------

    visit_Match = _allow  # noqa: N815
    visit_match_case = _allow
    visit_MatchValue = _allow  # noqa: N815
    visit_MatchSingleton = _allow  # noqa: N815
    visit_MatchSequence = _allow  # noqa: N815
    visit_MatchOr = _allow  # noqa: N815

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:  # noqa: N802
        """Check the captured name."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:  # noqa: N802
        """Check the captured name."""
        self.check_name(node, node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:  # noqa: N802
        """Check the captured rest."""
        self.check_name(node, node.rest)
        return self.node_contents_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:  # noqa: N802
        """Check the attributes that a class pattern reads by keyword.

        Positional ones come from ``__match_args__``, which only the makers of classes set; the
        facades see to it that they set no name that needs a guard.
        """
        for name in node.kwd_attrs:
            if name.startswith("_") or name in DYNAMIC:
                self.error(node, f'"{name}" can\'t be matched; read it as an attribute instead')
            self._check(node, why_not_readable(name))
        return self.node_contents_visit(node)

    # -- Python 3.12 and later -------------------------------------------------------------

    visit_TypeAlias = _allow  # noqa: N815

    def visit_TypeVar(self, node: Any) -> Any:  # noqa: N802
        """Check the parameter's name."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    visit_ParamSpec = visit_TypeVar  # noqa: N815
    visit_TypeVarTuple = visit_TypeVar  # noqa: N815


def _is_super_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )
