# kind=cap; source: post-exploitation: writes into the interpreter's own memory
import ctypes
for victim in (3, "x", (), len, int):
    ctypes.memset(id(victim) + 24, 0xFF, 8)
ctypes.memset(id(None), 0, 8)
