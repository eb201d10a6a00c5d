# kind=int; source: the generators of the process, patched or aliased
import random, secrets, uuid
for name, value in (("random", lambda: 0.5), ("_inst", 1), ("choice", lambda s: s[0]), ("Random", int)):
    try:
        setattr(random, name, value)
        escaped = name
    except Exception:
        pass
for name in ("random", "getrandbits", "seed"):
    try:
        setattr(random.Random, name, lambda *a: 4)
        escaped = escaped or name
    except Exception:
        pass
try:
    escaped = escaped or random.random.__self__.__dict__
except Exception:
    pass
