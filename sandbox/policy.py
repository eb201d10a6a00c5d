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

from RestrictedPython.transformer import RestrictingNodeTransformer

from .names import (
    CLASS_METHODS,
    CLASS_VARIABLES,
    DYNAMIC,
    INSTEAD,
    LIBRARY_MARKS,
    MODULE_VARIABLES,
    OWN_READABLE,
    READABLE_NAMES,
    SETTABLE,
    SUPER_METHODS,
    is_guarded,
    is_private,
    is_special,
    mangled,
    why_not_readable,
    why_not_writable,
)
from .patterns import add_checks, without_trace
from .receivers import receiver_of
from .symbols import (
    GUARD_ATTRIBUTE,
    GUARD_CAUGHT,
    GUARD_OWN,
    GUARD_SLOTS,
    PLAIN,
    PLAIN_CLASSES,
    TYPE_OF,
)

_Node = TypeVar("_Node", bound=ast.AST)


class Refused(SyntaxError):
    """The source uses what the language wall doesn't allow; carries line, column and text."""

    __module__ = "builtins"  # a program is shown its bare name


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
        self._receiver: str | None = None  # the first argument of the method we are in
        self._patterns = 0  # class patterns by place so far
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
        elif is_special(name) and not self._may_bind_special(name):
            reason = INSTEAD.get(name, "special names belong to Python")
            self.error(node, f'"{name}" can\'t be bound: {reason}')
        elif self._at_turn_level and name in self._reserved:
            self.error(node, f'"{name}" is a gate here and can\'t be rebound; choose another name')

    def _may_bind_special(self, name: str) -> bool:
        if self._in_class_body:
            return name in CLASS_VARIABLES or name in CLASS_METHODS
        return self._at_turn_level and name in MODULE_VARIABLES

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        """Check names where they are bound; of the special ones few can be read."""
        if not isinstance(node.ctx, ast.Load):
            self.check_name(node, node.id)
        elif is_special(node.id) and node.id not in READABLE_NAMES:
            self._check(node, why_not_readable(node.id))
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:  # noqa: N802
        """Check the names."""
        for name in node.names:
            self.check_name(node, name)
            if name in self._reserved:
                self.error(
                    node, f'"{name}" is a gate here and can\'t be rebound; choose another name'
                )
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
        """Check the name; what depends on the object is looked at as the program runs."""
        node = self.node_contents_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self._read(node)
        self._check(node, why_not_writable(node.attr))
        if is_private(node.attr) or node.attr in SETTABLE:
            node.value = self._unless_plain(node, node.value, self._guard(node, GUARD_OWN))
        return node

    def _read(self, node: ast.Attribute) -> ast.AST:
        # With arguments it may stand for any object, and none is to be set up anew.
        plain = node.attr == "__init__"
        if node.attr in SUPER_METHODS and _is_super_call(node.value, plain):
            return node
        if node.attr in OWN_READABLE or node.attr in DYNAMIC or is_private(node.attr):
            return self._unless_plain(node, node, self._guard(node, GUARD_ATTRIBUTE))
        self._check(node, why_not_readable(node.attr))
        return node

    def _unless_plain(self, node: ast.Attribute, plain: ast.expr, guarded: ast.expr) -> ast.expr:
        """``plain``, where the object is a method's first argument that needs no guard.

        Any other variable could be another object when it is read again.
        """
        owner = node.value
        if not isinstance(owner, ast.Name) or owner.id != self._receiver:
            return guarded
        if not is_private(node.attr) or node.attr in LIBRARY_MARKS:
            return guarded
        choice = ast.IfExp(ast.Name(PLAIN, ast.Load()), plain, guarded)
        ast.copy_location(choice.test, node)
        return ast.copy_location(choice, node)

    def _guard(self, node: ast.Attribute, guard: str) -> ast.Call:
        name = mangled(node.attr, self._class)
        call = ast.Call(ast.Name(guard, ast.Load()), [node.value, ast.Constant(name)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def _check(self, node: ast.AST, refusal: str | None) -> None:
        if refusal:
            self.error(node, refusal)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        """Check the target: its value is handed to the operand's method.

        The guard of setting a private attribute asks what that of reading it would.
        """
        name = node.target.attr if isinstance(node.target, ast.Attribute) else ""
        if is_guarded(name) and not is_private(name):
            self.error(
                node,
                f'"{name}" can\'t be the target of an augmented assignment: assign to '
                "a variable instead",
            )
        return self.node_contents_visit(node)

    # -- statements and expressions that stock RestrictedPython guards at run time ----------

    def _allow(self, node: _Node) -> _Node:
        """Allow the construct; its parts are checked."""
        return self.node_contents_visit(node)

    visit_Subscript = _allow  # noqa: N815

    def visit_Assign(self, node: Any) -> Any:  # noqa: N802
        """Allow any target; the names in ``__slots__`` are checked when the class is made."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_slots = isinstance(targets[0], ast.Name) and targets[0].id == "__slots__"
        if not (self._in_class_body and is_slots and len(targets) == 1 and node.value):
            return self.node_contents_visit(node)
        if isinstance(node, ast.AnnAssign):
            node.annotation = self.visit(node.annotation)
        call = ast.Call(ast.Name(GUARD_SLOTS, ast.Load()), [self.visit(node.value)], [])
        node.value = ast.fix_missing_locations(ast.copy_location(call, node.value))
        return node

    visit_AnnAssign = visit_Assign  # noqa: N815
    visit_Call = _allow  # noqa: N815
    visit_With = _allow  # noqa: N815
    visit_AsyncWith = _allow  # noqa: N815
    visit_AsyncFor = _allow  # noqa: N815
    visit_Await = _allow  # noqa: N815
    guard_iter = _allow

    def visit_Try(self, node: ast.Try) -> ast.AST:  # noqa: N802
        """Allow all parts; a bare ``except:`` catches what ``except BaseException:`` does."""
        node = self.node_contents_visit(node)
        last = node.handlers[-1] if node.handlers else None
        if last is not None and last.type is None:  # Python itself refuses one that isn't last
            last.type = self._caught(
                ast.copy_location(ast.Name("<BaseException>", ast.Load()), last)
            )
        return node

    def visit_TryStar(self, node: Any) -> Any:  # noqa: N802
        """Deny ``except*``: CPython before 3.12.9 and 3.13.2 trusts a group's own ``split``."""
        message = "except* is not allowed here: catch the group, and look at .exceptions"
        self.error(node.handlers[0], message)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:  # noqa: N802
        """Check the name; no clause catches an interrupt."""
        self.check_name(node, node.name)
        node = self.node_contents_visit(node)
        if node.type is not None:
            node.type = self._caught(node.type)
        return node

    def _caught(self, kinds: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(GUARD_CAUGHT, ast.Load()), [kinds], [])
        return ast.fix_missing_locations(ast.copy_location(call, kinds))

    # -- scopes --------------------------------------------------------------------------

    def visit_FunctionDef(self, node: Any) -> Any:  # noqa: N802
        """Check the names of the function and its arguments."""
        self.check_name(node, node.name)
        node.decorator_list = self._each(node.decorator_list)
        node.args = self.visit(node.args)  # defaults and annotations belong to the outer scope
        node.returns = self.visit(node.returns) if node.returns else None
        receiver = receiver_of(node) if self._in_class_body else None
        with self._scope():
            self.check_function_argument_names(node)
            if hasattr(node, "type_params"):  # Python 3.12 and later
                node.type_params = self._each(node.type_params)
            self._receiver = receiver or self._receiver
            node.body = self._each(node.body)
        if receiver:
            look = ast.Assign([ast.Name(PLAIN, ast.Store())], _is_plain(receiver))
            for part in ast.walk(look):
                ast.copy_location(part, node)
            node.body.insert(1 if ast.get_docstring(node, clean=False) is not None else 0, look)
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
        """Allow all; their targets are local to them, but for those of ``:=``."""
        with self._scope(walrus_at_turn_level=self._walrus_at_turn_level):
            return self.node_contents_visit(node)

    visit_ListComp = _comprehension  # noqa: N815
    visit_SetComp = _comprehension  # noqa: N815
    visit_DictComp = _comprehension  # noqa: N815
    visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        """Check the name; the class's making is guarded at run time."""
        self.check_name(node, node.name)
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
        before = (
            *(self._class, self._in_class_body, self._receiver),
            *(self._at_turn_level, self._walrus_at_turn_level),
        )
        self._receiver = None if class_body else self._receiver
        self._class = class_name or self._class
        self._in_class_body, self._at_turn_level = class_body, False
        self._walrus_at_turn_level = walrus_at_turn_level
        try:
            yield
        finally:
            self._class, self._in_class_body, self._receiver, *levels = before
            self._at_turn_level, self._walrus_at_turn_level = levels

    # -- match ---------------------------------------------------------------------------

    def visit_Match(self, node: ast.Match) -> ast.AST:  # noqa: N802
        """Check what class patterns read by position, when they come up: the class says what."""
        before = self._patterns
        node = self.node_contents_visit(node)
        self._patterns = add_checks(node, self._patterns)
        if self._in_class_body and self._patterns > before:
            return without_trace(node, range(before + 1, self._patterns + 1))
        return node

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

        Those that it reads by place are in its class's ``__match_args__``: see ``visit_Match``.
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


def _is_plain(variable: str) -> ast.expr:
    kind = ast.Call(ast.Name(TYPE_OF, ast.Load()), [ast.Name(variable, ast.Load())], [])
    return ast.Subscript(ast.Name(PLAIN_CLASSES, ast.Load()), kind, ast.Load())


def _is_super_call(node: ast.AST, plain: bool) -> bool:
    """Whether it is ``super(...)``; where ``plain``, without arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "super" and not (plain and (node.args or node.keywords))
