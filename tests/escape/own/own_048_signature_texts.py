# kind=cap; source: signature evaluates __text_signature__ and annotations
import inspect
class A:
    def __call__(self, a):
        pass
def f(a):
    pass
payload = "($self, a=__import__('os'))"
for thing in (A, A(), f):
    for name, value in (
        ("__text_signature__", payload), ("__signature__", payload), ("__wrapped__", len),
        ("__annotations__", {"a": "__import__('os')"}),
    ):
        try:
            setattr(thing, name, value)
        except Exception:
            pass
    for named in ({}, {"eval_str": True}, {"eval_str": True, "globals": {}, "locals": {}}):
        try:
            for each in inspect.signature(thing, **named).parameters.values():
                for value in (each.default, each.annotation):
                    if type(value).__name__ == "module":
                        escaped = value
        except Exception:
            pass
