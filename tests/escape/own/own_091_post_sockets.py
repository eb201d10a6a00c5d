# kind=cap; source: post-exploitation: sockets of every family
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
did = []
pair = (ctypes.c_int * 2)()
for family in (1, 2, 10, 16, 17, 31, 38, 40, 44):
    for kind in (1, 2, 3, 5):
        if libc.syscall(41, family, kind, 0) >= 0:
            did.append(("socket", family, kind))
    if libc.syscall(53, family, 1, 0, pair) >= 0:
        did.append(("socketpair", family))
for way in (
    lambda: socket.create_connection(("127.0.0.1", target["tcp"])),
    lambda: socket.socket(socket.AF_UNIX).connect("\0" + target["unix"]),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", target["udp"])),
    lambda: socket.getaddrinfo("example.org", 80),
    lambda: socket.gethostbyname("localhost"),
    lambda: socket.socketpair(),
):
    try:
        way()
        did.append("python")
    except OSError:
        pass
breached = did
