"""The back end for any platform: a spawned process with the same wire and the language wall.

There is no kernel wall here, but for resource limits where the platform has them.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
import types
import weakref
from typing import Any, Literal

import multiprocess

from . import rlimits
from .errors import SandboxClosed
from .wire import HEADER, Op, dumps, frame
from .worker import Worker, forget_the_host

START_SECONDS = 60.0
"""Time that a worker may take to be ready."""
_start_lock = threading.Lock()


def serve(sock: socket.socket) -> None:
    """What the spawned process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the host to act on
    worker = Worker()
    worker.make_ready()
    forget_the_host()
    rlimits.limit_resources()
    rlimits.limit_descriptors()
    gc.collect()
    gc.freeze()
    sock.sendall(frame(Op.HELLO, dumps({})))
    worker.serve(sock)


class PortableWorker:
    """A worker in a spawned process."""

    backend: Literal["portable"] = "portable"

    def __init__(self) -> None:
        self.sock, theirs = socket.socketpair()
        self.layers: dict[str, str] = {}
        with theirs:
            process = multiprocess.get_context("spawn").Process(
                target=serve, args=(theirs,), daemon=True
            )
            _start(process)
        self._process: Any = process
        self._ending = weakref.finalize(self, _end, process, os.getpid())

    def greet(self) -> None:
        """Wait until the worker is ready.

        Raises:
            SandboxClosed: It ended before it was.
        """
        self.sock.settimeout(START_SECONDS)
        hello = frame(Op.HELLO, dumps({}))
        try:
            first = self.sock.recv(len(hello))
        except (TimeoutError, OSError):
            first = b""
        if first[: HEADER.size] != hello[: HEADER.size]:
            self.end()
            raise SandboxClosed("a worker ended before it was ready")

    @property
    def pid(self) -> int:
        """The worker's process id."""
        pid: int = self._process.pid
        return pid

    def end(self) -> None:
        """End the worker now, whatever it does."""
        self._ending()
        self.forget()

    def forget(self) -> None:
        """Let go of the worker; it ends when no process holds its socket any more."""
        self.sock.close()
        self._ending.detach()


def _end(process: Any, owner: int) -> None:
    if owner == os.getpid():  # of a process that was forked since, the worker is not the child
        process.kill()
        process.join(START_SECONDS)


def _start(process: Any) -> None:
    """Start a spawned process that does not run the host's main script again.

    ``multiprocess`` has the child import the parent's ``__main__``, which a worker has no use
    for: and a script without a guard would run twice.
    """
    with _start_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
