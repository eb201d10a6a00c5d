# kind=sys; source: causes and contexts in a circle, with tracebacks set by the program
a, b = ValueError("a"), KeyError("b")
def tie(one, other):
    try:
        raise one from other
    except Exception:
        pass
    try:
        try:
            raise other
        except Exception:
            raise one
    except Exception:
        pass
tie(a, b)
tie(b, a)
tie(a, a)
group = ExceptionGroup("g", [a, b])
tie(a, group)
tie(group, group)
a.with_traceback(None)
for step in range(3000):
    c = ValueError(step)
    tie(c, b)
    b = c
raise group from b
