"""What the kernel forbids a worker, tried from inside one with the language wall taken away."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox, jail, pool
from circlet.sandbox.errors import BackendUnavailable, SandboxClosed
from circlet.sandbox.testing import KERNEL_LAYERS, SandboxOf, zygote_without

pytestmark = pytest.mark.kernel

CALL = """
import ctypes, errno
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
def call(*arguments):
    if _libc.syscall(*arguments) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return 'done'
"""


def layered(*off: str) -> Any:
    limits = Limits(memory_mb=256)
    with zygote_without("language", *off) as zygote, SandboxOf(zygote, limits=limits) as session:
        session.run(CALL)
        yield session


@pytest.fixture(scope="module")
def raw() -> Iterator[Sandbox]:
    """A fully jailed worker whose language wall is off."""
    yield from layered()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((), id="all layers"),
        pytest.param(("seccomp",), id="without seccomp"),
        pytest.param(("landlock", "namespaces"), id="seccomp alone"),
    ],
)
def each(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The same, with some of the kernel's layers off as well."""
    yield from layered(*request.param)


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd').read()",
        "open('/tmp/circlet-jail', 'w')",
        "open('/proc/self/mem', 'rb')",
        "open('/proc/self/environ', 'rb')",
        "import os\nos.listdir('/')",
        "import os\nos.mkdir('/tmp/circlet-jail')",
        "import os\nos.open('.', os.O_RDONLY | os.O_DIRECTORY)",
        "import os\nos.chroot('/')",
        "import socket\nsocket.create_connection(('127.0.0.1', PORT))",
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0circlet-jail')",
        "import os\nos.kill(HOST, 0)",
        "import os\nos.setuid(0)\nos.listdir('/')",
    ],
)
def test_the_outside_is_out_of_reach_by_more_than_one_layer(each: Sandbox, attempt: str) -> None:
    """Files, network and other processes stay closed when any one layer is taken away."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0circlet-jail")
        unix.listen()
        source = attempt.replace("PORT", str(server.getsockname()[1]))
        run = each.run(source.replace("HOST", str(os.getpid())))
    assert run.status == "error", str(run)
    assert run.error is not None
    assert run.error.type in (
        "PermissionError",
        "ProcessLookupError",
        "OSError",
        "ConnectionRefusedError",
    )
    assert not Path("/tmp/circlet-jail").exists()


@pytest.mark.parametrize(
    "attempt",
    [
        "import os\nos.fork()",
        "import os\nos.execve('/bin/true', ['x'], {})",
        "import os\nos.posix_spawn('/bin/true', ['x'], {})",
        "import _thread\n_thread.start_new_thread(print, ())",
        "import socket\nsocket.socket()",
        "import socket\nsocket.socketpair()",
        "import os\nos.pipe()",
        "import os\nos.dup(3)",
        "import os\nos.memfd_create('x')",
        "import os\nos.kill(os.getpid(), 0)",
        "import os\nos.kill(-1, 0)",
        "import signal\nsignal.pidfd_send_signal(3, 0)",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))",
        "import resource\nresource.prlimit(1, resource.RLIMIT_AS)",
        "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)",
        "import os\nos.sched_setaffinity(0, {0})",
    ],
)
def test_system_calls_that_are_not_listed_fail(raw: Sandbox, attempt: str) -> None:
    """No process, program, thread, socket, signal, executable memory or higher limit."""
    run = raw.run(attempt)
    assert run.status == "error", str(run)
    assert run.error is not None
    assert run.error.type in ("PermissionError", "RuntimeError", "ValueError", "OSError"), str(run)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("openat", "257, -100, b'/etc/passwd', 0"),
        ("ptrace", "101, 16, 1, 0, 0"),
        ("process_vm_readv", "310, 1, 0, 0, 0, 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("io_uring_setup", "425, 8, 0"),
        ("unshare", "272, 0x10000000"),
        ("userfaultfd", "323, 0"),
        ("keyctl", "250, 0, 0, 0, 0, 0"),
        ("personality", "135, 0x0400000"),
        ("seccomp", "317, 0, 0, 0"),
        ("prctl", "157, 4, 1, 0, 0, 0"),
        ("mount", "165, 0, 0, 0, 0, 0"),
        ("vfork", "58"),
        ("memfd_create", "319, b'x', 0"),
        ("perf_event_open", "298, 0, 0, 0, 0, 0"),
        ("pkey_mprotect", "329, 0, 0, 0, 0"),
        ("tgkill", "234, 1, 1, 9"),
        ("ioctl", "16, 3, 0x5412, 0"),
        ("recvmmsg", "299, 3, 0, 0, 0, 0"),
        ("pidfd_getfd", "438, 3, 0, 0"),
    ],
)
def test_system_calls_by_number_fail(raw: Sandbox, name: str, arguments: str) -> None:
    """The filter answers EPERM whatever library makes the call."""
    assert raw.run(f"call({arguments})").value == "EPERM", name


def test_clone3_is_answered_as_unknown(raw: Sandbox) -> None:
    """``clone3`` fails so that the C library falls back to ``clone``, which fails as well."""
    assert raw.run("call(435, 0, 0)").value == "ENOSYS"
    assert raw.run("call(56, 0, 0, 0, 0, 0)").value == "EPERM"


def test_memory_cannot_be_made_executable(raw: Sandbox) -> None:
    """``mmap`` and ``mprotect`` to executable are refused; to anything else they work."""
    run = raw.run("at = _libc.syscall(9, 0, 8192, 3, 0x22, -1, 0)\nat > 0")
    assert run.value is True
    run = raw.run(
        "at = ctypes.c_void_p(at)\n"
        "[call(9, 0, 8192, 7, 0x22, -1, 0), call(10, at, 4096, 7), call(10, at, 4096, 1)]"
    )
    assert run.value == ["EACCES", "EACCES", "done"]


@pytest.mark.parametrize(
    "source", ["call(0x40000000 + 39)", "import os\nos.abort()", "ctypes.string_at(0)"]
)
def test_a_foreign_system_call_or_a_crash_kills_the_worker(source: str) -> None:
    """An x32 call, an abort or a null pointer ends the worker; its host is told."""
    with zygote_without("language") as zygote, SandboxOf(zygote) as session:
        run = session.run(f"{CALL}\nprint('before')\n{source}")
        assert (run.status, run.state, run.stdout) == ("crashed", "rolled_back", "before\n")
        assert session.run("1").value == 1


def test_a_worker_holds_nothing_of_its_hosts(raw: Sandbox) -> None:
    """No environment, no arguments, no path to load from, no descriptor but its socket."""
    source = (
        "import os, sys\nheld = [fd for fd in range(200) if call(51, fd, 0, 0) != 'EBADF']\n"
        "(dict(os.environ), sys.argv, sys.orig_argv, sys.path, sys.meta_path, held)"
    )
    assert raw.run(source).value == ({}, [""], [""], [], [], [3])


def test_the_environment_of_the_process_itself_is_empty_of_secrets() -> None:
    """What the kernel shows of a worker's first environment is the hash seed alone."""
    with Sandbox(backend="kernel") as session:
        assert session.pid is not None
        kept = Path(f"/proc/{session.pid}/environ").read_bytes().split(b"\0")
    names = {entry.partition(b"=")[0] for entry in kept if entry}
    assert names <= {b"PYTHONHASHSEED", b"LD_LIBRARY_PATH"}


