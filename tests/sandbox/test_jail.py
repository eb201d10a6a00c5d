"""What the kernel forbids a worker, tried from inside one, with the language wall out of the way."""

import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from circlet.sandbox import Sandbox, jail, pool, rlimits
from circlet.sandbox.pool import Zygote

pytestmark = pytest.mark.kernel

ALL_LAYERS = frozenset(jail.REQUIRED + jail.EXTRAS)
