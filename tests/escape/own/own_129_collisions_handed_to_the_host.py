# kind=dos; source: colliding keys in what a gate is given and answers
prime = 2**61 - 1
for size in (900, 5_000, 50_000):
    try:
        echo({prime * step: step for step in range(1, size)})
    except ValueError:
        pass
    try:
        echo({(step, prime * step) for step in range(1, size)})
    except ValueError:
        pass
