# kind=cap; source: iterators and other C objects whose __reduce__ names builtins
import operator, functools, collections
for thing in (iter([]), reversed([]), iter({}), enumerate([]), zip(), iter(len, 0), map(len, []),
              collections.deque(), functools.partial(len), operator.itemgetter(1), range(3)):
    for name in ("__reduce__", "__reduce_ex__", "__setstate__", "__getstate__"):
        for read in (getattr, lambda o, n: operator.methodcaller(n)):
            try:
                found = read(thing, name)
                result = found(thing) if read is not getattr else found()
                if callable(result[0]) and result[0] not in (iter, reversed):
                    escaped = result[0]
            except Exception:
                pass
