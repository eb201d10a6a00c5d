# kind=int; source: names of the guards bound in the dictionary that a text runs on
calls = []
def lax(*args):
    calls.append(args)
    return args[0] if args else None
import keyword
names = ["_getattr_", "_getitem_", "_write_", "_print_", "_getiter_", "__metaclass__", "_inplacevar_"]
scope = {}
for name in names:
    try:
        scope[name] = lax
    except Exception:
        pass
try:
    exec("class A:\n    def m(self):\n        return self._x\nA().m()", scope)
except Exception:
    pass
for key in list(scope) + list(globals()):
    if isinstance(key, str) and not key.isidentifier():
        escaped = key
escaped = escaped or calls
