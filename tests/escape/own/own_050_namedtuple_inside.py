# kind=cap; source: the functions that a named tuple is made of
import collections, typing, operator
P = collections.namedtuple("P", "a b")
class Q(typing.NamedTuple):
    a: int = 1
paths = "__new__.__globals__ _make.__func__.__globals__ __repr__.__code__ _replace.__closure__".split()
for kind in (P, Q):
    for path in paths:
        try:
            escaped = operator.attrgetter(path)(kind)
        except Exception:
            pass
        at = kind
        try:
            for name in path.split("."):
                at = getattr(at, name)
            escaped = at
        except Exception:
            pass
for args in (("N", "a b", "__module__"), ("N", ["a", "_b"]), ("N", ["a\u00a0=1"]), ("class", "a")):
    try:
        escaped = collections.namedtuple(*args[:2])._fields == ("x",)
    except Exception:
        pass
