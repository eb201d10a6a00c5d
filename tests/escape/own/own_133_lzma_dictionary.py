# kind=dos; source: a stream of a few bytes that asks for a dictionary of gigabytes
import lzma
filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "preset": 9}]
for way in (
    lambda: lzma.compress(b"x" * 1000, format=lzma.FORMAT_RAW, filters=filters),
    lambda: lzma.decompress(b"\x5d\xff\xff\xff\xff" + b"\xff" * 8 + b"\0" * 40, format=lzma.FORMAT_ALONE),
    lambda: lzma.LZMADecompressor(memlimit=1 << 50).decompress(b"\x5d\0\0\0\x80" + b"\xff" * 8 + b"\0" * 40),
):
    try:
        way()
    except (MemoryError, lzma.LZMAError):
        pass
lzma.compress(b"0123456789" * 10_000_000, preset=9 | lzma.PRESET_EXTREME)
