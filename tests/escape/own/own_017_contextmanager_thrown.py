# kind=cap; source: a generator's context manager sees the exception with its frames
import contextlib, operator
seen = []
@contextlib.contextmanager
def manager():
    try:
        yield
    except Exception as error:
        seen.append(error)
        raise
try:
    with manager():
        1 / 0
except Exception as error:
    seen.append(error)
paths = ("tb_frame", "tb_next.tb_frame", "tb_next.tb_next.tb_frame", "tb_frame.f_back.f_globals")
for error in seen:
    trace = error.__traceback__
    for path in paths:
        at = trace
        try:
            for name in path.split("."):
                at = getattr(at, name)
            escaped = at
        except Exception:
            pass
        try:
            escaped = operator.attrgetter(path)(trace)
        except Exception:
            pass
