# kind=cap; source: hashes of files, and objects that hashlib reads from
import hashlib, hmac, io
class Raw:
    def __init__(self, name):
        self.name = name
    def fileno(self):
        return 3
    def readinto(self, buffer):
        seen.append(buffer)
        return 0
    def readable(self):
        return True
seen = []
for way in (
    lambda: hashlib.file_digest("/etc/passwd", "sha256"),
    lambda: hashlib.file_digest(open("/etc/passwd", "rb"), "sha256"),
    lambda: hashlib.file_digest(Raw("/etc/passwd"), lambda: seen),
    lambda: hmac.new(b"k", b"m", lambda *a: seen.append(a)),
):
    try:
        way()
    except Exception:
        pass
inside = ("module", "frame", "code", "traceback")
escaped = [each for each in seen if type(each).__name__ in inside]
