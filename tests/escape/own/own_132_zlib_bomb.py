# kind=dos; source: compressed zeros in layers
import bz2, gzip, lzma, zlib
data = b"\0" * 30_000_000
for pack, unpack in ((zlib.compress, zlib.decompress), (gzip.compress, gzip.decompress), (bz2.compress, bz2.decompress)):
    try:
        small = pack(data)
        bomb = pack(small * 1)
        unpack(unpack(bomb)) * 1000
    except MemoryError:
        pass
zlib.decompress(zlib.compress(data), bufsize=2**40)
