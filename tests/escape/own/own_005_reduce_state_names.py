# kind=leak; source: the state of __reduce__ sets attributes by name
import copy
class Plain:
    pass
class Wider(Plain):
    def reached(self):
        return "its class was set by a text"
plans = [
    (Plain, (), (None, {"__class__": Wider, "__dict__": {}})),
    (Plain, (), {"__class__": Wider}),
    (Plain, (), [("__class__", Wider)]),
]
for plan in plans:
    class A:
        try:
            locals()["__reduce__"] = lambda self: plan
        except Exception:
            pass
        try:
            vars()["__reduce_ex__"] = lambda self, protocol: plan
        except Exception:
            pass
    for make in (copy.copy, copy.deepcopy):
        try:
            escaped = make(A()).reached()
        except Exception:
            pass
