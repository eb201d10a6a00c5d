"""The host's end of a zygote: starts it, asks it for workers, and keeps a few ready."""

from __future__ import annotations

import array
import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgpack
import RestrictedPython

from . import jail
from .errors import BackendUnavailable, PackageUnavailable, SandboxClosed, SandboxError
from .packages import SINGLE_THREADED, folders
from .wire import HEADER, Op, dumps, loads

READY = 2
"""Workers that are kept ready."""
START_SECONDS = 30.0
"""Time that a zygote, or a worker, may take to be ready."""
LOAD_SECONDS = 60.0
"""Time that a zygote may take on top of it for each package."""
EXIT_SECONDS = 1.0
"""Time that the host's own exit waits for its zygote to end."""

_BOOT = """
import sys, importlib.util
control, root, paths, off, packages = int(sys.argv[1]), *sys.argv[2:6]
sys.path[:0] = paths.split(":")
sys.path += sys.argv[6:]
spec = importlib.util.spec_from_file_location(
    "circlet", root + "/__init__.py", submodule_search_locations=[root])
package = importlib.util.module_from_spec(spec)
sys.modules["circlet"] = package
spec.loader.exec_module(package)
from circlet.sandbox.zygote import main
main(control, frozenset(off.split()), packages.split())
"""


class _Refused(BackendUnavailable):
    """This machine can't give the back end, however often it is asked."""


