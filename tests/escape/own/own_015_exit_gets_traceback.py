# kind=cap; source: contextlib's stacks hand an exit callback the traceback
import contextlib
seen = []
class Exit:
    def __enter__(self):
        return self
    def __exit__(self, *args):
        seen.extend(args)
        return True
with contextlib.ExitStack() as stack:
    stack.push(Exit())
    stack.push(lambda *args: seen.extend(args))
    stack.callback(seen.append, 1)
    1 / 0
for each in seen:
    for name in dir(each):
        if name in ("tb_frame", "tb_next", "tb_lasti"):
            try:
                frame = getattr(each, name)
                escaped = [frame, getattr(frame, "f_globals")]
            except Exception:
                pass
