# kind=int; source: keywords, bases and entries of classes made with lies
seen = []
class Late:
    def __init_subclass__(cls, **kwargs):
        seen.append(kwargs)
        for name, value in (("__getattribute__", lambda s, n: "hooked"), ("__class__", int)):
            try:
                setattr(cls, name, value)
            except Exception:
                pass
class Entries:
    try:
        locals()["__mro_entries__"] = lambda self, bases: (Late,)
    except Exception:
        pass
    try:
        vars()["__prepare__"] = lambda *args: {"__getattribute__": lambda s, n: "hooked"}
    except Exception:
        pass
try:
    class A(Entries(), x=1):
        pass
    escaped = A().anything == "hooked"
except Exception:
    pass
class C(Late, y=2):
    try:
        locals()["__getattribute__"] = lambda self, name: "hooked"
    except Exception:
        pass
    try:
        locals().update({"__del__": lambda self: seen.append(1), "__slots__": ("__dict__", "x")})
    except Exception:
        pass
try:
    escaped = escaped or C().anything == "hooked"
except Exception:
    pass
