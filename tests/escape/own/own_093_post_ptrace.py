# kind=cap; source: post-exploitation: tracing other processes
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
did = []
for pid in (target["host"], target["bystander"], *range(2, 60)):
    for request in (0x4206, 0, 16) if pid == target["bystander"] else (0x4206,):
        if libc.syscall(101, request, pid, 0, 0) >= 0:
            did.append((request, pid))
    if libc.syscall(312, pid, pid, 0, 0, 0) >= 0 and pid:
        did.append(("kcmp", pid))
breached = did
