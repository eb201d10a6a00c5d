# kind=sys; source: callbacks and finalizers that fire between turns and at the end
import weakref
class A:
    pass
def late(*args):
    seen.append(args)
    before_the_probe.append("changed late")
    raise SystemExit("from a finalizer")
seen = []
a, b = A(), A()
a.other, b.other = b, a
one = weakref.ref(a, late)
two = weakref.finalize(b, late)
try:
    two.atexit = True
except Exception:
    pass
as_it_was = before_the_probe
before_the_probe = list(as_it_was)
del a, b
before_the_probe = as_it_was
