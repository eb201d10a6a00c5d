# kind=sys; source: names that the runner uses, as odd keys of the program's variables
class Key(str):
    def __eq__(self, other):
        raise SystemExit("from a key")
    __hash__ = str.__hash__
view = globals()
for key in (Key("__builtins__"), Key("__name__"), Key("done"), Key("before_the_probe"), 3, None, ("a",), Key("value")):
    for write in (lambda: view.__setitem__(key, 1), lambda: view.update({key: 1}), lambda: exec("", {key: 1})):
        try:
            write()
        except BaseException:
            pass
try:
    exec("x = 1", {Key("__builtins__"): {}})
except BaseException:
    pass
