# kind=cap; source: copy calls what __reduce_ex__ names
import copy
class A:
    def __init__(self, call, *args):
        self.plan = (call, args)
    def __reduce_ex__(self, protocol):
        return self.plan
for call, args in (
    (eval, ("__import__('os')",)),
    (getattr, (len, "__self__")),
    (type, ("X", (), {"__getattribute__": len})),
    ("os.system", ("true",)),
):
    try:
        escaped = copy.copy(A(call, *args))
    except Exception:
        pass
