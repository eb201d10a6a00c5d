# kind=sys; source: an error's own __str__ and __repr__ end the interpreter while it is shown
class E(Exception):
    def __str__(self):
        raise SystemExit("while shown")
    def __repr__(self):
        raise KeyboardInterrupt
    @property
    def args(self):
        raise GeneratorExit
raise E
