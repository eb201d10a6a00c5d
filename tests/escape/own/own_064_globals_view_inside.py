# kind=leak; source: what the view that globals() gives is made of
view = globals()
inside = []
for name in ("data", "_data", "mapping", "_variables", "__dict__", "__self__", "__wrapped__", "maps"):
    for thing in (view, view.keys(), view.items(), view.__iter__(), view.get):
        try:
            inside.append(getattr(thing, name))
        except Exception:
            pass
for way in (lambda: vars(view), lambda: view["__builtins__"], lambda: dict(view)["__builtins__"],
            lambda: view.items().mapping["__builtins__"], lambda: view.copy()["__builtins__"]):
    try:
        inside.append(way())
    except Exception:
        pass
escaped = [each for each in inside if isinstance(each, dict) and ("print" in each or "__builtins__" in each)]
