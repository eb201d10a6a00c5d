"""Importing the package asks nothing of a platform that only the kernel back end needs."""

import subprocess
import sys

import pytest

IMPORT = """
import asyncio, ctypes, importlib, os, select, signal, socket, subprocess, sys
import anyio, msgpack, multiprocess, multiprocess.context, RestrictedPython, zoneinfo

for name in ("register_at_fork", "pidfd_open", "fork"):
    delattr(os, name)
del signal.pidfd_send_signal
if sys.argv[1] == "win32":
    for name in ("setitimer", "SIGALRM", "SIGKILL", "ITIMER_REAL"):
        delattr(signal, name)
    for name in ("AF_UNIX", "SCM_RIGHTS", "CMSG_SPACE"):
        delattr(socket, name)
    del select.poll
    sys.modules["resource"] = sys.modules["fcntl"] = None

def no_library(name, *_, **__):
    raise TypeError("no library by that name")

ctypes.CDLL = no_library
sys.platform = sys.argv[1]
from circlet.sandbox import AsyncSandbox, Sandbox, jail, worker
print(jail.why_unsupported())
"""


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_the_package_can_be_imported_anywhere(platform: str) -> None:
    """Where there is no ``kernel`` back end the import succeeds and the reason can be had."""
    result = subprocess.run(
        [sys.executable, "-c", IMPORT, platform], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert f"this is {platform}" in result.stdout
