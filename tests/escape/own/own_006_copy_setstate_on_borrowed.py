# kind=int; source: __setstate__ and items of copy aimed at what isn't the program's
import copy, math, decimal
plans = (
    (lambda: math, (), {"pi": 3}),
    (lambda: math, (), None, None, iter([("pi", 3)])),
    (lambda: int, (), {"bit_length": 3}),
    (lambda: decimal.Decimal, (), {"sqrt": 3}),
)
for plan in plans:
    class A:
        pass
    a = A()
    for write in (
        lambda: setattr(A, "__reduce__", lambda self: plan),
        lambda: vars(A).update({"__reduce__": lambda self: plan}),
        lambda: vars(a).update({"__reduce_ex__": lambda protocol: plan, "__setstate__": len}),
    ):
        try:
            write()
        except Exception:
            pass
    for make in (copy.copy, copy.deepcopy):
        try:
            make(a)
        except Exception:
            pass
escaped = math.pi == 3 or int.bit_length == 3 or decimal.Decimal.sqrt == 3
