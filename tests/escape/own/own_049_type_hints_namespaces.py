# kind=cap; source: get_type_hints and its kin with names of the program's choice
import typing, functools
def f():
    pass
payloads = ("().__class__.__base__.__subclasses__()", "__import__('os')", "typing.sys.modules",
            "[c for c in ().__class__.__mro__]", "f.__globals__", "__builtins__")
for hint in payloads:
    class A:
        a: hint
    def g(a: hint):
        pass
    for thing in (A, g, functools.partial(g), [A], {"a": hint}):
        for named in (
            {}, {"globalns": {"__builtins__": {}}}, {"localns": {"os": 1}},
            {"globalns": {"eval": eval}, "include_extras": True}, {"globalns": globals()},
        ):
            try:
                found = typing.get_type_hints(thing, **named)["a"]
                if not isinstance(found, str) and type(found).__name__ != "ForwardRef":
                    escaped = (hint, found)
            except Exception:
                pass
    for make in (
        lambda: typing.List[hint], lambda: typing.Optional[hint], lambda: typing.Union[int, hint],
        lambda: typing.NamedTuple("X", [("a", hint)]), lambda: typing.TypedDict("Y", {"a": hint}),
        lambda: typing.Annotated[int, hint], lambda: typing.Literal[hint],
    ):
        try:
            made = make()
            for way in (lambda: typing.get_type_hints(made), lambda: typing.get_args(made)[0]._evaluate({}, {}, set())):
                found = way()
                for each in found.values() if isinstance(found, dict) else [found]:
                    if type(each).__name__ in ("module", "dict", "list"):
                        escaped = each
        except Exception:
            pass
