# kind=leak; source: __match_args__ that is another each time it is read
import abc
def f():
    pass
class Flip:
    count = 0
    def __get__(self, instance, owner):
        Flip.count += 1
        return () if Flip.count % 2 else ("__globals__",)
class Names(tuple):
    def __iter__(self):
        return iter(("a",))
    def __getitem__(self, index):
        return "a"
    def __len__(self):
        return 1
class One(abc.ABC):
    __match_args__ = Flip()
class Two(abc.ABC):
    __match_args__ = Names(("__globals__",))
class Three(abc.ABC):
    __match_args__ = ["__globals__"]
for kind in (One, Two, Three):
    for _ in range(3):
        try:
            kind.register(type(f))
        except Exception:
            pass
        try:
            match f:
                case kind(found):
                    escaped = found
        except Exception:
            pass
