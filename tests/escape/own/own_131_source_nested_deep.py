# kind=dos; source: texts that nest deeper than a stack
for left, middle, right in (
    ("(", "1", ")"), ("[", "", "]"), ("{1:", "2", "}"), ("f(", "", ")"), ("not ", "1", ""), ("lambda:", "1", ""),
    ("x.y", "", ""), ("~", "1", ""), ("1 if 1 else ", "1", ""), ("await ", "x", ""), ("*", "x", ""), ("f'{", "1", "}'"),
):
    for depth in (90, 1_000, 30_000, 300_000):
        try:
            eval(left * depth + middle + right * depth)
        except (SyntaxError, MemoryError, RecursionError, NameError, TypeError):
            pass
