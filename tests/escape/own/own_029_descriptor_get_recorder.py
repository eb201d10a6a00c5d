# kind=cap; source: descriptors that keep the owners they are looked up on
seen = []
class D:
    def __get__(self, instance, owner):
        seen.append((instance, owner))
        raise AttributeError
    def __set__(self, instance, value):
        seen.append((instance, value))
    def __set_name__(self, owner, name):
        seen.append((owner, name))
def with_all(**extra):
    class Holder:
        __doc__ = D()
        __match_args__ = D()
        __copy__ = D()
        __fspath__ = D()
        __length_hint__ = D()
        __index__ = D()
        __round__ = D()
    return Holder()
import copy, operator
thing = with_all()
for act in (copy.copy, operator.length_hint, operator.index, round, repr, hash, str, bool):
    try:
        act(thing)
    except Exception:
        pass
inside = ("module", "frame", "code", "traceback")
escaped = [each for pair in seen for each in pair if type(each).__name__ in inside]
