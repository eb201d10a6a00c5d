# kind=cap; source: texts in annotations that dataclass looks up in modules
import dataclasses
texts = (
    "modules.ClassVar", "ClassVar[__import__('os')]", "dataclasses.InitVar", "typing.ClassVar",
    "x): import os #", "builtins.eval", "sys.modules['os'].ClassVar", "__builtins__.InitVar",
)
for text in texts:
    class A:
        a: text = 1
    for module in ("sys", "builtins", "os", "__main__"):
        try:
            setattr(A, "__module__", module)
        except Exception:
            pass
        try:
            made = dataclasses.dataclass(A)
            found = [f.type for f in dataclasses.fields(made) if type(f.type) is not str]
            escaped = escaped or found
        except Exception:
            pass
