# kind=cap; source: post-exploitation: memory that can be run, by every call that gives or changes memory
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
did = []
page = libc.syscall(9, 0, 8192, 3, 0x22, -1, 0)
for call in (
    (9, 0, 4096, 7, 0x22, -1, 0), (9, 0, 4096, 5, 0x22, -1, 0), (9, 0, 4096, 4, 0x21, -1, 0),
    (9, 0, 4096, 0x100000007, 0x22, -1, 0), (10, ctypes.c_void_p(page), 4096, 7), (10, ctypes.c_void_p(page), 4096, 4),
    (329, ctypes.c_void_p(page), 4096, 7, -1), (330, 0, 0), (216, ctypes.c_void_p(page), 4096, 4, 0, 0),
    (319, b"x", 0), (447, 0), (9, 0, 4096, 5, 2, 3, 0), (30, 1, 0, 0o10000), (158, 0x1003, 0), (135, 0x0400000),
    (135, 0xFFFFFFFF),
):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(call)
breached = did
