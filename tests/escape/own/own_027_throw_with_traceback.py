# kind=leak; source: generator.throw with a traceback taken from elsewhere
seen = []
def g():
    try:
        yield
    except ValueError as error:
        seen.append(error.__traceback__)
try:
    1 / 0
except ZeroDivisionError as error:
    trace = error.__traceback__
it = g()
next(it)
try:
    it.throw(ValueError, ValueError("x"), trace)
except BaseException:
    pass
for each in seen:
    for name in ("tb_frame", "tb_next", "tb_lineno"):
        try:
            found = getattr(each, name)
            escaped = getattr(found, "f_code", None) or getattr(found, "tb_frame", None)
        except Exception:
            pass
