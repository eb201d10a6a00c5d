# kind=dos; source: weak references whose callbacks make the next one
import weakref
class A:
    pass
class B:
    def __init__(self):
        self.me = self
def again(_=None):
    a = A()
    refs.append(weakref.ref(a, again))
    if len(refs) > 50:
        del refs[:25]
refs = []
for _ in range(100_000):
    b = B()
    weakref.finalize(b, again)
while True:
    again()
