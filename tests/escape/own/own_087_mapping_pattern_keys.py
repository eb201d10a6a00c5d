# kind=leak; source: patterns with values, keys and guards that run code in the middle of a match
import abc
def f():
    pass
class Names:
    key = "a"
class One(abc.ABC):
    __match_args__ = ("a",)
    @classmethod
    def __subclasshook__(cls, other):
        swap()
        return True
def swap():
    for write in (
        lambda: setattr(One, "__match_args__", ("__globals__",)),
        lambda: vars(One).update({"__match_args__": ("__globals__",)}),
        lambda: setattr(Names, "key", "__globals__"),
        lambda: exec("One = Two", globals()),
    ):
        try:
            write()
        except Exception:
            pass
class Two(abc.ABC):
    __match_args__ = ("__globals__",)
class Holder:
    @property
    def a(self):
        swap()
        return f
    def __eq__(self, other):
        swap()
        return True
for kind in (One, Two):
    try:
        kind.register(type(f))
    except Exception:
        pass
for subject in (f, Holder(), {"a": f}, [f]):
    for _ in range(2):
        try:
            match subject:
                case One(found) | Holder(a=One(found)) | {Names.key: One(found)} | [One(found)]:
                    escaped = escaped or ("__builtins__" in str(found) and found)
        except Exception:
            pass
