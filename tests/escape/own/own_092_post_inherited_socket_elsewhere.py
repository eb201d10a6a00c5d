# kind=cap; source: post-exploitation: the one socket that there is, connected, bound and sent elsewhere
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
name = b"\0" + target["unix"].encode()
unix = struct.pack("H", 1) + name
inet = struct.pack("!2s H 4s 8x", struct.pack("H", 2), target["tcp"], bytes([127, 0, 0, 1]))
nowhere = struct.pack("H", 0) + bytes(14)
did = []
for address in (unix, inet, nowhere):
    for call in ((42, 3, address, len(address)), (49, 3, address, len(address)), (44, 3, b"", 0, 0x40, address, len(address))):
        if libc.syscall(*map(wide, call)) >= 0 and call[0] != 44:
            did.append(call[0])
for call in ((50, 3, 1), (43, 3, 0, 0), (288, 3, 0, 0, 0), (54, 3, 1, 2, struct.pack("i", 1), 4), (55, 3, 1, 17, bytes(12), bytes(4)), (48, 9, 2)):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(call[0])
breached = did
