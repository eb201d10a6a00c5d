"""Escape probes against each wall alone and both; and that what gets out would be seen."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from circlet.sandbox import Limits
from circlet.sandbox.testing import KERNEL_LAYERS

ROOT = Path(__file__).parents[2]
LIMITS = Limits(eval_ms=300, memory_mb=128)
NOBODY = 65534


def _load(path):
    """A script as a module, found as it is when it runs."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location(f"script_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return module


containment = _load(ROOT / "benchmarks" / "containment.py")
page = _load(ROOT / "docs" / "containment.py")
judging, ways = sys.modules["suites.judging"], sys.modules["suites.ways"]
Probe = sys.modules["suites.probes"].Probe
PROBES = containment.probes()
LISTED = containment.features.by_probe()


@functools.cache
def outcome(way):
    """All probes, one way; on the portable back end those that leave its dear workers whole."""
    tried = [each for each in PROBES if way != "portable" or each.kind != "dos"]
    return judging.run(tried, way, LIMITS)


@functools.cache
def verdicts(way):
    return {verdict.probe.name: verdict for verdict in outcome(way).verdicts}


def of(way):
    marks = () if way == "portable" else pytest.mark.kernel
    return pytest.param(way, marks=marks)


# -- the probes --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [probe.name for probe in PROBES])
@pytest.mark.parametrize("way", [of("both"), of("language"), of("kernel")])
def test_no_probe_gets_out(way, name):
    """No probe gets past a wall that stands, whether or not the other one stands too."""
    verdict = verdicts(way)[name]
    assert verdict.found == ()
    assert not verdict.failed(LISTED), "it reached what is no listed feature"


@pytest.mark.parametrize("name", [probe.name for probe in PROBES if probe.kind != "dos"])
def test_no_probe_gets_out_of_the_portable_back_end(name):
    """The language's wall holds on any platform."""
    verdict = verdicts("portable")[name]
    assert verdict.found == ()
    assert not verdict.failed(LISTED), "it reached what is no listed feature"


@pytest.mark.parametrize("way", [of("both"), of("language"), of("kernel"), of("portable")])
def test_nothing_is_left_of_them(way):
    """No process outlives its session, and no descriptor stays with the host."""
    assert outcome(way).left == ()


@pytest.mark.kernel
@pytest.mark.root
def test_no_probe_gets_out_as_nobody_without_namespaces():
    """Neither root nor user namespaces are needed: the walls hold without either.

    The host keeps the right to read files, for its Python may stand where nobody looks; its
    workers give it up.
    """
    read = "+dac_read_search"
    become = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --inh-caps {read}"
    command = [*become.split(), "--ambient-caps", read, sys.executable]
    script = [str(ROOT / "benchmarks" / "containment.py"), "--json", "--without", "namespaces"]
    kinds = [word for kind in ("cap", "leak", "int", "sys") for word in ("--kind", kind)]
    walls = ["--only", "kernel", "--only", "both"]
    ran = subprocess.run(
        [*command, *script, *walls, *kinds], capture_output=True, text=True, check=False, cwd="/"
    )
    assert ran.stdout, ran.stderr
    report = json.loads(ran.stdout)
    assert (report["uid"], report["failures"]) == (NOBODY, [])
    assert ran.returncode == 0


# -- the list of features ----------------------------------------------------------------------


@pytest.mark.kernel
def test_listed_features_are_reached():
    """The list of what probes reach by design holds nothing that they don't."""
    hits = {name for name, verdict in verdicts("both").items() if verdict.hit}
    assert hits == set(LISTED)


def test_the_page_is_current():
    """The page is written from the list; else run ``python docs/containment.py``."""
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_probes_are_many():
    """There are the 160 probes of known techniques, and over 60 of our own."""
    own = [probe for probe in PROBES if probe.name.startswith("own_")]
    assert len(PROBES) - len(own) == 160
    assert len(own) > 60


# -- what is judged ----------------------------------------------------------------------------

CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
"""
READ_MEMORY = f"""{CALL}
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
at, size = target["memory"]
buffer = ctypes.create_string_buffer(size)
ours, theirs = Vector(ctypes.addressof(buffer), size), Vector(at, size)
one, none = ctypes.c_long(1), ctypes.c_long(0)
libc.syscall(310, target["host"], ctypes.byref(ours), one, ctypes.byref(theirs), one, none)
buffer.raw
"""
LIMIT_OTHERS = """
import resource
resource.prlimit(target["bystander"], resource.RLIMIT_CORE, (0, 0))
resource.prlimit(target["bystander"], resource.RLIMIT_NOFILE, (64, 64))
"""
KILL_NEIGHBOUR = """
import os, signal
for pid in filter(str.isdigit, os.listdir("/proc")):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    if int(fields[1]) == os.getppid() and int(pid) != os.getpid():
        os.kill(int(pid), signal.SIGKILL)
"""
UNIX = 'import socket\nsocket.socket(socket.AF_UNIX).connect("\\0" + target["unix"])'
UDP = (
    "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    '.sendto(b"x", ("127.0.0.1", target["udp"]))'
)
OUT = {
    "file": ("print(open(target['file']).read())", "it learned the secret: file"),
    "error": ("raise ValueError(open(target['file']).read())", "it learned the secret: file"),
    "variable": ("breached = open(target['file']).read()", "it learned the secret: file"),
    "passwd": ("open('/etc/passwd').read()", "it learned the secret: /etc/passwd"),
    "memory": (READ_MEMORY, "it learned the secret: memory"),
    "arguments": (
        "print(open(f'/proc/{target[\"bystander\"]}/cmdline').read())",
        "it learned the secret: arguments",
    ),
    "write": ("open(target['folder'] + '/x', 'w')", "it changed the host's folder"),
    "change": ("open(target['file'], 'w').write('x')", "it changed the host's file"),
    "remove": ("import os\nos.unlink(target['file'])", "it changed the host's file"),
    "tcp": (
        "import socket\nsocket.create_connection(('127.0.0.1', target['tcp']))",
        "it reached a TCP socket",
    ),
    "unix": (UNIX, "it reached a Unix socket"),
    "udp": (UDP, "it reached a UDP socket"),
    "signal": ("import os\nos.kill(target['bystander'], 10)", "it sent another process SIGUSR1"),
    "stop": ("import os\nos.kill(target['bystander'], 19)", "it changed the host's other process"),
    # It may be on its way out still: then it has changed, and has not ended yet.
    "kill": ("import os\nos.kill(target['bystander'], 9)", "other process"),
    "host": ("import os\nos.kill(target['host'], 10)", "it sent the host SIGUSR1"),
    "limits": (LIMIT_OTHERS, "it changed the host's other process"),
    "thread": (
        "import _thread, time\n_thread.start_new_thread(time.sleep, (9,))",
        "it started a thread",
    ),
    "descriptor": ("import os\nos.dup(3)", "it opened a descriptor"),
    "neighbour": (KILL_NEIGHBOUR, "another session's process was ended"),
    "claim": ("breached = 'kernel'", "it says that the kernel let it"),
}
"""Programs that do something outside, where nothing holds them, and what is to be said of each."""


def judged(probes, way="kernel", without=KERNEL_LAYERS, limits=LIMITS):
    return judging.run(probes, way, limits, without).verdicts


@functools.cache
def unheld():
    """Those programs in a worker without any wall; what disturbs the neighbour comes last."""
    names = sorted(OUT, key="neighbour".__eq__)
    found = judged([Probe(name, "cap", "", OUT[name][0]) for name in names])
    return {verdict.probe.name: verdict for verdict in found}


@pytest.mark.kernel
@pytest.mark.parametrize("name", OUT)
def test_what_gets_out_is_seen(name):
    """Whatever is read, learned, written, started, signalled or reached outside is found."""
    verdict = unheld()[name]
    assert any(OUT[name][1] in sentence for sentence in verdict.found), verdict
    assert verdict.failed(())


@pytest.mark.kernel
def test_a_process_that_is_left_is_seen(monkeypatch):
    """A process that outlives its session is found."""
    monkeypatch.setattr(ways, "ENDING_SECONDS", 0)
    left = "import os, time\nif os.fork() == 0:\n    time.sleep(5)\n    os._exit(0)"
    ran = judging.run([Probe("left", "cap", "", left)], "kernel", LIMITS, KERNEL_LAYERS)
    assert "outlives its session" in ran.left[0]
    assert containment.failures([ran], ())


@pytest.mark.kernel
def test_a_turn_that_goes_wrong_is_seen():
    """A runner whose next turn finds something else than before is found."""
    changed = Probe("changed", "sys", "", "before_the_probe = None")
    (verdict,) = judged([changed], "both", ())
    assert "the turn after it went wrong" in verdict.found[0]


@pytest.mark.kernel
def test_a_host_that_is_starved_is_seen(monkeypatch):
    """A probe that keeps another session from its turns is found, and so is one without end."""
    loop = Probe("loop", "dos", "", "while True: pass")
    with monkeypatch.context() as patch:
        patch.setattr(judging._Neighbour, "_go_on", lambda self: None)
        (verdict,) = judged([loop], "both", ())
    assert verdict.found == ("its host answered nobody else meanwhile",)
    monkeypatch.setattr(judging, "PROMISED_SECONDS", -LIMITS.eval_ms / 1000)
    (verdict,) = judged([loop], "both", ())
    assert "it did not end" in verdict.found


@pytest.mark.parametrize(
    ("kind", "way", "failed"),
    [
        ("cap", "both", True),
        ("cap", "kernel", False),
        ("leak", "language", True),
        ("int", "portable", True),
        ("sys", "both", False),
        ("dos", "both", False),
    ],
)
def test_what_a_hit_means(kind, way, failed):
    """``escaped`` counts against a language's wall that stands; some kinds set it anyway."""
    verdict = judging.Verdict(Probe("p", kind, "", ""), way, "ok", True, ())
    assert verdict.failed(()) is failed
    assert verdict.failed({"p"}) is (failed and kind == "cap")


