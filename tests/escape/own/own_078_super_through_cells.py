# kind=leak; source: super and __class__ cells aimed at other classes
import collections, operator
class A:
    def m(self):
        return super
    def cell(self):
        return __class__
class B(dict):
    def reach(self):
        return super()
    def other(self):
        return super(type(self), self)
    def borrowed(self):
        return super(B, B)
things = [B().reach(), B().other(), B().borrowed(), A().cell(), super(int, True), super(type, type)]
try:
    things.append(A().m()(int, True))
except Exception:
    pass
names = "__getattribute__ __class__ __self__ __thisclass__ __subclasses__ __init_subclass__ __globals__ mro __base__".split()
for thing in things:
    for name in names:
        for read in (getattr, lambda o, n: operator.attrgetter(n)(o), lambda o, n: operator.methodcaller(n)(o)):
            try:
                found = read(thing, name)
                if type(found).__name__ in ("method-wrapper", "dict", "module", "list") and name != "mro":
                    escaped = (name, found)
            except Exception:
                pass
