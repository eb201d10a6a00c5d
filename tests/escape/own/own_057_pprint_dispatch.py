# kind=int; source: registries and overridden methods of printers
import pprint, reprlib
seen = []
class P(pprint.PrettyPrinter):
    def format(self, thing, context, maxlevels, level):
        seen.append(context)
        context[id(thing)] = 1
        return super().format(thing, context, maxlevels, level)
P().pformat([{"a": (1, {2})}])
class R(reprlib.Repr):
    def repr_instance(self, x, level):
        return "x"
Named = type([]) and [].__class__ if False else None
class A:
    pass
A.__name__ = "x.__globals__"
R().repr(A())
for holder, name in ((pprint.PrettyPrinter, "_dispatch"), (reprlib, "aRepr"), (pprint, "_builtin_scalars")):
    try:
        found = getattr(holder, name)
        if name == "_dispatch":
            found[list.__repr__] = seen.append
            escaped = "the registry was written to"
    except Exception:
        pass
