# kind=leak; source: names in __match_args__ whose checks are answered by the program
class S(str):
    def startswith(self, *args):
        return False
    def __eq__(self, other):
        return False
    def __hash__(self):
        return 0
    def __getitem__(self, index):
        return "a"
    def isidentifier(self):
        return True
def f():
    pass
def try_on(kind, thing):
    match thing:
        case kind(found):
            return found
    return None
class Any_:
    __match_args__ = (S("__globals__"),)
import abc
class Face(abc.ABC):
    __match_args__ = (S("__globals__"),)
for kind in (Any_, Face):
    try:
        if kind is Face:
            Face.register(type(f))
        escaped = try_on(kind, f)
    except Exception:
        pass
    try:
        thing = kind()
        match thing:
            case Any_(found) | Face(found):
                escaped = found
    except Exception:
        pass
