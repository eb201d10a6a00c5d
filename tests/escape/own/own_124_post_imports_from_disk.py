# kind=cap; source: post-exploitation: modules and libraries loaded from the machine's disk
import ctypes, importlib, sys
did = []
sys.path[:] = ["/usr/lib/python3", "/usr/lib/python3.11", target["folder"]]
for name in ("imaplib", "smtplib", "this", "poplib"):
    try:
        importlib.import_module(name)
        did.append(name)
    except ImportError:
        pass
for name in ("libcrypt.so.1", "libsqlite3.so.0", "/lib/x86_64-linux-gnu/libcrypt.so.1", "libnss_files.so.2"):
    try:
        ctypes.CDLL(name)
        did.append(name)
    except OSError:
        pass
breached = did
