# kind=cap; source: post-exploitation: other processes by fork, vfork, clone and clone3
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
parent = os.getpid()
did = []
arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
for call in (
    (57,), (56, 17, 0, 0, 0, 0), (56, 17, 0, 0, 0, 0, 0), (56, 0, 0, 0, 0, 0),
    (435, ctypes.byref(arguments), 88), (56, 0x10000000 | 17, 0, 0, 0, 0),
):
    pid = libc.syscall(*map(wide, call))
    if os.getpid() != parent:
        os._exit(0)
    if pid > 0:
        did.append((call, pid))
for way in (os.fork, lambda: os.posix_spawn("/bin/true", ["x"], {}), lambda: os.system("true") and 1 / 0, os.forkpty):
    try:
        pid = way()
        if os.getpid() != parent:
            os._exit(0)
        did.append(pid)
    except Exception:
        pass
breached = [each for each in did if each]
