# kind=dos; source: post-exploitation: system calls by the numbers of another machine's tables
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
print(libc.syscall(0x40000000 + 2, b"/etc/passwd", 0))
