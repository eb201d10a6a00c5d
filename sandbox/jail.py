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
from collections.abc import Callable, Collection, Iterable, Iterator

from .errors import BackendUnavailable
from .syscalls import ALLOWED, COPY, PR_SET_PDEATHSIG, SIGKILL, UNKNOWN, Argument, Call

REQUIRED = ("no_new_privs", "rlimits", "closed_fds", "seccomp")
"""Layers without which there is no ``kernel`` back end."""
EXTRAS = (
    *("namespaces", "landlock", "no_capabilities", "not_dumpable"),
    *("oom_first", "cgroup", "checkpoints"),
)
"""Layers that are had where the machine gives them."""

if sys.platform == "linux":  # elsewhere ``why_unsupported`` keeps everybody away
    import fcntl

    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.syscall.restype = ctypes.c_long
    _holding_gil = ctypes.PyDLL(None, use_errno=True)
    _holding_gil.syscall.restype = ctypes.c_long

_CLONE, _CAPSET, _SECCOMP, _CLOSE_RANGE = 56, 126, 317, 436
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446

# -- a filter in classic BPF -----------------------------------------------------------------

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL, _ASK = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X86_64, _X32_BIT = 0xC000003E, 0x40000000
I386, X32 = "i386", "x32"
"""The machine's two other sets of system calls; to make one of those is the end of a worker."""


def _instruction(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, k)


def build_filter(holes: Collection[int | str] = ()) -> bytes:
    """The worker's system call filter, as BPF instructions of eight bytes each.

    Args:
        holes: Numbers of calls that it is to let through all the same, or ``I386`` or ``X32``;
            for tests of what notices such a hole.
    """
    kill = _instruction(_RETURN, _KILL)
    program = []
    if I386 not in holes:
        program += [_instruction(_LOAD, _ARCHITECTURE), _instruction(_EQUAL, _X86_64, 1), kill]
    program.append(_instruction(_LOAD, _NUMBER))
    if X32 not in holes:
        program += [_instruction(_AT_LEAST, _X32_BIT, if_false=1), kill]
    for number in holes:
        if isinstance(number, int):
            program += _rule(Call(number, "a hole"))
    for call in ALLOWED.values():
        program += _rule(call)
    for call in UNKNOWN.values():
        program += [_instruction(_EQUAL, call.number, if_false=1), _refuse(call.otherwise)]
    return b"".join([*program, _refuse(errno.EPERM)])


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | error)


def _rule(call: Call) -> list[bytes]:
    """What decides about one call; any other is left to what follows."""
    words = [word for argument in call.where for word in _words(argument)]
    body: list[bytes] = []
    for place, (offset, bits, value) in enumerate(words):
        to_refusal = 3 * (len(words) - 1 - place) + 1  # past the words left, and the answer
        body += [
            _instruction(_LOAD, offset),
            _instruction(_AND, bits),
            _instruction(_EQUAL, value, if_false=to_refusal),
        ]
    body.append(_instruction(_RETURN, _ASK if call.asks_host else _ALLOW))
    if words:
        body.append(_refuse(call.otherwise))
    return [_instruction(_EQUAL, call.number, if_false=len(body)), *body]


def _words(argument: Argument) -> Iterator[tuple[int, int, int]]:
    """What to compare of an argument: words of 32 bits by offset, bits and value."""
    for offset, shift in ((0, 0), (4, 32)):  # the lower half stands first
        bits, value = (part >> shift & 0xFFFF_FFFF for part in (argument.bits, argument.value))
        if bits:
            yield _ARGUMENTS + 8 * argument.place + offset, bits, value


_NEW_LISTENER = 8


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install_seccomp(program: bytes, listen: bool = False) -> int:
    """Put a filter on this process, for good.

    Args:
        program: From ``build_filter``.
        listen: Whether copies can be agreed to; else the attempt fails.

    Returns:
        With ``listen``, a descriptor by which whoever holds it is asked and agrees: not for
        this process to keep. Else 0.

    Raises:
        OSError: The kernel refused.
    """
    argument = _Program(len(program) // 8, program)
    flags = _NEW_LISTENER if listen else 0
    return _check(_libc.syscall(_SECCOMP, 1, flags, ctypes.byref(argument)), "seccomp")


# -- copies of a worker ----------------------------------------------------------------------


def copy_process() -> int:
    """Make a copy of this process as its sibling; 0 in the copy, the copy's id here.

    Not ``os.fork``, whose handlers would give the copy other random numbers, and whose system
    call stays refused, so that no library forks a worker. The process has one thread, and no
    lock is held at this moment that the copy would wait for.

    Raises:
        OSError: The host does not agree, or there is no room.
    """
    return _check(_holding_gil.syscall(_CLONE, COPY, 0, 0, 0, 0), "clone")


# Laid out as the kernel has them: struct seccomp_notif and struct seccomp_notif_resp.
_ASKED, _ANSWER = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI")
_RECEIVE, _SEND, _GO_ON = 0xC0502100, 0xC0182101, 1


def asked_for_copy(listener: int) -> tuple[int, int]:
    """Who wants to be copied, of those under a filter: the question's id, and the process's.

    Waits until somebody does. The process id is the kernel's word, as the caller counts.

    Raises:
        OSError: Nobody is left who could.
    """
    question = bytearray(_ASKED.size)
    fcntl.ioctl(listener, _RECEIVE, question)
    asked, pid, *_ = _ASKED.unpack(question)
    return asked, pid


def answer_copy(listener: int, asked: int, agree: bool) -> None:
    """Answer a question: the copy is made, or the attempt fails with ``EPERM``.

    Raises:
        OSError: Who has asked is gone.
    """
    error, flags = (0, _GO_ON) if agree else (-errno.EPERM, 0)
    fcntl.ioctl(listener, _SEND, bytearray(_ANSWER.pack(asked, 0, error, flags)))


# -- the other measures ----------------------------------------------------------------------

_NEWNS, _NEWUTS, _NEWIPC = 0x00020000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_DUMPABLE, _PR_SET_NAME, _PR_SET_NO_NEW_PRIVS = 4, 15, 38


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


def die_with_parent(parent: int | None = None) -> None:
    """Be killed when the parent process ends, for which a worker's copies count the zygote.

    Args:
        parent: Its process id, where it could have ended by now: then end here.
    """
    _prctl(PR_SET_PDEATHSIG, SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def set_name(name: bytes) -> None:
    """Have this process called so, in 15 bytes at most; once jailed, it keeps its name."""
    _check(_libc.prctl(_PR_SET_NAME, name, 0, 0, 0), "prctl")


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
