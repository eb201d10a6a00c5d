# kind=leak; source: str.format by way of map, reduce, partial and sorted
import functools, operator, itertools
def f():
    pass
for way in (
    lambda: list(map(str.format, ["{0.__globals__}"], [f])),
    lambda: functools.partial(str.format, "{0.__globals__}")(f),
    lambda: functools.reduce(str.format, ["{0.__globals__}", f]),
    lambda: list(itertools.starmap(str.format, [("{0.__globals__}", f)])),
    lambda: operator.methodcaller("format_map", {"a": f})("{a.__globals__}"),
    lambda: "{0:{1.__globals__}}".format("", f),
    lambda: "{0[a].__globals__}".format({"a": f}),
    lambda: sorted([f], key="{0.__globals__}".format) and max(["{0.__globals__}".format(f)]),
):
    try:
        text = str(way())
        escaped = escaped or ("__builtins__" in text and text)
    except Exception:
        pass
