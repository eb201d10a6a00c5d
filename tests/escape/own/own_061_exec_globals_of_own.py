# kind=cap; source: exec and eval with dictionaries, mappings and builtins of the program's own
class M(dict):
    def __missing__(self, key):
        seen.append(key)
        return getattr
    def __getitem__(self, key):
        seen.append(key)
        return dict.__getitem__(self, key)
seen = []
payloads = (
    "import os", "open('/etc/passwd').read()", "__builtins__['eval']", "__import__('os')", "().__class__.__base__",
    "__loader__", "__build_class__", "[].append.__self__.__class__.__mro__",
)
for text in payloads:
    for scope in ({}, {"__builtins__": {}}, {"__builtins__": None}, M(), {"__builtins__": M()}):
        for run in (eval, exec, lambda t, s: eval(t, {}, s), lambda t, s: exec(t, s, s)):
            try:
                result = run(text, scope)
                if result is not None and result is not getattr:
                    escaped = escaped or (text, result)
                escaped = escaped or hasattr(scope.get("os"), "system")
            except Exception:
                pass
