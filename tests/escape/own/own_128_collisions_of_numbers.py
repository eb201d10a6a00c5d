# kind=dos; source: dictionary keys that all have one hash, kept as the turn's value
prime = 2**61 - 1
flood = {prime * step: step for step in range(1, 200_000)}
flood