def test_nothing_can_be_loaded_from_disk(raw: Sandbox) -> None:
    """A module that was not loaded before the jail can't be loaded in it."""
    run = raw.run("import imaplib")
    assert run.error is not None
    assert run.error.type == "ModuleNotFoundError"


def test_the_zygote_loads_what_workers_need_and_nothing_else(raw: Sandbox) -> None:
    """No library of the host's side is in the zygote: importing circlet stays lazy."""
    loaded = raw.run("import sys\nsorted(sys.modules)").value
    ours = {name.rpartition(".")[2] for name in loaded if name.startswith("circlet.")}
    hosts = {"base", "dialogue", "packages", "pool", "portable", "session", "testing"}
    assert not hosts & ours
    assert {"worker", "zygote", "policy", "facades"} <= ours
    assert not [name for name in loaded if name.startswith(("circlet.runtime", "circlet.gates"))]
    assert not {"preloading", "foreign"} & ours  # for zygotes with packages
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert foreign <= {
        *("circlet", "RestrictedPython", "msgpack", "__main__"),
        *(name for name in foreign if "cython" in name or name.startswith("_sysconfigdata")),
    }
    assert not {"multiprocessing", "ctypes.util", "http.client", "ssl"} & set(loaded)


def test_layers_are_reported_by_name() -> None:
    """Every layer is there with the empty string, or with why it can't be had."""
    layers = pool.shared().layers
    assert set(layers) == set(KERNEL_LAYERS)
    assert all(layers[name] == "" for name in jail.REQUIRED)


