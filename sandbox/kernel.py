"""A jailed worker as its host holds it, and how the host has it copied.

A copy is made by the worker itself, which calls ``clone``; the kernel asks the host, by a
descriptor that only the host has. The host agrees to one copy, at a moment of its choosing, of a
process whose id it has from the kernel; and it is the kernel that gives it the handle of the
copy. Nothing that the worker says is believed. A copy that it hides is found by its name, which
the zygote gave to the worker, and which no jailed process can change.
"""

from __future__ import annotations

import array
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from . import capacity, jail
from .errors import BackendUnavailable, NoCapacity, ProtocolError, SandboxClosed, SandboxError
from .wire import HEADER, Op, frame, loads

START_SECONDS = 30.0
"""Time that a zygote, or a worker, may take to be ready."""
COPY_SECONDS = 5.0
"""Time that a worker may take to make a copy of itself."""
SERVE = b"w"
"""What a zygote is asked for: a worker that serves. The others are the self-test's."""
NAME_BYTES = 15
"""Most bytes of the name that a zygote gives a worker."""
_PASS_PIDFD, _PIDFD = 76, 4  # SO_PASSPIDFD and SCM_PIDFD, Linux 6.5; Python doesn't name them
_HELLO_BYTES = 65_536


class Refused(BackendUnavailable):
    """This machine can't give the back end, however often it is asked."""


