# kind=cap; source: update_wrapper and wraps copy attributes by name, both ways
import functools, json
def own():
    pass
class Box:
    pass
for source in (json.dumps, own, json.JSONEncoder.encode):
    for names in (("__globals__",), ("__code__", "__closure__"), ("__builtins__",), ("__defaults__",)):
        for updated in ((), ("__dict__",), ("__globals__",)):
            box = Box()
            try:
                functools.update_wrapper(box, source, assigned=names, updated=updated)
            except Exception:
                pass
            for name in names:
                try:
                    if "_" in name and name in vars(box):
                        escaped = vars(box)[name]
                except Exception:
                    pass
