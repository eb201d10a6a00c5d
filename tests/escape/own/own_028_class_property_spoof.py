# kind=leak; source: __class__ as a property, so that guards take an object for another
import contextlib
class Real:
    _private = "own"
class Spoof(contextlib.ExitStack):
    try:
        locals()["__class__"] = property(lambda self: Real)
    except Exception:
        pass
    def __getattr__(self, name):
        return Real if name == "__class__" else None
class Mimic(contextlib.ExitStack):
    pass
one, two = Spoof(), Mimic()
for write in (
    lambda: vars(two).update({"__class__": Real}), lambda: setattr(two, "__class__", Real),
    lambda: setattr(Mimic, "__class__", property(lambda self: Real)),
):
    try:
        write()
    except Exception:
        pass
for thing in (one, two):
    for name in ("_exit_callbacks", "_push_exit_callback", "__globals__"):
        try:
            found = getattr(thing, name)
            if found is not None:
                escaped = found
        except Exception:
            pass
