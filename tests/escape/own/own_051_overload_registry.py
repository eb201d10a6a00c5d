# kind=leak; source: registries that typing keeps for the whole process
import typing
@typing.overload
def f(x: int): ...
@typing.overload
def f(x: str): ...
def f(x):
    pass
escaped = [g for g in typing.get_overloads(f) if hasattr(g, "__globals__") or hasattr(g, "__code__")]
class Proto(typing.Protocol):
    a: int
for name in ("_is_protocol", "__protocol_attrs__", "_proto_hook", "__parameters__"):
    try:
        found = getattr(typing.Generic, name)
        escaped = escaped or (callable(found) and getattr(found, "__globals__"))
    except Exception:
        pass