class KernelWorker:
    """A jailed worker: its socket, and a handle that names it for as long as it is held."""

    backend: Literal["kernel"] = "kernel"

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._pidfd = -1
        self.layers: dict[str, str] = {}

    def greet(self) -> None:
        """Wait until the worker is jailed.

        Raises:
            BackendUnavailable: A required layer can't be had.
            SandboxClosed: The worker ended before it was ready.
        """
        if self._pidfd >= 0:
            return
        self.sock.settimeout(START_SECONDS)
        try:
            message, ancillary, _, _ = self.sock.recvmsg(
                65_536, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:  # a timeout too
            raise SandboxClosed(f"a worker did not start: {error}") from None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._pidfd = array.array("i", data[:4])[0]
        if self._pidfd < 0 or message[4:5] != bytes([Op.HELLO]):
            raise SandboxClosed("a worker ended before it was ready")
        self.layers = loads(message[HEADER.size :])
        if "error" in self.layers:
            raise _Refused(self.layers["error"])

    @property
    def pid(self) -> int:
        """The worker's process id, as the host counts."""
        for line in Path(f"/proc/self/fdinfo/{self._pidfd}").read_text().splitlines():
            if line.startswith("Pid:"):
                return int(line.split()[1])
        raise ProcessLookupError("the worker has ended")

    def end(self) -> None:
        """End the worker now, whatever it does. The kernel clears it away."""
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self.forget()

    def forget(self) -> None:
        """Let go of the worker; it ends when no process holds its socket any more."""
        self.sock.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def __del__(self) -> None:
        self.forget()


class Zygote:
    """One zygote process and the workers that stand ready.

    Args:
        layers_off: Layers of the jail to leave off; for tests of the other wall alone.
        packages: Names of the packages that its workers' programs may import.

    Raises:
        BackendUnavailable: The machine can't give the ``kernel`` back end; the text says why.
        PackageUnavailable: A package can't be loaded.
        ValueError: A package can't be found.
    """

    def __init__(
        self, layers_off: frozenset[str] = frozenset(), packages: tuple[str, ...] = ()
    ) -> None:
        reason = jail.why_unsupported()
        if reason:
            raise _Refused(reason)
        self._lock = threading.Lock()
        self._ready: list[KernelWorker] = []
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = _execute(theirs, layers_off, packages)
        except OSError as error:
            self._control.close()
            raise BackendUnavailable(f"the zygote can't be started: {error}") from None
        try:
            self.layers = self._wait_until_ready(START_SECONDS + LOAD_SECONDS * len(packages))
            probe = self.take()
        except SandboxClosed as error:
            self._give_up()
            raise BackendUnavailable(str(error)) from None
        except (BackendUnavailable, PackageUnavailable):
            self._give_up()
            raise
        self.layers.update(probe.layers)
        self._ready.append(probe)

    def _wait_until_ready(self, seconds: float) -> dict[str, str]:
        self._control.settimeout(seconds)
        try:
            answer: dict[str, Any] = loads(self._control.recv(65_536) or dumps({}))
        except OSError as error:  # a timeout too
            raise BackendUnavailable(f"the zygote did not start: {error}") from None
        if "error" in answer:
            raise _Refused(answer["error"])
        if "package" in answer:
            raise PackageUnavailable(answer["package"])
        if "layers" not in answer:
            raise BackendUnavailable("the zygote ended before it was ready")
        self._control.setblocking(False)
        layers: dict[str, str] = answer["layers"]
        return layers

    @property
    def is_alive(self) -> bool:
        """Whether the zygote still runs."""
        return self._process.poll() is None

    def take(self) -> KernelWorker:
        """A worker that is ready, or is about to be.

        Raises:
            SandboxClosed: The zygote is gone, or can't fork.
            BackendUnavailable: A required layer can't be had.
        """
        while worker := self._pop():
            with suppress(SandboxClosed):  # one that died while it stood ready is passed over
                worker.greet()
                if not _is_readable(worker.sock):
                    return worker
        worker = self._request(START_SECONDS)
        worker.greet()
        return worker

    def _pop(self) -> KernelWorker | None:
        with self._lock:
            return self._ready.pop(0) if self._ready else None

    def has_ready(self) -> bool:
        """Whether ``take`` would not have to wait."""
        with self._lock:
            first = self._ready[0] if self._ready else None
        return first is not None and (bool(first.layers) or _is_readable(first.sock))

    def refill(self) -> None:
        """Ask for workers until enough stand ready. Waits for none of them.

        Raises:
            SandboxClosed: The zygote is gone, or has more requests than it can take.
        """
        with self._lock:
            while len(self._ready) < READY:
                self._ready.append(self._request(0))

    def _request(self, seconds: float) -> KernelWorker:
        """Ask for a worker; wait so long, in seconds, until the request can be sent."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            rights = array.array("i", [theirs.fileno()])
            try:
                _wait_for(self._control, select.POLLOUT, seconds)
                self._control.sendmsg([b"w"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except (OSError, ValueError) as error:  # a ValueError where it has been closed
                ours.close()
                raise SandboxClosed(f"the zygote is gone: {error}") from None
        return KernelWorker(ours)

    def close(self, seconds: float = START_SECONDS) -> None:
        """End the zygote, and every worker with it.

        Args:
            seconds: How long to wait until it has ended.

        Raises:
            subprocess.TimeoutExpired: It has not.
        """
        self.forget()
        self._process.wait(seconds)

    def _give_up(self) -> None:
        """End a zygote that did not come to be, whatever it does."""
        self.forget()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Let go of the descriptors without waiting for anything."""
        self._control.close()
        for worker in self._ready:
            worker.forget()
        self._ready.clear()


def _is_readable(sock: socket.socket) -> bool:
    return _wait_for(sock, select.POLLIN, 0)


def _wait_for(sock: socket.socket, event: int, seconds: float) -> bool:
    poll = select.poll()  # select() can't take a descriptor past 1,023
    poll.register(sock, event)
    return bool(poll.poll(seconds * 1000))


def _execute(
    theirs: socket.socket, layers_off: frozenset[str], packages: tuple[str, ...]
) -> subprocess.Popen[bytes]:
    """Start the zygote with nothing of the host's but one socket, and where packages stand."""
    roots = {Path(module.__file__ or "").parents[1] for module in (RestrictedPython, msgpack)}
    environment = {"PYTHONHASHSEED": "0", **(SINGLE_THREADED if packages else {})}
    if "LD_LIBRARY_PATH" in os.environ:  # some Pythons find their own library through it
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    fd = theirs.fileno()
    return subprocess.Popen(
        [
            *(sys.executable, "-s", "-S", "-P", "-c", _BOOT, str(fd)),
            str(Path(__file__).parents[1]),
            ":".join(sorted(str(root) for root in roots)),
            " ".join(sorted(layers_off)),
            " ".join(packages),
            *folders(packages),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(fd,),
        env=environment,
        cwd="/",
        start_new_session=True,
    )


class _Place:
    """Where this process keeps its zygote for the sessions with the same packages."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self.zygote: Zygote | None = None
        self._packages = packages
        self._lock = threading.Lock()
        self._refusal = ""

    def fill(self) -> Zygote:
        """The zygote; a new one where there is none, or the last one has died."""
        with self._lock:
            if self._refusal:
                raise BackendUnavailable(self._refusal)
            if self.zygote is not None and not self.zygote.is_alive:
                self.clear()
            if self.zygote is None:
                try:
                    self.zygote = Zygote(packages=self._packages)
                except _Refused as error:
                    self._refusal = str(error)
                    raise
            return self.zygote

    def clear(self) -> None:
        """Let go of the zygote without waiting for its end."""
        if self.zygote is not None:
            self.zygote.forget()
            self.zygote = None


_places: dict[tuple[str, ...], _Place] = {}


def _place(packages: tuple[str, ...]) -> _Place:
    return _places.get(packages) or _places.setdefault(packages, _Place(packages))


def shared(packages: tuple[str, ...] = ()) -> Zygote:
    """This process's zygote with these packages; a new one if the last one has died.

    Raises:
        BackendUnavailable: There is none to be had. What the machine can't give at all is
            not asked for again; after a passing failure the next session asks anew.
        PackageUnavailable: A package can't be loaded.
    """
    return _place(packages).fill()


def take(packages: tuple[str, ...] = ()) -> KernelWorker:
    """A worker of this process's zygote, from a new zygote if the last one has just died."""
    try:
        return shared(packages).take()
    except SandboxClosed:
        return shared(packages).take()


def has_ready(packages: tuple[str, ...] = ()) -> bool:
    """Whether ``take`` would not have to wait."""
    zygote = _place(packages).zygote
    return zygote is not None and zygote.is_alive and zygote.has_ready()


def refill(packages: tuple[str, ...] = ()) -> None:
    """Have workers ready for the next sessions, as far as that can be done."""
    zygote = _place(packages).zygote
    if zygote is not None and zygote.is_alive:
        with suppress(SandboxError, OSError):
            zygote.refill()


def _drop_in_child() -> None:
    """A forked child shares the descriptors: it must not keep the parent's zygotes alive."""
    for place in list(_places.values()):
        place.clear()
    _places.clear()  # and with them their locks, which a thread of the parent may have held


def _close_at_exit() -> None:
    for place in list(_places.values()):
        if place.zygote is not None:
            with suppress(subprocess.TimeoutExpired):
                place.zygote.close(EXIT_SECONDS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_in_child)
atexit.register(_close_at_exit)
