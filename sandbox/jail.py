"""What the kernel forbids a worker: Linux on x86-64, by ctypes alone, with no need of root.

Two kinds of measures. What a whole zygote can give up once is given up before it forks:
namespaces, capabilities, the file system (Landlock), privileges to gain, core dumps. What is a
worker's own follows after the fork: its descriptors, its memory, its system calls (seccomp).
seccomp, no_new_privs, rlimits and closed descriptors are required; the rest are extras that
are reported by name.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable

from .errors import BackendUnavailable

REQUIRED = ("no_new_privs", "rlimits", "closed_fds", "seccomp")
"""Layers without which there is no ``kernel`` back end."""
EXTRAS = ("namespaces", "landlock", "no_capabilities", "not_dumpable", "oom_first")
"""Layers that are had where the machine gives them."""

if sys.platform == "linux":  # elsewhere ``why_unsupported`` keeps everybody away
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.syscall.restype = ctypes.c_long

# -- system call numbers, x86-64 -------------------------------------------------------------

_CAPSET, _SECCOMP, _PIDFD_OPEN, _CLOSE_RANGE = 126, 317, 434, 436
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_MMAP, _MPROTECT, _PRLIMIT64, _CLONE3 = 9, 10, 302, 435

ALLOWED: dict[str, tuple[int, str]] = {
    "read": (0, "its one socket"),
    "write": (1, "its one socket"),
    "recvfrom": (45, "its one socket"),
    "sendto": (44, "its one socket"),
    "sendmsg": (46, "its one socket"),
    "getsockname": (51, "Python asks when it wraps the socket"),
    "fstat": (5, "Python asks when it wraps the socket"),
    "lseek": (8, "harmless without files"),
    "close": (3, "its own descriptors"),
    "brk": (12, "memory"),
    "munmap": (11, "memory"),
    "mremap": (25, "memory"),
    "madvise": (28, "memory"),
    "futex": (202, "Python's locks"),
    "set_robust_list": (273, "the C library's locks"),
    "rseq": (334, "the C library"),
    "membarrier": (324, "the C library"),
    "sched_yield": (24, "Python's locks"),
    "clock_gettime": (228, "the time"),
    "clock_getres": (229, "the time"),
    "gettimeofday": (96, "the time"),
    "time": (201, "the time"),
    "times": (100, "the time it has used"),
    "getrusage": (98, "the time it has used"),
    "clock_nanosleep": (230, "sleep"),
    "nanosleep": (35, "sleep"),
    "restart_syscall": (219, "sleep, after a signal"),
    "setitimer": (38, "the turn's deadline"),
    "getitimer": (36, "the turn's deadline"),
    "rt_sigaction": (13, "the turn's deadline"),
    "rt_sigprocmask": (14, "the turn's deadline"),
    "rt_sigreturn": (15, "the turn's deadline"),
    "sigaltstack": (131, "the C library"),
    "getrandom": (318, "random numbers"),
    "getpid": (39, "harmless"),
    "gettid": (186, "harmless"),
    "getppid": (110, "harmless"),
    "getuid": (102, "harmless"),
    "geteuid": (107, "harmless"),
    "getgid": (104, "harmless"),
    "getegid": (108, "harmless"),
    "getcpu": (309, "harmless"),
    "exit": (60, "its own end"),
    "exit_group": (231, "its own end"),
}
"""System calls that a worker may make, with what for. Everything else fails with EPERM."""

# -- a filter in classic BPF -----------------------------------------------------------------

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_X86_64, _X32_BIT, _PROT_EXEC = 0xC000003E, 0x40000000, 4


def _instruction(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, k)


def _argument(index: int, high: bool = False) -> int:
    return 16 + 8 * index + (4 if high else 0)


def build_filter() -> bytes:
    """The worker's system call filter, as BPF instructions of eight bytes each."""
    refuse = _instruction(_RETURN, _ERRNO | errno.EPERM)
    allow = _instruction(_RETURN, _ALLOW)
    kill = _instruction(_RETURN, _KILL)
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_EQUAL, _X86_64, if_true=1),
        kill,
        _instruction(_LOAD, _NUMBER),
        _instruction(_AT_LEAST, _X32_BIT, if_false=1),
        kill,
    ]
    for number, _ in ALLOWED.values():
        program += [_instruction(_EQUAL, number, if_false=1), allow]
    for number in (_MMAP, _MPROTECT):  # memory, but none that can be run
        program += [
            _instruction(_EQUAL, number, if_false=4),
            _instruction(_LOAD, _argument(2)),
            _instruction(_ANY_BIT, _PROT_EXEC, if_false=1),
            _instruction(_RETURN, _ERRNO | errno.EACCES),
            allow,
        ]
    program += [  # its own limits only, which a process without capabilities can only lower
        _instruction(_EQUAL, _PRLIMIT64, if_false=6),
        _instruction(_LOAD, _argument(0)),
        _instruction(_EQUAL, 0, if_false=3),
        _instruction(_LOAD, _argument(0, high=True)),
        _instruction(_EQUAL, 0, if_false=1),
        allow,
        refuse,
        _instruction(_EQUAL, _CLONE3, if_false=1),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),  # the C library then tries clone
        refuse,
    ]
    return b"".join(program)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install_seccomp(program: bytes) -> None:
    """Put a filter on this process, for good.

    Raises:
        OSError: The kernel refused.
    """
    argument = _Program(len(program) // 8, program)
    _check(_libc.syscall(_SECCOMP, 1, 0, ctypes.byref(argument)), "seccomp")


# -- the other measures ----------------------------------------------------------------------

_NEWNS, _NEWUTS, _NEWIPC = 0x00020000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, value, 0, 0, 0), "prctl")


