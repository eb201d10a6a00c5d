# kind=dos; source: texts of megabytes for eval, exec and compile
for make in (
    lambda: "+".join(["1"] * 2_000_000), lambda: "x=1\n" * 1_000_000, lambda: "x" * 20_000_000,
    lambda: "[" + "1," * 3_000_000 + "]", lambda: "'" + "a" * 30_000_000 + "'", lambda: "\n" * 30_000_000,
    lambda: "if x:\n" + "\n".join(" " * n + "if x:" for n in range(1, 90)) + "\n" + " " * 95 + "pass",
):
    try:
        eval(make())
    except (SyntaxError, MemoryError, NameError):
        try:
            exec(make())
        except (SyntaxError, MemoryError, NameError):
            pass
