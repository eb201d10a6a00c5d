# kind=cap; source: post-exploitation: another program in this one's place
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
made = target["folder"] + "/made by another program"
words = [b"/bin/sh", b"-c", b"echo > '" + made.encode() + b"'", None]
argv = (ctypes.c_char_p * 4)(*words)
libc.syscall(59, b"/bin/sh", argv, None)
libc.syscall(322, -100, b"/bin/sh", argv, None, 0)
libc.syscall(322, 3, b"", argv, None, 0x1000)
for way in (
    lambda: os.execv("/bin/sh", ["sh", "-c", f"echo > '{made}'"]),
    lambda: os.posix_spawn("/bin/sh", ["sh", "-c", f"echo > '{made}'"], {}),
):
    try:
        way()
    except OSError:
        pass