class _Listener:
    """Where the kernel asks whether a worker may be copied; shared with the copies.

    Attributes:
        fd: The descriptor.
        lock: Held for a copy: one at a time is asked for.
        known: Process ids of the worker and the copies that are held.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.lock = threading.Lock()
        self.known: set[int] = set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The lock, held.

        Raises:
            NoCapacity: Other copies take too long.
        """
        if not self.lock.acquire(timeout=2 * COPY_SECONDS):
            raise NoCapacity("other copies of this worker take too long to be made; try it again")
        try:
            yield
        finally:
            self.lock.release()

    def __del__(self, is_exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_exiting():  # then nothing may be left of os
            os.close(self.fd)


class KernelWorker:
    """A jailed worker: its socket, and a handle that names it for as long as it is held.

    Args:
        sock: The host's end.
        name: The process's name, and its copies'.
    """

    backend: Literal["kernel"] = "kernel"

    def __init__(self, sock: socket.socket, name: bytes) -> None:
        self.sock = sock
        self._name = name
        self._owner = os.getpid()
        self._number = 0  # its process id, once its listener knows it
        self.layers: dict[str, str] = {}
        self.base = 0
        self._pidfd = -1
        self._measured = 0  # the process id, as good as it needs to be to measure memory
        self._listener: _Listener | None = None

    def greet(self) -> None:
        """Wait until the worker is jailed.

        Raises:
            BackendUnavailable: A required layer can't be had.
            SandboxClosed: The worker ended before it was ready.
            NoCapacity: There is no descriptor left for its handle.
        """
        if self._pidfd >= 0:
            return
        self.sock.settimeout(START_SECONDS)
        try:
            message, handles = _receive(self.sock, socket.SCM_RIGHTS)
        except OSError as error:  # a timeout too
            raise SandboxClosed(f"a worker did not start: {error}") from None
        if handles:
            self._pidfd, *listeners = handles
            self._listener = _Listener(listeners[0]) if listeners else None
        if self._pidfd < 0 or message[4:5] != bytes([Op.HELLO]):
            raise SandboxClosed("a worker ended before it was ready")
        self.layers = loads(message[HEADER.size :])
        if "error" in self.layers:
            raise Refused(self.layers["error"])

    @property
    def pid(self) -> int:
        """The worker's process id, as the host counts."""
        return _pid_of(self._pidfd)

    @property
    def why_no_copies(self) -> str:
        """Why this worker can't be copied, or the empty string."""
        return self.layers.get("checkpoints", "left off")

    def copy(self) -> KernelWorker:
        """Have the worker, which must be idle, make a copy of itself.

        Raises:
            ProtocolError: It did something else; it is not to be trusted further.
            ConnectionError: It is gone.
            TimeoutError: It did not get to it.
            SandboxClosed: There is no room for another process.
            NoCapacity: There may be no more workers, or descriptors have run out.
        """
        capacity.check()
        ours, theirs = capacity.socket_pair()
        twin = KernelWorker(ours, self._name)
        try:
            with theirs:
                capacity.admit(twin)  # for which this worker itself may have given way
                listener = self._listener
                if listener is None:
                    raise SandboxClosed(f"a worker could not be copied: {self.why_no_copies}")
                twin.layers, twin.base, twin._listener = self.layers, self.base, listener
                ours.setsockopt(socket.SOL_SOCKET, _PASS_PIDFD, 1)
                with listener.held():
                    self._have_copy(twin, theirs, listener)
            ours.setsockopt(socket.SOL_SOCKET, _PASS_PIDFD, 0)
        except BaseException:
            twin.forget()
            raise
        return twin

    def _have_copy(self, twin: KernelWorker, theirs: socket.socket, listener: _Listener) -> None:
        """Ask for a copy, let it be made, and meet it; one that does not greet is ended."""
        until = time.monotonic() + COPY_SECONDS
        is_agreed = False
        try:
            self._number = self.pid
            listener.known.add(self._number)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))
            self.sock.settimeout(COPY_SECONDS)
            self.sock.sendmsg([frame(Op.COPY)], [rights])
            theirs.close()
            is_agreed = self._agree(twin.sock, listener.fd, until)
            twin.sock.settimeout(max(until - time.monotonic(), 0.001))
            message, handles = _receive(twin.sock, _PIDFD)
            twin._pidfd = handles[0] if handles else -1
            self._check_twin(twin, message)
            if twin.pid in listener.known:
                raise ProtocolError("an older copy of a worker has greeted in place of the new one")
            twin._number = twin.pid
            listener.known.add(twin._number)
        except (SandboxError, OSError) as error:
            is_hidden = is_agreed and self._end_hidden(listener.known)
            if is_hidden and not isinstance(error, NoCapacity):
                raise ProtocolError("a worker hid its copy from its host") from None
            if isinstance(error, SandboxError | ConnectionError | TimeoutError):
                raise
            raise ConnectionError(f"the worker is gone: {error}") from None

    @property
    def memory(self) -> int:
        """Bytes that the worker has of its own, beyond the ``base`` that all of them share.

        Raises:
            ProcessLookupError: It has ended.
        """
        self._measured = self._measured or self.pid
        return max(capacity.measure(self._measured) - self.base, 0)

    def _agree(self, ours: socket.socket, listener: int, until: float) -> bool:
        """Have the kernel go on with the copy that was asked for, and with no other.

        Returns:
            Whether it did. It does not where the worker has said something beforehand: that it
            could not even try. So what it says later, it says with the copy made.
        """
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(ours, select.POLLIN)
        while True:
            ready = dict(poll.poll(max(until - time.monotonic(), 0) * 1000))
            if not ready:
                raise TimeoutError("a worker made no copy of itself")
            if listener not in ready:
                return False
            asked, pid = jail.asked_for_copy(listener)
            is_it = pid == self.pid and ours.fileno() not in dict(poll.poll(0))
            jail.answer_copy(listener, asked, agree=is_it)
            if is_it:
                return True

    def _check_twin(self, twin: KernelWorker, message: bytes) -> None:
        if not message:
            raise ConnectionError("the worker ended while it was copied")
        if message[4:5] != bytes([Op.COPIED]):
            raise ProtocolError("a copy of a worker begins with something else than a greeting")
        is_copy = twin._pidfd >= 0 and twin.pid != self.pid
        if len(message) > HEADER.size or not is_copy:
            raise SandboxClosed("a worker could not be copied: there is no room for its copy")

    def _end_hidden(self, known: Collection[int]) -> bool:
        """End all of this name that the host does not know; whether there were any."""
        found = False
        for entry in os.scandir("/proc"):
            pid = int(entry.name) if entry.name.isdecimal() else 0
            if pid and pid not in known and _name_of(pid) == self._name:
                found = True
                with suppress(ProcessLookupError):
                    _end_named(pid, self._name)
        return found

    @property
    def why_not_found(self) -> str:
        """Why copies that this worker hides would not be found, or the empty string."""
        return "" if _name_of(self.pid) == self._name else "other processes are hidden in /proc"

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Whether the worker's process is over, or is within so many seconds."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def end(self) -> None:
        """End the worker now, whatever it does. The kernel clears it away.

        In a process that was forked from its owner, it is only let go of.
        """
        self.kill()
        self.forget()

    def kill(self) -> None:
        """End the worker, and leave what is held of it to whoever uses it at this moment."""
        if self._pidfd >= 0 and os.getpid() == self._owner:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def forget(self) -> None:
        """Let go of the worker; it ends when no process holds its socket any more."""
        capacity.leave(self)
        self.sock.close()
        if self._listener is not None:
            self._listener.known.discard(self._number)  # the kernel may give it out again
        self._listener = None
        pidfd, self._pidfd = self._pidfd, -1
        if pidfd >= 0:
            os.close(pidfd)

    def __del__(self, is_exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_exiting():  # then it ends with its host
            self.end()


def _receive(sock: socket.socket, kind: int) -> tuple[bytes, list[int]]:
    """A message, and the descriptors of one kind that came with it.

    Raises:
        NoCapacity: This process has no descriptors left to take them.
    """
    message, ancillary, flags, _ = sock.recvmsg(
        _HELLO_BYTES, socket.CMSG_SPACE(2 * 4), socket.MSG_CMSG_CLOEXEC
    )
    handles: list[int] = []
    for level, found, data in ancillary:
        if level != socket.SOL_SOCKET or found not in (kind, socket.SCM_RIGHTS):
            continue
        given = array.array("i", data[: len(data) // 4 * 4])
        if found == kind:
            handles += given
        else:
            for fd in given:  # nobody has asked for these
                os.close(fd)
    if flags & socket.MSG_CTRUNC:
        for handle in handles:
            os.close(handle)
        raise NoCapacity(capacity.no_descriptors())
    return message, handles


def _pid_of(pidfd: int) -> int:
    """The process id that a handle stands for.

    Raises:
        ProcessLookupError: The process has ended.
    """
    with suppress(FileNotFoundError):
        for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
            if line.startswith("Pid:") and int(line.split()[1]) > 0:
                return int(line.split()[1])
    raise ProcessLookupError("the worker has ended")


def _name_of(pid: int) -> bytes:
    """The name of a process; the empty one where there is none, or it can't be seen."""
    try:
        return Path(f"/proc/{pid}/comm").read_bytes().rstrip(b"\n")
    except OSError:
        return b""


def _end_named(pid: int, name: bytes) -> None:
    pidfd = os.pidfd_open(pid)
    try:
        if _name_of(pid) == name:  # it is still this one that has the number
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        os.close(pidfd)


def can_name_copies() -> str:
    """Why this kernel can't give the host the handle of a copy, or the empty string."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        try:
            ours.setsockopt(socket.SOL_SOCKET, _PASS_PIDFD, 1)
        except OSError as error:
            return f"the kernel passes no process handles: {error.strerror}"
    return ""
