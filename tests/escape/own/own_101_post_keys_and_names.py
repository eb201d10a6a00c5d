# kind=cap; source: post-exploitation: keys, namespaces, mounts and roots
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
folder = target["folder"].encode()
room = ctypes.create_string_buffer(300)
did = []
for name, call in (
    ("keyctl", (250, 0, -3, 1)), ("add_key", (248, b"user", b"x", b"y", 1, -3)),
    ("request_key", (249, b"user", b"x", 0, -3)), ("unshare user", (272, 0x10000000)),
    ("unshare all", (272, 0x7E020000)), ("unshare files", (272, 0x400)), ("setns", (308, 3, 0)),
    ("mount", (165, b"none", folder, b"tmpfs", 0, 0)), ("umount2", (166, folder, 2)),
    ("chroot", (161, b"/")), ("fsopen", (430, b"tmpfs", 0)),
    ("open_tree", (428, -100, folder, 0)), ("fspick", (433, -100, folder, 0)),
    ("move_mount", (429, -100, folder, -100, folder, 0)), ("statmount", (457, 0, 0, 0, 0)),
    ("mount_setattr", (442, -100, folder, 0, 0, 0)), ("listmount", (458, 0, 0, 0, 0)),
    ("swapon", (167, folder, 0)), ("setsid", (112,)), ("setpgid", (109, 0, 0)),
    ("name_to_handle_at", (303, -100, folder, room, room, 0)),
):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(name)
breached = did
