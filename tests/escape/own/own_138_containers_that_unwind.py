# kind=dos; source: structures a million deep that are shown, compared, copied and let go
import copy
def deep(wrap, n):
    x = None
    for _ in range(n):
        x = wrap(x)
    return x
class Node:
    def __init__(self, inner):
        self.inner = inner
for wrap in (lambda x: [x], lambda x: (x,), lambda x: {"a": x}, Node, lambda x: iter([x]), lambda x: lambda: x):
    one, two = deep(wrap, 200_000), deep(wrap, 200_000)
    for act in (repr, hash, lambda x: x == two, copy.deepcopy, str):
        try:
            act(one)
        except (RecursionError, TypeError, MemoryError):
            pass
    del one, two
deep(lambda x: [x], 300_000)
