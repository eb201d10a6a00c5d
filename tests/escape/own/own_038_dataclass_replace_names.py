# kind=int; source: replace and make_dataclass set attributes that they are given as names
import dataclasses
@dataclasses.dataclass
class A:
    a: int = 1
class B(A):
    def reached(self):
        return True
for name, value in (("__class__", B), ("__dict__", {}), ("__getattribute__", len)):
    try:
        escaped = dataclasses.replace(A(), **{name: value}).reached()
    except Exception:
        pass
    try:
        made = dataclasses.make_dataclass("M", [(name, object, value)])
        escaped = made().reached()
    except Exception:
        pass
    try:
        made = dataclasses.make_dataclass("M", ["a"], namespace={name: value})
        escaped = made(1).reached()
    except Exception:
        pass
