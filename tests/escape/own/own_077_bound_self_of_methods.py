# kind=cap; source: __self__ of bound methods and builtins of modules
import math, json, random, time, operator
things = [len, print, math.sin, time.time, random.random, json.dumps, "".join, [].append, {}.get, done]
for thing in things:
    for read in (lambda: thing.__self__, lambda: getattr(thing, "__self__"),
                 lambda: operator.attrgetter("__self__")(thing), lambda: thing.__module__):
        try:
            found = read()
            if type(found).__name__ in ("module", "Random", "Worker"):
                escaped = found
        except Exception:
            pass
