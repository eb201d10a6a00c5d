# kind=cap; source: singledispatch reads the annotation of what it registers
import functools
@functools.singledispatch
def f(x):
    pass
for text in ("__import__('os')", "f.__globals__", "(lambda: 1).__globals__['__builtins__']"):
    def g(x: text):
        pass
    try:
        f.register(g)
    except Exception:
        pass
    class A:
        @functools.singledispatchmethod
        def m(self, x):
            pass
    try:
        @A.m.register
        def _(self, x: text):
            pass
    except Exception:
        pass
kinds = [each for each in getattr(f, "registry", ())]
escaped = [each for each in kinds if type(each).__name__ in ("module", "dict")]
