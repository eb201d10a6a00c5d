# kind=cap; source: post-exploitation: the one kind of fork that a host agrees to, when it has not asked
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
parent = os.getpid()
made = []
for flags in (0x8000 | 17, 0x8000 | 17 | 0x10000, 17 | 0x4000, 0x8000, 0x8000 | 0x200 | 17):
    for last in (0, 1, 2**63):
        try:
            pid = libc.syscall(56, ctypes.c_ulong(flags), 0, 0, 0, ctypes.c_ulong(last))
        except BaseException:
            continue
        if os.getpid() != parent:
            os._exit(0)
        if pid > 0:
            made.append((flags, pid))
breached = made
