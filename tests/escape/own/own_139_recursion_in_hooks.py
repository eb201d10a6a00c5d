# kind=dos; source: special methods that call themselves by way of C
import functools, json, sys
sys.setrecursionlimit(20_000)
class A:
    def __repr__(self):
        return f"{self!r}"
    def __eq__(self, other):
        return [self] == [other, self]
    def __hash__(self):
        return hash((self,))
    def __getattr__(self, name):
        return getattr(self, name + "x")
    def __call__(self, *args):
        return sorted([1, 2], key=self)
    def __iter__(self):
        return iter(list(self))
    def __format__(self, spec):
        return format(self, spec)
    def __bool__(self):
        return not self
for act in (repr, hash, lambda a: a == A(), lambda a: a.b, lambda a: a(1), list, format, bool, json.dumps, lambda a: functools.reduce(a, [1, 2])):
    try:
        act(A())
    except (RecursionError, TypeError, MemoryError):
        pass
A()
