# kind=dos; source: key derivation with parameters that cost hours or gigabytes
import hashlib
for way in (
    lambda: hashlib.scrypt(b"x", salt=b"y", n=2**20, r=8, p=1, maxmem=2**31 - 1),
    lambda: hashlib.pbkdf2_hmac("sha256", b"x", b"y", 10**9),
):
    try:
        way()
    except (MemoryError, ValueError):
        pass
