# kind=int; source: globals() as a way to reserved names
view = globals()
before = len(view)
for name, value in (
    ("__builtins__", {}), ("__name__", "x"), ("done", print), ("echo", print), ("__loader__", 1),
    ("_getattr_", len), ("__spec__", 1), ("super", int),
):
    for write in (
        lambda: view.__setitem__(name, value), lambda: view.update({name: value}),
        lambda: view.setdefault(name, value), lambda: view.pop(name), lambda: view.__ior__({name: value}),
    ):
        try:
            write()
        except Exception:
            pass
escaped = done is print or echo is print or view.get("__builtins__") == {}
