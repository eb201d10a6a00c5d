# kind=dos; source: many small objects in every kind of container
import collections

makers = (lambda n: [n], lambda n: {n: n}, lambda n: (n, n), lambda n: {n}, lambda n: str(n) * 3, lambda n: collections.deque([n]), lambda n: bytearray(9), lambda n: lambda: n)
n = 0
pieces = []
while True:
    for make in makers:
        pieces.append(make(n))
    n += 1
