"""What stands outside of a sandbox while probes run in it: things to reach, each one watched.

Secrets lie where a program that got out would find them: in a file, in the host's environment
and memory, in another process's arguments. There are a folder to write to, ports to connect to,
and a bystander to signal. ``touched`` tells what has happened to any of them.
"""

from __future__ import annotations

import builtins
import copyreg
import decimal
import os
import resource
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

_BYSTANDER = """
import signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    try:
        signal.signal(number, lambda number, frame: print(number, flush=True))
    except OSError:
        pass
print("ready", flush=True)
sys.stdin.read()
"""
_NOTED = ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGALRM", "SIGCONT", "SIGURG", "SIGIO")
_LIMITS = (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_CPU, resource.RLIMIT_DATA)
_PASSWD = Path("/etc/passwd")
_SET_WHILE_STARTING = "PYTHONHASHSEED"
"""What the portable back end sets for a moment when it starts a worker."""
_HEADER = 32
"""A bytes object's data stands so many bytes after its beginning."""


class Outside:
    """The things outside, from entering this to leaving it. Use it in the main thread.

    Attributes:
        secrets: By place: what no value, output or error of a program may hold.
        target: What a program is told of all that.
    """

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        for place in ("environment", "file", "arguments"):
            self.new_secret(place)
        self._memory = self.new_secret("memory").encode()
        if _PASSWD.exists():
            self.secrets["/etc/passwd"] = _PASSWD.read_text().splitlines()[0]
        self.target: dict[str, Any] = {}
        self._stack = ExitStack()
        self._signals: list[int] = []

    def __enter__(self) -> Self:
        with self._stack:  # nothing stays behind of what fails half-way
            self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            self._folder.chmod(0o755)
            self._watched = self._folder / "watched"
            self._file = self._folder / secrets.token_hex(8)
            self._lay_out()
            os.environ["CIRCLET_CANARY"] = self.secrets["environment"]
            self._stack.callback(os.environ.pop, "CIRCLET_CANARY", None)
            self._listen()
            for name in _NOTED:
                number = signal.Signals[name]
                self._stack.callback(signal.signal, number, signal.signal(number, self._note))
            self._start_bystander()
            self._stack.callback(self._end_bystander)
            self.target = self._describe()
            self._before = self._state()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def new_secret(self, place: str) -> str:
        """Make a secret up, and count it among those that nobody may learn."""
        self.secrets[place] = f"canary-{place}-{secrets.token_hex(16)}"
        return self.secrets[place]

    def learned(self, text: str) -> list[str]:
        """Which secrets stand in a text, in sentences."""
        return [f"it learned the secret: {name}" for name, it in self.secrets.items() if it in text]

    def touched(self) -> list[str]:
        """What has happened out here since the last look, in sentences."""
        found = self._connections() + self._signalled()
        now = self._state()
        changed = [name for name in now if now[name] != self._before[name]]
        if changed:
            self._lay_out()
            self._before = self._state()
        return found + [f"it changed the host's {name}" for name in changed]

    def _lay_out(self) -> None:
        """Make the folder and the file anew."""
        shutil.rmtree(self._watched, ignore_errors=True)
        self._watched.mkdir(exist_ok=True)
        self._watched.chmod(0o777)  # open to whatever user a program runs as
        self._file.unlink(missing_ok=True)
        self._file.write_text(self.secrets["file"])
        self._file.chmod(0o644)

    # -- ports -----------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._unix_name = f"circlet-{secrets.token_hex(8)}"
        self._ports = [
            socket.create_server(("127.0.0.1", 0)),
            socket.socket(socket.AF_UNIX),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        ]
        for port in self._ports:
            self._stack.enter_context(port)
            port.setblocking(False)
        _, unix, datagrams = self._ports
        unix.bind(f"\0{self._unix_name}")
        unix.listen()
        datagrams.bind(("127.0.0.1", 0))

    def _connections(self) -> list[str]:
        found = []
        for name, port in zip(("TCP", "Unix", "UDP"), self._ports, strict=True):
            while select.select([port], [], [], 0)[0]:
                found.append(f"it reached a {name} socket")
                port.recvfrom(65_536) if name == "UDP" else port.accept()[0].close()
        return found

    # -- signals ---------------------------------------------------------------------------------

    def _note(self, number: int, _: FrameType | None) -> None:
        self._signals.append(number)

    def _start_bystander(self) -> None:
        self._bystander = subprocess.Popen(
            [sys.executable, "-c", _BYSTANDER, self.secrets["arguments"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._bystander.stdout is not None
        self._bystander.stdout.readline()

    def _end_bystander(self) -> None:
        self._bystander.kill()
        self._bystander.communicate()

    def _signalled(self) -> list[str]:
        found = [f"it sent the host {signal.Signals(number).name}" for number in self._signals]
        self._signals.clear()
        stdout = self._bystander.stdout
        assert stdout is not None
        while select.select([stdout], [], [], 0)[0] and (line := stdout.readline()):
            found.append(f"it sent another process {signal.Signals(int(line)).name}")
        if self._bystander.poll() is not None:
            found.append("it ended another process")
            self._end_bystander()
            self._start_bystander()
            self.target["bystander"] = self._bystander.pid
        return found

    # -- the rest --------------------------------------------------------------------------------

    def _describe(self) -> dict[str, Any]:
        tcp, _, datagrams = self._ports
        return {
            "file": str(self._file),
            "folder": str(self._watched),
            "tcp": tcp.getsockname()[1],
            "udp": datagrams.getsockname()[1],
            "unix": self._unix_name,
            "host": os.getpid(),
            "bystander": self._bystander.pid,
            "memory": (id(self._memory) + _HEADER, len(self._memory)),
        }

    def _state(self) -> dict[str, Any]:
        return {
            "folder": sorted(str(path) for path in self._folder.rglob("*")),
            "file": (self._file.stat().st_mode, self._file.read_text())
            if self._file.exists()
            else "",
            "environment": {k: v for k, v in os.environ.items() if k != _SET_WHILE_STARTING},
            "working directory": os.getcwd(),
            "limits": [resource.getrlimit(each) for each in _LIMITS],
            "other process": self._bystander_state(),
            "builtins": sorted(vars(builtins)),
            "registry of copyreg": len(copyreg.dispatch_table),
            "decimal context": decimal.getcontext().prec,
            "recursion limit": sys.getrecursionlimit(),
            "memory": self._memory.decode(),
        }

    def _bystander_state(self) -> Any:
        with suppress(OSError):  # only Linux tells, and only of one that lives
            status = Path(f"/proc/{self._bystander.pid}/status").read_text()
            stopped = "\nState:\tT" in status or "\nState:\tt" in status
            pid = self._bystander.pid
            return stopped, [resource.prlimit(pid, each) for each in _LIMITS]
        return None
