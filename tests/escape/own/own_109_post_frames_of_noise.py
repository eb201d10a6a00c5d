# kind=cap; source: post-exploitation: lengths, opcodes and bodies that are none
import random, socket, struct
wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
draw = random.Random(1)
wire.sendall(struct.pack("<IB", 0xFFFFFFFF, 17))
for _ in range(50):
    wire.sendall(draw.randbytes(100))
