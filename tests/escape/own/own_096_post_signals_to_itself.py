# kind=cap; source: post-exploitation: stopping and ending itself by way of the kernel's signals
import os, signal, threading
did = []
for number in (signal.SIGSTOP, signal.SIGTSTP, 0):
    for way in (
        lambda: os.kill(os.getpid(), number), lambda: signal.raise_signal(number),
        lambda: os.kill(0, number), lambda: signal.pthread_kill(threading.get_ident(), number),
    ):
        try:
            way()
            did.append(number)
        except Exception:
            pass
breached = did