def test_a_layer_that_is_left_off_is_not_reported() -> None:
    """What is not there is not claimed."""
    with zygote_without("landlock", "namespaces") as zygote:
        assert "landlock" not in zygote.layers
        assert "namespaces" not in zygote.layers
    with pytest.raises(ValueError, match="no layer 'moat'"), zygote_without("moat"):
        pass


@pytest.mark.parametrize(
    "off", [("namespaces",), ("landlock",), ("namespaces", "landlock", "no_capabilities")]
)
def test_sessions_work_without_the_extras(off: tuple[str, ...]) -> None:
    """On a kernel without user namespaces or Landlock the required layers stand alone."""
    with zygote_without(*off) as zygote, SandboxOf(zygote, limits=Limits(eval_ms=200)) as session:
        assert session.run("x = 1\nx + 1").value == 2
        assert session.run("while True: pass").state == "kept"
        assert session.run("sum(range(10**12))").state == "rolled_back"
        assert session.run("x").value == 1


def gone(pids: list[int], handles: list[int]) -> None:
    """Wait until each process has ended; half a minute is the watchdog's."""
    for pid, handle in zip(pids, handles, strict=True):
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(30_000), f"process {pid} is still there"
        os.close(handle)


@pytest.mark.parametrize("off", [(), ("namespaces",)])
def test_a_zygotes_end_ends_its_workers(off: tuple[str, ...]) -> None:
    """When the zygote is killed, no worker is left; a session then says what happened."""
    with zygote_without(*off) as zygote:
        session = SandboxOf(zygote)
        pids = [session.pid or 0]
        handles = [os.pidfd_open(pid) for pid in pids]
        os.kill(zygote._process.pid, signal.SIGKILL)
        gone(pids, handles)
        with pytest.raises(SandboxClosed, match=r"the zygote is gone|a worker"):
            session.run("1")
        session.close()


def test_a_new_zygote_takes_a_dead_ones_place() -> None:
    """Sessions go on with fresh workers after their zygote has died."""
    with Sandbox(backend="kernel") as session:
        session["given"] = 1
        before = pool.shared()
        os.kill(before._process.pid, signal.SIGKILL)
        before._process.wait(30)
        assert select.select([session._worker._pidfd], [], [], 30)[0]  # its end is the next's
        assert session.run("given").value == 1
        assert pool.shared() is not before


HOST = """
import sys
from circlet.sandbox import Sandbox, pool
session = Sandbox(backend=sys.argv[1])
children = [session.pid]
if sys.argv[1] == "kernel":
    children.append(pool.shared()._process.pid)
print(*children, flush=True)
session.run("print('on')\\n" + sys.argv[2])
"""


