# kind=cap; source: post-exploitation: users, groups, capabilities, and the jail's own switches
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
every = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
groups = (ctypes.c_uint32 * 1)(0)
program = ctypes.create_string_buffer(16)
did = []
for name, call in (
    ("setuid", (105, 0)), ("setgid", (106, 0)), ("setreuid", (113, 0, 0)), ("setresuid", (117, 0, 0, 0)), ("setresgid", (119, 0, 0, 0)),
    ("setgroups", (116, 1, groups)), ("setfsuid", (122, 0)), ("capset", (126, header, every)), ("dumpable", (157, 4, 1, 0, 0, 0)),
    ("death signal", (157, 1, 0, 0, 0, 0)), ("keepcaps", (157, 8, 1, 0, 0, 0)), ("new privileges", (157, 38, 0, 0, 0, 0)),
    ("seccomp off", (157, 22, 0, 0, 0, 0)), ("seccomp filter", (317, 1, 0, program)), ("seccomp listener", (317, 1, 8, program)),
    ("landlock", (444, 0, 0, 1)), ("tracer", (157, 0x59616D61, -1, 0, 0, 0)), ("subreaper", (157, 36, 1, 0, 0, 0)),
    ("ambient", (157, 47, 2, 0, 0, 0)), ("mm map", (157, 35, 14, 0, 0, 0)), ("timer slack", (157, 29, 1, 0, 0, 0)),
):
    if libc.syscall(*map(wide, call)) >= 0 and name != "setfsuid":
        did.append(name)
breached = did
