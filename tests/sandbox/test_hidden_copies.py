"""A worker that has been taken over may make the copy that it is asked for, and hide it."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from pathlib import Path

import pytest
from circlet.sandbox import Limits, kernel
from circlet.sandbox.errors import CheckpointUnavailable, SandboxError
from circlet.sandbox.testing import SandboxOf, zygote_without

pytestmark = pytest.mark.kernel

HIDE = """
import sys, time
jail = sys.modules["circlet.sandbox.jail"]
copying = sys.modules["circlet.sandbox.copying"]
copy_process = jail.copy_process
def hide():
    if copy_process() == 0:
        while True:
            time.sleep(3600)
    {lie}
jail.copy_process = hide
"""
EARLY = """
import sys, time
jail = sys.modules["circlet.sandbox.jail"]
wire = sys.modules["circlet.sandbox.wire"]
copy_process = jail.copy_process
def hide():
    import gc, socket
    handed = [one for one in gc.get_objects() if type(one) is socket.socket][-1]
    handed.sendall(wire.frame(wire.Op.COPIED, wire.NO_ROOM))
    try:
        if copy_process() == 0:
            while True:
                time.sleep(3600)
    except OSError:
        return 1
    raise AssertionError
jail.copy_process = hide
"""


def namesakes(pid: int) -> list[int]:
    """All processes that go by the name of this one, which its copies have, too."""
    name = Path(f"/proc/{pid}/comm").read_text()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if (entry / "comm").read_text() == name:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param("return 0", id="it greets as its copy"),
        pytest.param("raise OSError", id="it says that there was no room"),
        pytest.param("os = sys.modules['os']; os._exit(0)", id="it ends"),
        pytest.param("while True: time.sleep(3600)", id="it is silent"),
    ],
)
def test_a_hidden_copy_is_found_and_ended(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process of its name is left but the checkpoint of before, and the session goes on."""
    monkeypatch.setattr(kernel, "COPY_SECONDS", 1.0)
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, limits=Limits(eval_ms=5_000), checkpoints=0) as session,
    ):
        session.run("kept = 1")
        point = session.checkpoint()
        pid = session.pid or 0
        (parked,) = set(namesakes(pid)) - {pid}
        session.run(HIDE.replace("{lie}", lie))
        with pytest.raises(SandboxError):
            session.checkpoint()
        for left in set(namesakes(parked)) - {parked}:
            with suppress(ProcessLookupError):  # killed, and gone or on its way
                handle = os.pidfd_open(left)
                assert select.select([handle], [], [], 30)[0], left
                os.close(handle)
        assert namesakes(parked) == [parked]
        assert session.run("kept").value == 1
        point.close()


def test_a_copy_is_not_agreed_to_once_the_worker_has_answered() -> None:
    """Who says that it could not be copied, and then asks to be, is not."""
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, limits=Limits(eval_ms=300), checkpoints=0) as session,
    ):
        session.run(EARLY)
        pid = session.pid or 0
        with pytest.raises(CheckpointUnavailable, match="no room"):
            session.checkpoint()
        assert namesakes(pid) == [pid]
        assert session.run("1").status in ("ok", "timeout")  # it may still wait for its host
        assert session.run("1").value == 1


def test_where_no_copy_could_be_found_none_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc hides processes, there are no checkpoints, and the session says why."""
    monkeypatch.setattr(kernel, "_name_of", lambda _: b"")
    with zygote_without() as zygote, SandboxOf(zygote) as session:
        assert "hidden in /proc" in session.layers["checkpoints"]
        session.run("x = 1")
        assert session.run("x").value == 1
        assert session._past.keep == 0
