# kind=sys; source: a suspended generator's finally that raises and yields when it goes
def g():
    try:
        yield 1
    finally:
        while True:
            try:
                yield 2
            except GeneratorExit:
                raise SystemExit("from a finally")
def h():
    try:
        yield 1
    except GeneratorExit:
        try:
            done("late")
        except BaseException:
            yield 3
one, two = g(), h()
next(one), next(two)
one = two = None
{"x": g()}
