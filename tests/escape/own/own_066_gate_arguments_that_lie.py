# kind=sys; source: arguments of a gate whose classes answer for themselves
class I(int):
    def __index__(self):
        raise SystemExit
    def __int__(self):
        raise KeyboardInterrupt
    def __repr__(self):
        raise GeneratorExit
    def __hash__(self):
        return 1
class S(str):
    def encode(self, *args):
        raise SystemExit
    def __len__(self):
        return 10**9
class L(list):
    def __iter__(self):
        raise KeyboardInterrupt
    def __len__(self):
        return -1
class D(dict):
    def items(self):
        raise SystemExit
    def keys(self):
        return [self]
for value in (I(3), S("x"), L([1]), D(a=1), [S("y")], {S("k"): I(1)}, (L(),), {I(2)}):
    for call in (lambda: echo(value), lambda: echo(value=value), lambda: echo(**{"value": value})):
        try:
            back = call()
            assert type(back).__module__ == "builtins", type(back)
        except Exception:
            pass