@pytest.mark.parametrize("source", ["while True: pass", "sum(range(10**12))"])
def test_no_process_outlives_its_host(source: str) -> None:
    """When the host is killed, zygote and workers end, whatever they do."""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, "kernel", source], stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    pids = [int(word) for word in host.stdout.readline().split()]
    handles = [os.pidfd_open(pid) for pid in pids]
    host.kill()
    host.wait(30)
    host.stdout.close()
    gone(pids, handles)


def test_a_closed_session_leaves_no_process() -> None:
    """``close`` ends the worker at once, also in the middle of a turn."""
    session = Sandbox(backend="kernel")
    assert session.pid is not None
    pids, handles = [session.pid], [os.pidfd_open(session.pid)]
    session.close()
    gone(pids, handles)


def test_a_dropped_session_leaves_no_process_and_no_descriptor() -> None:
    """A session that nobody closed goes with its last reference."""
    session = Sandbox(backend="kernel")
    worker = session._worker
    assert isinstance(worker, pool.KernelWorker)
    pids, handles = [worker.pid], [os.pidfd_open(worker.pid)]
    held = [worker.sock.fileno(), worker._pidfd]
    del session, worker
    gone(pids, handles)
    for descriptor in held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_workers_that_died_while_they_stood_ready_are_passed_over() -> None:
    """A session never gets a worker that has ended before it was taken."""
    with zygote_without() as zygote:
        zygote.refill()
        for worker in zygote._ready:
            worker.greet()
            pid = worker.pid
            os.kill(pid, signal.SIGKILL)
            gone([pid], [os.dup(worker._pidfd)])
        with SandboxOf(zygote) as session:
            assert session.run("1").value == 1


def test_a_machine_that_cannot_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """``kernel`` on another machine is a clear refusal; ``auto`` takes portable and says so."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setattr(pool, "_places", {})
    with pytest.raises(BackendUnavailable, match="x86-64 only, and this is riscv64"):
        Sandbox(backend="kernel")
    with Sandbox() as session:
        assert (session.backend, session.run("1").value) == ("portable", 1)
        assert "riscv64" in session.why_portable


def test_a_finished_turn_is_not_lost_to_a_zygote_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keeping workers ready is for the next sessions: where it fails, this one has its result."""
    with zygote_without() as zygote:
        place = pool._Place(())
        place.zygote = zygote
        monkeypatch.setattr(pool, "_places", {(): place})
        with Sandbox(backend="kernel") as session:
            control, zygote._control = zygote._control, socket.socket()
            zygote._control.close()
            assert session.run("1").value == 1
            zygote._control = control


def test_a_passing_failure_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A zygote that could not be started once is asked for again by the next session."""

    def fail(*_: Any) -> Any:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(pool, "_places", {})
    with monkeypatch.context() as now:
        now.setattr(pool, "_execute", fail)
        with pytest.raises(BackendUnavailable, match="temporarily"):
            Sandbox(backend="kernel")
    with Sandbox(backend="kernel") as session:
        assert session.run("1").value == 1
    pool.shared().close()


def test_many_workers_can_start_at_once() -> None:
    """More sessions than a worker may hold descriptors start side by side."""

    def use(number: int) -> Any:
        with Sandbox(backend="kernel") as session:
            return session.run(f"{number} * 2").value

    with ThreadPoolExecutor(40) as threads:
        assert list(threads.map(use, range(120))) == [2 * number for number in range(120)]


DRIP = """
import signal, sys, time
signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
sockets = sys.modules["socket"]
wire = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM, 0, fileno=3)
wire.sendall((100_000).to_bytes(4, "little") + bytes([17]))
while True:
    wire.sendall(b"x")
    time.sleep(0.05)
"""


def test_a_worker_that_drips_gets_no_time_anew() -> None:
    """A frame has the turn's time as a whole, however slowly its bytes come."""
    runs = []
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, limits=Limits(eval_ms=200)) as session,
    ):
        turn = threading.Thread(target=lambda: runs.append(session.run(DRIP)), daemon=True)
        turn.start()
        turn.join(20)
        assert [(run.status, run.state) for run in runs] == [("timeout", "rolled_back")]
