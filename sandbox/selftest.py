"""The jail tries itself: what is forbidden is attempted in throwaway workers as a zygote starts.

They are forked and jailed as every worker is, and no program runs in them. One makes each of
``ATTEMPTS`` and reports those that were not refused; then it makes a system call of the x32
kind, which has to be its end. Another one makes one of the i386 kind. The arguments are such that
a call that gets through does no harm, and fails with another error than the jail's, if at all.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from .channel import receive
from .jail import I386, X32
from .wire import Inbox, Op, dumps, frame, loads

CALLS, FOREIGN = b"c", b"i"
"""The two throwaway workers, as the zygote is asked for them."""
_SECONDS = 30.0
_BROKEN_OFF = "what kept a throwaway worker from reporting, or from its end"
_NOBODY, _NOWHERE, _NO_FD = 0x7FFFFFFF, 1, -1  # a process, an address and a descriptor: of none
_DESCRIPTORS = 256  # far more than a zygote ever holds
_EXECUTABLE, _PRIVATE = 7, 0x22  # PROT_READ, _WRITE and _EXEC; MAP_PRIVATE and _ANONYMOUS


class Attempt(NamedTuple):
    """Something that must be refused.

    Attributes:
        name: What is attempted, as errors call it.
        layer: The layer of the jail that has to refuse it.
        number: Number of the system call.
        arguments: Its arguments: numbers, addresses, texts.
        error: The error that the layer answers with.
    """

    name: str
    layer: str
    number: int
    arguments: tuple[int | bytes | None, ...] = ()
    error: int = errno.EPERM


def _call(name: str, number: int, *arguments: int | bytes | None) -> Attempt:
    return Attempt(name, "seccomp", number, arguments)


ATTEMPTS: tuple[Attempt, ...] = (
    # Files.
    _call("open", 2, b"/", 0),
    _call("openat", 257, -100, b"/", 0),
    _call("openat2", 437, -100, b"/", None, 0),
    _call("chroot", 161, _NOWHERE),
    _call("mount", 165, _NOWHERE, _NOWHERE, _NOWHERE, 0, None),
    _call("memfd_create", 319, b"x", 0),
    # The network.
    _call("socket", 41, 1, 1, 0),
    _call("connect", 42, _NO_FD, None, 0),
    _call("bind", 49, _NO_FD, None, 0),
    # Processes and programs.
    _call("fork", 57),
    _call("vfork", 58),
    _call("clone", 56, 0x10000),  # a thread without shared memory, which is none
    Attempt("clone3", "seccomp", 435, (None, 0), errno.ENOSYS),
    _call("execve", 59, _NOWHERE, None, None),
    _call("execveat", 322, _NO_FD, _NOWHERE, None, None, 0),
    # Other processes.
    _call("kill", 62, _NOBODY, 0),
    _call("tgkill", 234, _NOBODY, _NOBODY, 0),
    _call("pidfd_open", 434, _NOBODY, 0),
    _call("pidfd_send_signal", 424, _NO_FD, 0, None, 0),
    _call("ptrace", 101, 16, _NOBODY, 0, 0),
    _call("process_vm_readv", 310, _NOBODY, None, 0, None, 0, 0),
    _call("process_vm_writev", 311, _NOBODY, None, 0, None, 0, 0),
    _call("prlimit64 of another process", 302, _NOBODY, 0, None, None),
    # Memory that can be run.
    Attempt("mmap PROT_EXEC", "seccomp", 9, (0, 4096, _EXECUTABLE, _PRIVATE, -1, 0), errno.EACCES),
    Attempt("mprotect PROT_EXEC", "seccomp", 10, (0, 0, _EXECUTABLE), errno.EACCES),
    # The kernel's wider surface.
    _call("io_uring_setup", 425, 1, _NOWHERE),
    _call("bpf", 321, 0, _NOWHERE, 8),
    _call("perf_event_open", 298, _NOWHERE, 0, -1, -1, 0),
    _call("userfaultfd", 323, -1),
    _call("keyctl", 250, 9999, 0, 0, 0, 0),
    _call("ioctl", 16, _NO_FD, 0, 0),
    # Other rights.
    _call("unshare", 272, 0),
    _call("setns", 308, _NO_FD, 0),
    _call("prctl", 157, 3, 0, 0, 0, 0),
    _call("seccomp", 317, 2, 0, _NOWHERE),
    _call("setuid", 105, -1),
    # Descriptors and limits.
    *(
        Attempt(f"descriptor {fd}", "closed_fds", 51, (fd, None, None), errno.EBADF)
        for fd in range(_DESCRIPTORS)
        if fd != 3
    ),
    Attempt("prlimit64 RLIMIT_CORE", "rlimits", 302, (0, 4, b"\1" * 16, None)),
    Attempt("prlimit64 RLIMIT_FSIZE", "rlimits", 302, (0, 1, b"\1" * 16, None)),
    Attempt("prlimit64 RLIMIT_NOFILE", "rlimits", 302, (0, 7, b"\1" * 16, None)),
)
_LAYERS = {attempt.name: attempt.layer for attempt in ATTEMPTS}
NUMBERS: dict[str, int | str] = {
    **{attempt.name: attempt.number for attempt in ATTEMPTS if attempt.layer == "seccomp"},
    X32: X32,
    I386: I386,
}
"""The system calls that are tried, by the names that a report gives them."""


# -- in a throwaway worker -------------------------------------------------------------------

if sys.platform == "linux":
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.syscall.restype = ctypes.c_long
    _libc.mmap.restype = ctypes.c_void_p
    _libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]

_GETPID_I386 = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20; int 0x80; ret
_GETPID_X32 = 0x40000000 + 39


class Trial:
    """What a throwaway worker does instead of serving.

    Args:
        kind: ``CALLS`` or ``FOREIGN``. What a jail would not let in is brought here, before it.
    """

    def __init__(self, kind: bytes) -> None:
        self._is_foreign = kind == FOREIGN
        self._i386 = _machine_code(_GETPID_I386) if self._is_foreign else None

    def run(self, sock: socket.socket) -> None:
        """Try, in the jail, and report. The last attempt has to be the end of the process."""
        found = [] if self._is_foreign else [one.name for one in ATTEMPTS if not _is_refused(one)]
        sock.sendall(frame(Op.VALUE, dumps(found)))
        if self._is_foreign:
            if self._i386 is None:
                return  # where no process gets to run such code, none gets to make the call
            self._i386()
        else:
            _libc.syscall(_GETPID_X32)
        sock.sendall(frame(Op.VALUE, dumps([I386 if self._is_foreign else X32])))


def _machine_code(code: bytes) -> Callable[[], int] | None:
    """A function of machine code, or None where the system allows none that is not of a file."""
    at = _libc.mmap(None, len(code), _EXECUTABLE, _PRIVATE, -1, 0)
    if at == ctypes.c_void_p(-1).value:
        return None
    ctypes.memmove(at, code, len(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)


def _is_refused(attempt: Attempt) -> bool:
    result = _libc.syscall(attempt.number, *attempt.arguments)
    if result == 0 and attempt.name in ("fork", "vfork"):
        os._exit(0)  # this is the child that there should not be
    return result < 0 and ctypes.get_errno() == attempt.error


# -- in the host -----------------------------------------------------------------------------


def holes(socks: Iterable[socket.socket], layers_off: Collection[str] = ()) -> list[str]:
    """What got through in throwaway workers that have greeted, each with the layer's name.

    Args:
        socks: The workers' sockets.
        layers_off: Layers that were left off: nothing is expected of them.
    """
    found: list[str] = []
    for sock in socks:
        inbox, is_over = Inbox(), False
        try:
            while True:
                found += loads(receive(sock, inbox, _SECONDS)[1])
                is_over = True
        except TimeoutError:
            is_over = False
        except ConnectionError:  # its end, as it should be
            pass
        if not is_over:
            found.append(_BROKEN_OFF)
    layers = {name: _LAYERS.get(name, "seccomp") for name in found}
    if "no_capabilities" in layers_off:
        layers_off = {*layers_off, "rlimits"}  # which who has power raises
    return [f"{name} ({layer})" for name, layer in layers.items() if layer not in layers_off]
