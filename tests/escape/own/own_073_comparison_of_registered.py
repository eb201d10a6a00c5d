# kind=int; source: numbers, ABCs and hooks that answer isinstance for others
import abc, collections.abc, numbers
class Everything(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return True
class Own:
    pass
for kind in (numbers.Integral, collections.abc.Mapping, collections.abc.Sequence, collections.abc.Hashable):
    for registered in (str, type(print), type(done), Own):
        try:
            kind.register(registered)
            if registered is not Own and issubclass(registered, numbers.Integral):
                escaped = registered
        except Exception:
            pass
