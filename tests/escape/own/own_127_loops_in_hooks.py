# kind=dos; source: endless special methods that C code calls
class A:
    def __eq__(self, other):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
    def __hash__(self):
        return 1
    def __lt__(self, other):
        return self == other
sorted([A(), A()])
{A(): 1, A(): 2}
