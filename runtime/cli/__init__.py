"""The command line.

The commands are loaded when they are asked for, so that Ctrl-C is heard from the start.
"""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # SIGINT too: where a script started this in the background, it would be ignored.
        signal.signal(number, signal.default_int_handler)
    try:
        from .app import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
