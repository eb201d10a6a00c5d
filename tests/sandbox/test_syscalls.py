"""The list of system calls that a worker may make: each entry's need, and the filter made of it."""

from __future__ import annotations

import errno
import json
import struct
from typing import Any

import pytest
from circlet.sandbox import jail, syscalls
from circlet.sandbox.syscalls import ALLOWED, COPY, HARMLESS, NEEDED, PR_SET_PDEATHSIG, UNKNOWN

ALLOW, ASK, KILL, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
X86_64, I386, X32 = 0xC000003E, 0x40000003, 0x40000000
EPERM, EACCES, ENOSYS = (ERRNO | code for code in (errno.EPERM, errno.EACCES, errno.ENOSYS))
HIGH = 1 << 32
CONDITIONAL = {ALLOWED[name].number for name in ("mmap", "mprotect", "prctl", "prlimit64", "clone")}


def answer(
    number: int, *arguments: int, architecture: int = X86_64, program: bytes | None = None
) -> int:
    """What the filter answers, by the rules of the kernel's own interpreter."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *[*arguments, *[0] * 6][:6])
    code = list(struct.iter_unpack("HBBI", program or jail.build_filter()))
    place = accumulator = 0
    while True:
        operation, if_true, if_false, k = code[place]
        place += 1
        match operation:
            case 0x20:
                accumulator = int(struct.unpack_from("<I", data, k)[0])
            case 0x54:
                accumulator &= k
            case 0x15:
                place += if_true if accumulator == k else if_false
            case 0x35:
                place += if_true if accumulator >= k else if_false
            case 0x06:
                return int(k)
            case _:
                raise AssertionError(f"an instruction that nobody has written: {operation:#x}")


def test_the_filter_lets_through_what_the_list_names_and_nothing_else() -> None:
    """For each number of a call, without arguments: allowed where it is listed, else EPERM."""
    named = {call.number for call in ALLOWED.values()} - CONDITIONAL
    unknown = {call.number for call in UNKNOWN.values()}
    for number in set(range(600)) - CONDITIONAL:
        expected = ALLOW if number in named else ENOSYS if number in unknown else EPERM
        assert answer(number) == expected, number
    assert answer(-1) == KILL  # as a number without sign it is one of x32


def test_the_other_sets_of_system_calls_are_the_end() -> None:
    """The i386 and x32 calls of every number kill, those of listed numbers too."""
    for number in range(600):
        assert answer(number, architecture=I386) == KILL, number
        assert answer(X32 | number) == KILL, number


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mmap", (0, 8192, 3), ALLOW),
        ("mmap", (0, 8192, 7), EACCES),
        ("mmap", (0, 8192, 4), EACCES),
        ("mprotect", (0, 8192, 1), ALLOW),
        ("mprotect", (0, 8192, 5), EACCES),
        ("prlimit64", (0, 9), ALLOW),
        ("prlimit64", (1, 9), EPERM),
        ("prlimit64", (HIGH, 9), EPERM),
        ("prctl", (PR_SET_PDEATHSIG, 9), ALLOW),
        ("prctl", (PR_SET_PDEATHSIG, 0), EPERM),
        ("prctl", (4, 9), EPERM),
        ("clone", (COPY,), ASK),
        ("clone", (COPY | HIGH,), EPERM),
        ("clone", (COPY | 0x100,), EPERM),
        ("clone", (17,), EPERM),
        ("clone", (0,), EPERM),
    ],
)
def test_arguments_decide_as_listed(name: str, arguments: tuple[int, ...], expected: int) -> None:
    """All bits of an argument that count are compared, the upper half too."""
    assert answer(ALLOWED[name].number, *arguments) == expected


def test_a_hole_is_one_call_and_no_more() -> None:
    """A filter with a hole differs from the real one in that call alone."""
    holed = jail.build_filter([257])
    assert answer(257, program=holed) == ALLOW
    assert all(
        answer(number, program=holed) == answer(number) for number in range(600) if number != 257
    )


def test_every_entry_has_a_reason_of_its_own_number() -> None:
    """No two entries are of one call, and each says what for."""
    calls = [*ALLOWED.values(), *UNKNOWN.values()]
    assert len({call.number for call in calls}) == len(calls) == len(ALLOWED) + len(UNKNOWN)
    assert all(len(call.why) > 5 for call in calls)
    assert not set(NEEDED) & set(HARMLESS)


RECORD = '''
"""Runs a worker as a zygote does, with a filter that asks this process about each call."""
import fcntl, json, os, signal, struct, threading
from circlet.sandbox import Limits, Sandbox, capacity, jail, kernel, zygote
from circlet.sandbox.syscalls import ALLOWED, NEEDED
from circlet.sandbox.worker import Worker

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell's is ignored
program, number = b"", 0
for at in range(0, len(jail.build_filter()), 8):
    instruction = jail.build_filter()[at : at + 8]
    code, _, _, k = struct.unpack("HBBI", instruction)
    if code == 0x15:
        number = k
    if (code, k) == (0x06, 0x7FFF0000) and number != NEEDED["sendmsg"].number:
        instruction = struct.pack("HBBI", code, 0, 0, 0x7FC00000)
    program += instruction
ours, theirs = capacity.socket_pair()
if os.fork() == 0:
    ours.close()
    worker = Worker()
    worker.make_ready()
    zygote._become(kernel.SERVE, theirs.fileno(), worker, program, frozenset())
theirs.close()
recorded = kernel.KernelWorker(ours, b"circlet-recorded")
recorded.greet()
listener, seen = recorded._listener.fd, {NEEDED["sendmsg"].number}

def answer():
    while True:
        question = bytearray(80)
        try:
            fcntl.ioctl(listener, 0xC0502100, question)
            asked, _, _, number = struct.unpack_from("<QIIi", question)
            seen.add(number)
            jail.answer_copy(listener, asked, agree=True)
        except FileNotFoundError:  # its process is gone
            pass

threading.Thread(target=answer, daemon=True).start()
kernel.KernelWorker._agree = lambda *_: False  # that thread does

class Recorded(Sandbox):
    def _pick_worker(self):
        return recorded

box = Recorded(gates={"echo": lambda value: value}, limits=Limits(eval_ms=3_000, memory_mb=200),
               checkpoints=0)
for source in [
    "print('printed')", "while True: pass", "grown = 'a' * 50_000_000", "del grown",
    "'a' * 10 ** 11", "[str(i) for i in range(100_000)]", "echo(3)", "1 / 0",
    "import time; time.sleep(0.01); time.process_time()", "import uuid; uuid.uuid4()",
    "import asyncio; asyncio.run(asyncio.sleep(0))",
    "text = bytearray()\\nfor _ in range(100): text += b'x' * 100_000",
]:
    run = box.run(source)
    assert run.state == "kept", (source, str(run))
recorded.copy().end()
recorded.sock.close()  # which ends it
recorded.has_ended(30)
names = {call.number: name for name, call in ALLOWED.items()}
print(json.dumps(sorted(names[number] for number in seen)))
os._exit(0)
'''


@pytest.mark.kernel
def test_every_entry_is_needed_or_harmless(hosts: Any) -> None:
    """A worker that does what workers do makes each call that is listed as needed.

    What it does not make is listed as harmless, and of those none is in the way of the jail.
    """
    done = hosts.host(RECORD)
    assert done.returncode == 0, done.stderr
    seen = set(json.loads(done.stdout))
    assert set(NEEDED) <= seen, set(NEEDED) - seen
    reaching = {  # calls that take a descriptor, a path, or another process
        *("read", "write", "open", "openat", "ioctl", "socket", "kill", "tgkill", "pidfd_open"),
        *("fcntl", "dup", "dup2", "dup3", "pipe", "pipe2", "stat", "execve", "ptrace"),
    }
    assert not reaching & set(ALLOWED)
    assert syscalls.ALLOWED == {**NEEDED, **HARMLESS}
