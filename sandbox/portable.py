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
from collections.abc import Callable
from typing import Any, Literal

import multiprocess

from . import capacity, rlimits
from .errors import PackageUnavailable, SandboxClosed
from .jail import EXTRAS, REQUIRED
from .orphans import end_with_host
from .packages import SINGLE_THREADED
from .wire import HEADER, Op, dumps, frame, loads

_NO_LAYER = "the portable back end has the language's wall alone"
START_SECONDS = 60.0
"""Time that a worker may take to be ready."""
_HASH_SEED = "PYTHONHASHSEED"
_start_lock = threading.Lock()


def serve(sock: socket.socket, packages: tuple[str, ...]) -> None:
    """What the spawned process runs."""
    # Here, for a host has no use for all that its programs may import.
    from .output import SocketWire
    from .worker import Worker, forget_the_host

    if (host := multiprocess.parent_process()) is not None:
        end_with_host(host.sentinel)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the host to act on
    if packages:
        os.environ.update(SINGLE_THREADED)
    try:
        worker = Worker(packages=packages)
        worker.make_ready()
    except PackageUnavailable as error:
        sock.sendall(frame(Op.HELLO, dumps({"package": str(error)})))
        return
    forget_the_host()
    rlimits.limit_resources()
    rlimits.limit_descriptors()
    gc.collect()
    gc.freeze()
    sock.sendall(frame(Op.HELLO, dumps({})))
    worker.serve(SocketWire(sock))


class PortableWorker:
    """A worker in a spawned process.

    Args:
        packages: Names of the packages that its program may import.

    Raises:
        NoCapacity: There may be no more workers.
    """

    backend: Literal["portable"] = "portable"
    why_no_copies = "the portable back end makes no copies of a process"

    def __init__(self, packages: tuple[str, ...] = ()) -> None:
        capacity.check()
        self.sock, theirs = capacity.socket_pair()
        try:
            capacity.admit(self)
        except BaseException:
            self.sock.close()
            theirs.close()
            raise
        self.layers = dict.fromkeys((*REQUIRED, *EXTRAS), _NO_LAYER)
        with theirs:
            process = multiprocess.get_context("spawn").Process(
                target=serve, args=(theirs, packages), daemon=True
            )
            _start(process)
        self._process: Any = process
        self._owner = os.getpid()
        self._ending = weakref.finalize(self, _end, process, os.getpid())

    def greet(self) -> None:
        """Wait until the worker is ready.

        Raises:
            SandboxClosed: It ended before it was.
            PackageUnavailable: A package can't be loaded.
        """
        self.sock.settimeout(START_SECONDS)
        try:
            first = self.sock.recv(65_536)
        except (TimeoutError, OSError):
            first = b""
        if first[4:5] != bytes([Op.HELLO]):
            self.end()
            raise SandboxClosed("a worker ended before it was ready")
        hello = loads(first[HEADER.size :])
        if "package" in hello:
            self.end()
            raise PackageUnavailable(hello["package"])

    @property
    def pid(self) -> int:
        """The worker's process id."""
        pid: int = self._process.pid
        return pid

    @property
    def memory(self) -> int:
        """Bytes that the worker has of its own.

        Raises:
            OSError: It has ended, or this system does not tell.
        """
        return capacity.measure(self.pid)

    def copy(self) -> PortableWorker:
        """Not here: see ``why_no_copies``."""
        raise NotImplementedError(self.why_no_copies)

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Whether the worker's process is over, or is within so many seconds."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def end(self) -> None:
        """End the worker now, whatever it does."""
        self._ending()
        self.forget()

    def kill(self) -> None:
        """End the worker, and leave what is held of it to whoever uses it at this moment."""
        if self._owner == os.getpid():
            self._process.kill()

    def forget(self) -> None:
        """Let go of the worker; it ends when no process holds its socket any more."""
        capacity.leave(self)
        self.sock.close()
        self._ending.detach()

    def __del__(self, is_exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_exiting():
            capacity.leave(self)


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
        main, seed = sys.modules["__main__"], os.environ.get(_HASH_SEED)
        sys.modules["__main__"] = types.ModuleType("__main__")
        os.environ[_HASH_SEED] = "0"  # so that turns can be run again: sets keep their order
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
            del os.environ[_HASH_SEED]
            if seed is not None:
                os.environ[_HASH_SEED] = seed