def enter_namespaces() -> None:
    """Leave the machine's users, network, processes, IPC, host name and mounts.

    The next process forked is the first of its process namespace. No user is mapped: to what
    runs in there, everybody is nobody.
    """
    flags = _NEWUSER | _NEWNET | _NEWPID | _NEWIPC | _NEWUTS | _NEWNS
    _check(_libc.unshare(flags), "unshare")


class _Capabilities(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities() -> None:
    """Give up every capability, held or permitted."""
    header = _Capabilities(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.syscall(_CAPSET, ctypes.byref(header), nothing), "capset")


def no_new_privs() -> None:
    """Never gain a privilege by running a program; seccomp asks for it."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def not_dumpable() -> None:
    """No core dump, and no look at this process's memory by another of the same user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Be killed when the process that forked this one ends."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def oom_first() -> None:
    """Be the first to go when the machine runs out of memory."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


_FS_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # by ABI version; 16 from the fifth on


def landlock() -> None:
    """Refuse every path, TCP port, abstract socket and signal to the outside.

    Raises:
        OSError: The kernel has no Landlock, or refused.
    """
    abi = _check(_libc.syscall(_LANDLOCK_CREATE, None, 0, 1), "landlock")
    rules = _Ruleset((1 << _FS_RIGHTS.get(abi, 16)) - 1, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = _check(_libc.syscall(_LANDLOCK_CREATE, ctypes.byref(rules), size, 0), "landlock")
    try:
        _check(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


def close_descriptors(first: int, last: int) -> None:
    """Close every descriptor outside the range, which may not begin at 0."""
    for low, high in ((0, first - 1), (last + 1, 0xFFFFFFFF)):
        result = _libc.syscall(_CLOSE_RANGE, ctypes.c_uint(low), ctypes.c_uint(high), 0)
        _check(result, "close_range")


def take(steps: Iterable[tuple[str, Callable[[], None]]]) -> dict[str, str]:
    """Take measures in order; an extra that can't be had is reported, not fatal.

    Returns:
        Each layer's name with the empty string, or why it can't be had.

    Raises:
        BackendUnavailable: A required layer can't be had.
    """
    layers: dict[str, str] = {}
    for name, step in steps:
        try:
            step()
            layers[name] = ""
        except (OSError, ValueError) as error:
            if name in REQUIRED:
                raise BackendUnavailable(f"the layer {name} can't be had: {error}") from None
            layers[name] = getattr(error, "strerror", None) or str(error)
    return layers


def why_unsupported() -> str | None:
    """Why this machine can't jail a worker at all, or None where it may."""
    if sys.platform != "linux":
        return f"the kernel back end needs Linux, and this is {sys.platform}"
    if platform.machine() != "x86_64":
        return f"the kernel back end is tested on x86-64 only, and this is {platform.machine()}"
    if not hasattr(os, "pidfd_open"):
        return "this Python was built without pidfd_open"
    return None
