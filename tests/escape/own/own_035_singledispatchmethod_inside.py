# kind=cap; source: dispatchers and registries of singledispatchmethod
import functools, operator
class A:
    @functools.singledispatchmethod
    def m(self, x):
        pass
    @functools.cached_property
    def c(self):
        pass
    p = functools.partialmethod(print, 1)
paths = (
    "dispatcher.dispatch.__globals__ dispatcher.registry func.__globals__ lock func.__code__ "
    "dispatcher.__wrapped__.__globals__ dispatcher.__closure__ keywords func.__self__.eval"
).split()
import inspect
for name in ("m", "c", "p"):
    try:
        thing = inspect.getmembers(A)
    except Exception:
        thing = []
    for key, value in [*thing, (name, vars(A).get(name))]:
        for path in paths:
            try:
                found = operator.attrgetter(path)(value)
                if "__" in path or "eval" in path:
                    escaped = found
            except Exception:
                pass
