# kind=cap; source: compile's flags and modes, and code objects that come out
import ast
source = "().__class__.__base__.__subclasses__()"
for args in (
    (source, "f", "eval"), (source, "f", "single"), (source.encode(), "f", "eval"),
    (bytearray(source.encode()), "f", "eval"), (memoryview(source.encode()), "f", "eval"),
    (source.encode("utf-16"), "f", "eval"), ("# coding: utf-7\n" + source, "f", "exec"),
    (b"# coding: rot13\n().__pynff__", "f", "exec"), (source, "f", "eval", 0, True, 2),
    (source, "f", "func_type"), (source, "f", "eval", 0x400),
):
    try:
        code = compile(*args)
        for name in ("co_code", "co_consts", "co_names", "replace"):
            if hasattr(code, name):
                escaped = name
        escaped = escaped or eval(code)
    except Exception:
        pass