# -- reports -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Two probes: one that stays inside, one that says that it doesn't."""
    (tmp_path / "inside.py").write_text("# kind=cap; source: none\nescaped = 0\n")
    (tmp_path / "out.py").write_text("# kind=leak; source: none\nescaped = 1\n")
    return tmp_path


@pytest.mark.kernel
def test_report_and_exit_code(folder, capsys):
    """The report counts by kind and way, names what got out, and the exit code says so."""
    assert containment.main([str(folder), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert list(report["ways"]) == ["language", "kernel", "both"]
    assert report["ways"]["both"]["leak"] == {"probes": 1, "features": 0, "out": 1}
    assert report["ways"]["kernel"]["leak"]["out"] == 0
    assert len(report["failures"]) == 2
    assert containment.main([str(folder), "--only", "both", "--kind", "cap"]) == 0
    assert containment.main([str(folder), "--only", "both"]) == 1
    assert "both: out (leak): it reached what is no listed feature" in capsys.readouterr().out


def test_portable_by_itself(folder, capsys):
    """A machine without the kernel back end can try the language's wall."""
    assert containment.main([str(folder), "--only", "portable", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ways"]["portable"]["leak"]["out"] == 1
    assert report["uid"] == os.getuid()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("probe.py", "escaped = 1\n", "should read '# kind=...; source: ...'"),
        ("probe.py", "# kind=odd; source: none\n", "cap, leak, int, sys, dos"),
        ("probe.txt", "", "there are no probes in"),
    ],
)
def test_malformed_probes(tmp_path, capsys, name, text, said):
    """A folder without probes, or a first line that says something else, is an error by name."""
    (tmp_path / name).write_text(text)
    assert containment.main([str(tmp_path), "--only", "portable"]) == 2
    assert said in capsys.readouterr().err
