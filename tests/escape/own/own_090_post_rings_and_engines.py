# kind=cap; source: post-exploitation: system calls that run others on a program's behalf
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
room = ctypes.create_string_buffer(4096)
did = []
for name, call in (
    ("io_uring_setup", (425, 8, room)), ("io_uring_enter", (426, 3, 1, 1, 1, 0, 0)),
    ("io_uring_register", (427, 3, 0, room, 1)), ("io_setup", (206, 8, room)), ("bpf", (321, 0, room, 72)),
    ("perf_event_open", (298, room, 0, -1, -1, 0)), ("userfaultfd", (323, 0)), ("userfaultfd user", (323, 1)),
    ("init_module", (175, room, 10, b"")), ("finit_module", (313, 3, b"", 0)), ("kexec_load", (246, 0, 0, 0, 0)),
    ("ioctl", (16, 3, 0x541B, room)), ("fcntl", (72, 3, 3)), ("lookup_dcookie", (212, 0, room, 100)),
    ("uselib", (134, b"/lib/x")), ("modify_ldt", (154, 0, room, 100)), ("iopl", (172, 3)), ("ioperm", (173, 0, 1, 1)),
    ("vm86", (166, 0)), ("syslog", (103, 10, 0, 0)), ("sysinfo", (99, room)), ("uname", (63, room)),
    ("cachestat", (451, 3, room, room, 0)), ("quotactl", (179, 0, 0, 0, 0)), ("map_shadow_stack", (453, 0, 4096, 0)),
):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(name)
breached = did
