# kind=sys; source: notes of an error that are no texts and raise when they are shown
class Note:
    def __str__(self):
        raise SystemExit(1)
    def __repr__(self):
        raise KeyboardInterrupt
    def __iter__(self):
        raise GeneratorExit
class Text(str):
    def __str__(self):
        raise SystemExit(2)
    def splitlines(self, *args):
        raise KeyboardInterrupt
class E(Exception):
    try:
        locals()["__notes__"] = [Note()]
    except Exception:
        pass
error = E("x")
error.add_note(Text("y"))
for write in (
    lambda: setattr(error, "__notes__", [Note(), Note()]),
    lambda: vars(error).update({"__notes__": Note()}),
    lambda: error.add_note(Note()),
):
    try:
        write()
    except Exception:
        pass
raise error
