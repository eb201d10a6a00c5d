# kind=dos; source: memory that runs out in code that catches that and takes more
import array
pieces = []
size = 1 << 26
while True:
    try:
        pieces.append(bytearray(size))
        pieces.append(array.array("q", [0]) * size)
    except MemoryError:
        size = size // 2 or 1 << 26
        pieces[:] = pieces[: len(pieces) // 2 + 1]
