# kind=leak; source: names in class bodies that Python or a library sets
found = []
class A:
    for name in ("__module__", "__qualname__", "__locals__", "__build_class__", "__classcell__", "__class__"):
        try:
            found.append((name, eval(name)))
        except Exception:
            pass
    found.append(("locals", dict(locals())))
    inner = lambda: locals()
    here = [vars() for _ in "a"]
inside = ("module", "frame", "cell", "builtin_function_or_method")
for name, each in found:
    values = list(each.values()) if isinstance(each, dict) else [each]
    escaped = escaped or [value for value in values if type(value).__name__ in inside]
