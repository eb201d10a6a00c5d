"""The process that workers are forked from: started clean, warm, and with a single thread.

The host executes it and never forks itself, for a fork would carry the host's memory, API
keys and all, into the sandbox. It loads what a program may import, gives up what it can, and
forks a worker for each socket that it is handed. When its control socket closes, it ends, and
its workers with it.
"""

from __future__ import annotations

import array
import fcntl
import gc
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from . import jail, kernel, rlimits, selftest
from .copying import CopyWire
from .errors import BackendUnavailable, PackageUnavailable
from .wire import Op, dumps, frame
from .worker import Worker, forget_the_host

LANGUAGE = "language"
"""The name of the other wall, where layers are left off."""
_SOCKET, _PIDFD = 3, 4
"""Where a worker keeps its socket, and its own process handle until it has sent it."""
_OFF = "left off"
HOLE = "seccomp:"
"""Before a system call's name, where only its refusal is left off: for tests of the self-test."""


def main(
    control_fd: int, layers_off: frozenset[str] = frozenset(), packages: Sequence[str] = ()
) -> NoReturn:
    """Get ready, say so over the control socket, then fork a worker for each request."""
    control = socket.socket(fileno=control_fd)
    try:
        worker = Worker(checked=LANGUAGE not in layers_off, packages=packages)
        worker.make_ready()
        _check_threads(packages)
        layers = _give_up(control, layers_off)
    except PackageUnavailable as error:
        control.send(dumps({"package": str(error)}))
        os._exit(1)
    except BackendUnavailable as error:
        control.send(dumps({"error": str(error)}))
        os._exit(1)
    except (OSError, ValueError) as error:  # a limit that can't be set, too
        control.send(dumps({"failed": str(error)}))
        os._exit(1)
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(dumps({"layers": layers}))
    _fork_on_request(control, worker, layers_off)


def _check_threads(packages: Sequence[str]) -> None:
    """Check that there is this thread alone: no other would go on in a forked worker.

    Raises:
        PackageUnavailable: A package has started some.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise PackageUnavailable(
            f"{', '.join(packages)}: a package starts threads when it is loaded, so no worker "
            "can be forked from the process that holds it"
        )


def _give_up(control: socket.socket, layers_off: frozenset[str]) -> dict[str, str]:
    """Take the measures that a whole zygote can take, before any worker is forked."""

    def namespaces() -> None:
        jail.enter_namespaces()
        _move_into_new_process(control)

    steps: list[tuple[str, Callable[[], None]]] = [
        ("oom_first", jail.oom_first),
        ("namespaces", namespaces),
        ("no_capabilities", jail.drop_capabilities),
        ("no_new_privs", jail.no_new_privs),
        ("landlock", jail.landlock),
        ("not_dumpable", jail.not_dumpable),
    ]
    layers = jail.take(step for step in steps if step[0] not in layers_off)
    forget_the_host()
    # A worker that has ended is reaped by the kernel: nobody waits for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return layers


def _move_into_new_process(control: socket.socket) -> None:
    """Go on as the first process of the new process namespace; its end ends all in it."""
    child = os.fork()
    if child:
        control.close()
        os.waitpid(child, 0)
        os._exit(0)
    jail.die_with_parent()


def _fork_on_request(
    control: socket.socket, worker: Worker, layers_off: frozenset[str]
) -> NoReturn:
    program = jail.build_filter(
        [selftest.NUMBERS[name[len(HOLE) :]] for name in layers_off if name.startswith(HOLE)]
    )
    zygote = os.getpid()
    while True:
        try:
            message, fds = _receive(control)
        except ConnectionError:
            message = b""
        if not message:
            _end_all()
        with suppress(OSError):  # no room for another process: the host sees its socket close
            if os.fork() == 0:
                control.detach()
                jail.die_with_parent(zygote)
                jail.set_name(message[1:])
                _become(message[:1], fds[0], worker, program, layers_off)
        for fd in fds:
            os.close(fd)


def _end_all() -> NoReturn:
    """The host is gone, or has no more use for this zygote: nobody it has forked outlives it.

    They die with it anyway. But one that has been taken over could have asked not to.
    """
    with suppress(OSError):
        os.kill(0, signal.SIGKILL)  # the process group, which nobody jailed can leave
    os._exit(0)


def _receive(control: socket.socket) -> tuple[bytes, array.array[int]]:
    message, ancillary, _, _ = control.recvmsg(1 + kernel.NAME_BYTES, socket.CMSG_SPACE(4))
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return message, fds


def _become(
    kind: bytes, fd: int, worker: Worker, program: bytes, layers_off: frozenset[str]
) -> NoReturn:
    """Jail this process, hand the host a handle of it, and serve, or try the jail."""
    try:
        trial = None if kind == kernel.SERVE else selftest.Trial(kind)
        # By way of numbers that are certainly free: either may stand in the other's place.
        for source, place in [
            (fcntl.fcntl(one, fcntl.F_DUPFD, 10), place)
            for one, place in ((fd, _SOCKET), (os.pidfd_open(os.getpid()), _PIDFD))
        ]:
            os.dup2(source, place)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=_SOCKET)
        handles = array.array("i", [_PIDFD])
        try:
            hello = _jail(program, layers_off, handles)
        except BackendUnavailable as error:
            hello = {"error": str(error)}
        sock.sendmsg(
            [frame(Op.HELLO, dumps(hello))],
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)],
        )
        for handle in handles:  # with one of them it could agree to copies of itself
            os.close(handle)
        rlimits.limit_descriptors()  # now, for with it the handles might not have been sent
        if trial is not None:
            trial.run(sock)
        elif "error" not in hello:
            worker.rehearse(1)
            worker.serve(CopyWire(sock))
    finally:
        os._exit(70)


def _jail(program: bytes, layers_off: frozenset[str], handles: array.array[int]) -> dict[str, str]:
    """Take the measures that are a worker's own; adds to the handles that its host is given."""
    why_no_copies = _OFF if "checkpoints" in layers_off else kernel.can_name_copies()

    def seccomp() -> None:
        nonlocal why_no_copies
        if not why_no_copies:
            try:
                handles.append(jail.install_seccomp(program, listen=True))
                return
            except OSError as error:  # another supervisor listens to all of this container
                why_no_copies = str(error)
        jail.install_seccomp(program)

    steps: list[tuple[str, Callable[[], Any]]] = [
        ("closed_fds", lambda: jail.close_descriptors(_SOCKET, _PIDFD)),
        ("rlimits", rlimits.limit_resources),
        ("seccomp", seccomp),
    ]
    layers = jail.take(step for step in steps if step[0] not in layers_off)
    if "seccomp" in layers_off:
        why_no_copies = "no seccomp, by which the host would agree to one"
    return {**layers, "checkpoints": why_no_copies}
