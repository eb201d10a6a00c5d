# kind=cap; source: post-exploitation: the machine's clock and power
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
odd = (ctypes.c_int64 * 2)(0, 2 * 10**9)  # a time that is none, so that nobody's clock is set
room = ctypes.create_string_buffer(300)
reached = []
for name, call in (
    ("settimeofday", (164, odd, 0)), ("clock_settime", (227, 0, odd)), ("adjtimex", (159, room)),
    ("clock_adjtime", (305, 0, room)), ("reboot", (169, 1, 2, 3, 0)), ("sethostname", (170, b"", -1)),
    ("setdomainname", (171, b"", -1)), ("sched_setscheduler", (144, 0, 99, room)), ("mlockall", (151, 0)),
    ("mlock", (149, 0, 4096)), ("set_mempolicy", (238, 99, 0, 0)), ("alarm", (37, 0)),
):
    if libc.syscall(*map(wide, call)) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        reached.append(name)
breached = reached
