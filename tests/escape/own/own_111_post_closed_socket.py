# kind=cap; source: post-exploitation: the worker closes its socket and lives on
import ctypes, os, time
for descriptor in range(16):
    try:
        os.close(descriptor)
    except OSError:
        pass
while True:
    time.sleep(1)
