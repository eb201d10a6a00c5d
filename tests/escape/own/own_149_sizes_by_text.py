# kind=dos; source: sizes that a short text asks for
import struct, array
for way in (
    lambda: "%*d" % (2**31 - 1, 1), lambda: f"{1:>{10**10}}", lambda: struct.pack(f"{2**31 - 1}x"), lambda: "x".ljust(10**11),
    lambda: "\t".expandtabs(2**31 - 1) * 100, lambda: bytes(10**12), lambda: [None] * 10**12, lambda: "a".zfill(10**10),
    lambda: ("ab" * 10**7).replace("a", "a" * 10**5), lambda: ",".join(["x" * 10**6] * 10**5), lambda: b"x".hex("-", 1) * 10**11,
):
    try:
        way()
    except (MemoryError, OverflowError, ValueError):
        pass
