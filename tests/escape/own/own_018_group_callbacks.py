# kind=cap; source: exception groups: split, subgroup and derive are handed parts
seen = []
class Group(ExceptionGroup):
    def derive(self, parts):
        seen.extend(parts)
        return Group(self.message, parts)
def look(error):
    seen.append(error)
    return True
try:
    raise Group("g", [ValueError(1), Group("h", [KeyError(2)])])
except Exception as error:
    error.split(look)
    error.subgroup(look)
    error.subgroup(KeyError)
for error in seen:
    trace = getattr(error, "__traceback__", None)
    for name in ("tb_frame", "tb_next"):
        try:
            found = getattr(trace, name)
            escaped = getattr(found, "f_globals")
        except Exception:
            pass
