"""How a spawned process ends when its host is gone, whatever it does at that moment.

It holds the reading end of a pipe whose other end only the host has. On Linux the kernel sends
the signal that can't be refused when that is closed: in a loop, in one long call of C, in a gate.
Elsewhere a thread waits for it, which can't end a call that holds Python's lock before it is over.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading

if sys.platform == "linux":
    import fcntl


def end_with_host(sentinel: int) -> None:
    """End this process when its host does.

    Args:
        sentinel: What can be read once the host is gone, and never before: on Linux a pipe.
    """
    if sys.platform == "linux":
        by_signal(sentinel)
    else:
        by_thread(sentinel)


def by_signal(pipe: int) -> None:
    """Have the kernel end this process when the pipe's other end is closed."""
    if sys.platform == "linux":
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(pipe)
        if poll.poll(0):  # it was closed before the kernel was asked
            os._exit(0)


def by_thread(sentinel: int) -> None:
    """Have a thread end this process once the sentinel can be read."""
    from multiprocess.connection import wait  # now, for its classes are not to come later

    def watch() -> None:
        if hasattr(signal, "pthread_sigmask"):  # signals are for the thread that runs programs
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        wait([sentinel])
        os._exit(0)

    threading.Thread(target=watch, name="circlet host", daemon=True).start()
