# kind=cap; source: post-exploitation: threads by Python and by the C library
import _thread, ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
did = []
kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p) if hasattr(ctypes, "CFUNCTYPE") else None
for way in (
    lambda: _thread.start_new_thread(did.append, ("thread",)),
    lambda: threading.Thread(target=did.append, args=("thread",), daemon=True).start(),
    lambda: libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.getpid, None) == 0 and did.append("C"),
):
    try:
        way()
    except (RuntimeError, OSError, ValueError, MemoryError):
        pass
breached = did
