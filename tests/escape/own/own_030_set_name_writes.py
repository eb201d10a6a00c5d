# kind=int; source: __set_name__ called by hand on what isn't the program's
import enum, functools, math, operator
class D:
    def __set_name__(self, owner, name):
        try:
            setattr(owner, "planted", name)
        except Exception:
            pass
d = D()
for owner in (math, int, ValueError, enum.Enum, functools.partial, type(len), type(print)):
    try:
        for one in (d, functools.cached_property(len), enum.property(len), functools.partialmethod(len)):
            for name in ("planted", "pi", "__init__"):
                getattr(one, "__set_name__")(owner, name)
                operator.methodcaller("__set_name__", owner, name)(one)
    except Exception:
        pass
escaped = [o for o in (math, int, ValueError, enum.Enum, functools.partial) if hasattr(o, "planted")]
