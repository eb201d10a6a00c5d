# kind=cap; source: post-exploitation: files, folders and links made, changed and removed
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
did = []
folder, secret = target["folder"].encode(), target["file"].encode()
for call in (
    (85, folder + b"/a", 0o666), (257, -100, folder + b"/b", 0o102, 0o666), (83, folder + b"/c", 0o777),
    (258, -100, folder + b"/d", 0o777), (88, secret, folder + b"/e"), (86, secret, folder + b"/f"),
    (133, folder + b"/g", 0o010666, 0), (82, secret, folder + b"/h"), (76, secret, 0), (90, secret, 0o777),
    (92, secret, 0, 0), (268, -100, secret, 0o777), (87, secret), (84, folder), (132, secret, 0),
    (280, -100, secret, 0, 0), (188, secret, b"user.x", b"1", 1, 0), (316, -100, secret, -100, folder + b"/i", 0),
    (285, 3, 0, 0, 10), (306, 3), (77, 3, 0), (163, folder + b"/j"), (167, folder, 0),
):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(call[0])
breached = did
