"""Hosts of their own for tests: a script in a fresh process, on a machine that lacks something."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence

NOBODY = 65534
CAPSET, CLOSE_RANGE, LANDLOCK, PRCTL, PRLIMIT64 = 126, 436, 444, 157, 302
SECCOMP, SOCKETPAIR, UNSHARE = 317, 53, 272
_AS_NOBODY = (
    *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    # Only so that it finds this Python where root's home is closed to others.
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
    "--bounding-set=-all,+dac_read_search",
)
_REFUSING = """
import os, sys
sys.path.insert(0, {folder!r})
from hosts import refuse
refuse({numbers!r})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def host(
    script: str,
    *arguments: str,
    refused: Mapping[int, int] | None = None,
    as_nobody: bool = False,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end.

    Args:
        script: Its source.
        arguments: Its ``sys.argv[1:]``.
        refused: System calls that the machine does not have, with the error that they give.
        as_nobody: Whether it runs as another user than root.
        environment: Variables on top of this process's.
    """
    return subprocess.run(
        command(script, *arguments, refused=refused, as_nobody=as_nobody),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
    )


def command(
    script: str,
    *arguments: str,
    refused: Mapping[int, int] | None = None,
    as_nobody: bool = False,
) -> Sequence[str]:
    """The command line of ``host``."""
    line = ["-c", script, *arguments]
    if refused:
        folder = os.path.dirname(__file__)
        line = ["-c", _REFUSING.format(folder=folder, numbers=dict(refused)), *line]
    if as_nobody:
        program = shutil.which("setpriv")
        assert program is not None
        return [program, *_AS_NOBODY, sys.executable, *line]
    return [sys.executable, *line]


def refuse(numbers: Mapping[int, int]) -> None:
    """Have system calls fail with an error each, in this process and in all that it starts."""

    def instruction(code: int, k: int, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", code, 0, if_false, k)

    allow = instruction(0x06, 0x7FFF0000)
    program = instruction(0x20, 0)  # the number
    for number, error in numbers.items():
        fail = instruction(0x06, 0x00050000 | error)
        if number == PRLIMIT64:  # where it sets a limit, for everybody looks at theirs
            program += instruction(0x15, number, 4) + instruction(0x20, 32)
            program += instruction(0x15, 0, 1) + allow + fail
        else:
            program += instruction(0x15, number, 1) + fail
    program += allow

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    if libc.prctl(22, 2, ctypes.byref(Program(len(program) // 8, program)), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), errno.errorcode[ctypes.get_errno()])
