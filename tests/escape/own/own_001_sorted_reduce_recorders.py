# kind=cap; source: callbacks of C functions that keep what they are handed
import functools, heapq, itertools, bisect
seen = []
def note(*args, **kwargs):
    seen.extend(args)
    seen.extend(kwargs.values())
    return 0
sorted([3, 1], key=note)
functools.reduce(note, [1, 2, 3])
max([1, 2], key=note)
list(map(note, [1], [2]))
list(filter(note, [1]))
list(itertools.groupby([1, 2], note))
list(itertools.accumulate([1, 2], note))
heapq.nsmallest(1, [3, 1], key=note)
bisect.bisect([1, 2], 1, key=note)
sorted([3, 1], key=functools.cmp_to_key(note))
next(iter(note, 0), None)
inside = ("module", "frame", "code", "traceback", "builtin_function_or_method", "dict")
escaped = [each for each in seen if type(each).__name__ in inside]
