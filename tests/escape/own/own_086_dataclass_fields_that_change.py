# kind=leak; source: __dataclass_fields__, _fields and __wrapped__ that are another each time they are read
import dataclasses, copy, inspect
def f():
    pass
class Flip:
    def __init__(self, *values):
        self.values = values
        self.count = 0
    def __get__(self, instance, owner):
        self.count += 1
        return self.values[self.count % len(self.values)]
@dataclasses.dataclass
class Real:
    a: int = 1
good = dataclasses.fields(Real)[0]
class Named(str):
    pass
class Field:
    name = Flip("a", "__globals__", "__init__")
    init = compare = repr = True
    kw_only = False
    hash = None
    _field_type = Flip(good._field_type if hasattr(good, "_field_type") else None, None)
class Fake:
    a = 1
    __slots__ = ()
for kind in (Fake, Real):
    for write in (
        lambda: setattr(kind, "__dataclass_fields__", Flip({"a": good}, {"a": Field()})),
        lambda: setattr(kind, "_fields", Flip(("a",), ("__class__",))),
        lambda: setattr(kind, "__wrapped__", Flip(f, f)),
    ):
        try:
            write()
        except Exception:
            pass
    for read in (dataclasses.asdict, dataclasses.astuple, dataclasses.replace, copy.copy, repr, inspect.signature, vars):
        for _ in range(3):
            try:
                found = read(kind())
                if "__builtins__" in str(found) or "bound method" in str(found):
                    escaped = found
            except Exception:
                pass
