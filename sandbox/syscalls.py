"""The system calls of Linux on x86-64 that a worker may make, as data: each with what for.

Whatever is not listed fails with ``EPERM``. ``jail.build_filter`` makes the filter from this.
"""

from __future__ import annotations

import errno
from typing import NamedTuple

PROT_EXEC, PR_SET_PDEATHSIG, SIGKILL, _SIGCHLD = 4, 1, 9, 17
COPY = 0x8000 | _SIGCHLD
"""The flags of the one kind of ``clone``: with CLONE_PARENT the copy is the zygote's child, too."""
_WORD = 0xFFFF_FFFF
_ALL = 0xFFFF_FFFF_FFFF_FFFF


class Argument(NamedTuple):
    """What one of a call's arguments has to be: those of its ``bits`` are ``value``."""

    place: int
    value: int
    bits: int = _ALL


class Call(NamedTuple):
    """A system call that a worker may make.

    Attributes:
        number: Its number.
        why: What for.
        where: What its arguments have to be.
        otherwise: The error where they are something else.
        asks_host: Whether the host is asked each time; where nobody listens, it fails.
    """

    number: int
    why: str
    where: tuple[Argument, ...] = ()
    otherwise: int = errno.EPERM
    asks_host: bool = False


NEEDED: dict[str, Call] = {
    # Its one socket, the most frequent first.
    "recvmsg": Call(47, "frames from its host, and the socket of its next copy with one"),
    "sendto": Call(44, "frames to its host"),
    "sendmsg": Call(46, "its greeting, with the handles for its host"),
    "getsockname": Call(51, "Python asks when it wraps the socket of a copy"),
    "close": Call(3, "the handles that its host was given, and what a copy was"),
    # Memory, none of which can be run.
    "mmap": Call(9, "memory", (Argument(2, 0, PROT_EXEC),), errno.EACCES),
    "munmap": Call(11, "memory that is given back"),
    "mremap": Call(25, "memory that grows"),
    "brk": Call(12, "memory that grows"),
    # Time.
    "setitimer": Call(38, "a turn's deadline"),
    "rt_sigaction": Call(13, "asyncio.run looks after Ctrl-C"),
    "rt_sigreturn": Call(15, "a turn's deadline"),
    "clock_gettime": Call(228, "time.process_time"),
    "clock_nanosleep": Call(230, "time.sleep"),
    # Itself.
    "getrandom": Call(318, "random numbers: secrets, uuid4"),
    "getppid": Call(110, "a copy asks whether the zygote still is there"),
    "prctl": Call(
        157,
        "to be killed when the zygote ends",
        (Argument(0, PR_SET_PDEATHSIG, _WORD), Argument(1, SIGKILL, _WORD)),
    ),
    "prlimit64": Call(302, "its own limits, which it can only lower", (Argument(0, 0),)),
    "clone": Call(
        56, "a copy of itself, where its host agrees", (Argument(0, COPY),), asks_host=True
    ),
    "exit_group": Call(231, "its own end"),
}
"""Calls that every worker makes sooner or later."""

HARMLESS: dict[str, Call] = {
    "mprotect": Call(
        10, "memory, as some allocators have it", (Argument(2, 0, PROT_EXEC),), errno.EACCES
    ),
    "madvise": Call(28, "memory, as some allocators give it back"),
    "futex": Call(202, "locks that are waited for, which one thread alone never does"),
    "sched_yield": Call(24, "the same, in libraries that spin first"),
    "restart_syscall": Call(219, "time.sleep, gone on with after the process was stopped"),
    "clock_getres": Call(229, "time, on machines whose clock can't be read without a call"),
    "gettimeofday": Call(96, "time, on machines whose clock can't be read without a call"),
    "time": Call(201, "time, on machines whose clock can't be read without a call"),
    "getpid": Call(39, "its own number, by which asyncio of CPython 3.11 sees that it was forked"),
    "getcpu": Call(309, "which processor it runs on, as some libraries ask"),
}
"""Calls that some libraries and machines make, and that reach nothing but the process itself."""

ALLOWED = {**NEEDED, **HARMLESS}
"""All that a worker may do."""

UNKNOWN: dict[str, Call] = {
    "clone3": Call(435, "the C library tries clone instead, and gives that up", (), errno.ENOSYS),
}
"""Calls that fail as if the kernel did not know them."""
