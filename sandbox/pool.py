"""The host's end of a zygote: starts it, asks it for workers, and keeps a few ready."""

from __future__ import annotations

import array
import atexit
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import RestrictedPython

from . import capacity, cgroups, checkpoints, jail, selftest
from .errors import (
    BackendUnavailable,
    PackageUnavailable,
    SandboxClosed,
    SandboxError,
)
from .kernel import NAME_BYTES, SERVE, START_SECONDS, KernelWorker, Refused
from .packages import SINGLE_THREADED, folders
from .wire import dumps, loads

READY = 2
"""Workers that are kept ready."""
_AT_ONCE = 8  # so many checkpoints give way at once where there is no room for a new worker
_ZYGOTE_BYTES = 128 << 20  # what zygotes may take up in the group of their workers
_ZYGOTE_PROCESSES = 64
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
main(control, frozenset(off.split(',')), packages.split())
"""


class Zygote:
    """One zygote process and the workers that stand ready.

    Args:
        layers_off: Layers of the jail to leave off; for tests of the other wall alone.
        packages: Names of the packages that its workers' programs may import.

    Raises:
        BackendUnavailable: The machine can't give the ``kernel`` back end; the text says why.
        PackageUnavailable: A package can't be loaded.
        NoCapacity: There may be no more workers.
        ValueError: A package can't be found.
    """

    def __init__(
        self, layers_off: frozenset[str] = frozenset(), packages: tuple[str, ...] = ()
    ) -> None:
        reason = jail.why_unsupported()
        if reason:
            raise Refused(reason)
        self._lock = threading.Lock()
        self._ready: list[KernelWorker] = []
        self._base = 0
        capacity.check()
        self._control, theirs = capacity.socket_pair(socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = _execute(theirs, layers_off, packages)
        except OSError as error:
            self._control.close()
            raise BackendUnavailable(f"the zygote can't be started: {error}") from None
        try:
            self._layers = {} if "cgroup" in layers_off else {"cgroup": _join_group(self._process)}
            self._layers |= self._wait_until_ready(START_SECONDS + LOAD_SECONDS * len(packages))
            self._begin(layers_off)
        except SandboxClosed as error:
            self._give_up()
            raise BackendUnavailable(str(error)) from None
        except BaseException:
            self._give_up()
            raise

    def _begin(self, layers_off: frozenset[str]) -> None:
        """Take the first worker, which tells of the layers, and have the jail tried meanwhile."""
        first = self._request(START_SECONDS)
        trials = self._try_jail() if "seccomp" not in layers_off else []
        self._greeted(first)
        for trial in trials:
            trial.greet()
        if found := selftest.holes([trial.sock for trial in trials], layers_off):
            raise Refused(
                "the kernel back end is refused, for its self-test was not stopped by the jail: "
                + ", ".join(found)
            )
        self._base = first.base = first.memory
        if not first.why_no_copies and (reason := first.why_not_found):
            first.layers["checkpoints"] = self._layers["checkpoints"] = reason
        self.layers = first.layers
        capacity.admit(first)
        self._ready.append(first)

    def _try_jail(self) -> list[KernelWorker]:
        """Throwaway workers that try the jail; waits for none of them."""
        return [self._request(START_SECONDS, kind) for kind in (selftest.CALLS, selftest.FOREIGN)]

    def _wait_until_ready(self, seconds: float) -> dict[str, str]:
        self._control.settimeout(seconds)
        try:
            answer: dict[str, Any] = loads(self._control.recv(65_536) or dumps({}))
        except OSError as error:  # a timeout too
            raise BackendUnavailable(f"the zygote did not start: {error}") from None
        if "error" in answer:
            raise Refused(answer["error"])
        if "package" in answer:
            raise PackageUnavailable(answer["package"])
        if "failed" in answer:
            raise BackendUnavailable(f"the zygote can't get ready: {answer['failed']}")
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
            NoCapacity: There may be no more workers.
        """
        capacity.check()
        while worker := self._pop():
            with suppress(SandboxClosed):  # one that died while it stood ready is passed over
                if self._greeted(worker) and not _is_readable(worker.sock):
                    return worker
        worker = self._request(START_SECONDS)
        capacity.admit(worker)
        return self._greeted(worker)

    def _greeted(self, worker: KernelWorker) -> KernelWorker:
        worker.greet()
        worker.base = self._base
        worker.layers |= self._layers
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
                worker = self._request(0)
                capacity.admit(worker, others_give_way=False)
                self._ready.append(worker)

    def let_go_of_ready(self) -> bool:
        """End the workers that stand ready; whether there were any."""
        with self._lock:
            ready, self._ready = self._ready, []
        for worker in ready:
            worker.end()
        return bool(ready)

    def _request(self, seconds: float, kind: bytes = SERVE) -> KernelWorker:
        """Ask for a worker; wait so long, in seconds, until the request can be sent."""
        name = _new_name()
        ours, theirs = capacity.socket_pair()
        with theirs:
            rights = array.array("i", [theirs.fileno()])
            try:
                _wait_for(self._control, select.POLLOUT, seconds)
                self._control.sendmsg(
                    [kind + name], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
                )
            except (OSError, ValueError) as error:  # a ValueError where it has been closed
                ours.close()
                raise SandboxClosed(f"the zygote is gone: {error}") from None
        return KernelWorker(ours, name)

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
            ",".join(sorted(layers_off)),
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


def _new_name() -> bytes:
    """A name for a worker and its copies, by which no other process goes."""
    return b"circlet-" + secrets.token_hex(NAME_BYTES)[: NAME_BYTES - 8].encode()


def _join_group(zygote: subprocess.Popen[bytes]) -> str:
    """Have the zygote, and all that it forks, bounded together; why that can't be, or nothing."""
    return cgroups.join(
        zygote.pid,
        capacity.max_memory() + _ZYGOTE_BYTES,
        capacity.max_workers() + _ZYGOTE_PROCESSES,
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
                except Refused as error:
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


def _let_go() -> bool:
    """Let go of workers that nobody waits for: those that stand ready, then old checkpoints."""
    zygotes = [place.zygote for place in list(_places.values()) if place.zygote is not None]
    return (
        any(zygote.let_go_of_ready() for zygote in zygotes)
        or checkpoints.shed(_AT_ONCE) > 0
        or checkpoints.wait_for_one()
    )


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
    cgroups.remove()


capacity.let_go_by(_let_go)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_in_child)
atexit.register(_close_at_exit)
