"""Standard input and output as an agent's own: what else is printed goes to standard error."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO

import anyio

from ..cantrip import Cantrip
from .loose import MAX_LINE
from .server import serve

CHUNK = 1 << 16


@contextlib.contextmanager
def taken_over() -> Iterator[tuple[int, int]]:
    """Keep standard input and output for the protocol; gives their descriptors.

    Whatever else in this process, or below it, reads standard input finds it empty, and
    what it prints goes to standard error.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    sys.stdout.flush()
    os.dup2(nothing, 0)
    os.dup2(_number(sys.stderr, nothing), 1)
    try:
        yield source, sink
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        # The copies stay open, for the threads that still read or write them.
        os.close(nothing)


def _number(stream: IO[str], instead: int) -> int:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return instead


async def serve_stdio(spell: Cantrip, source: int, sink: int) -> None:
    """Serve a client until its input ends, or nobody reads the output any more.

    Args:
        spell: Whose entities answer.
        source: The descriptor that its messages are read from.
        sink: The descriptor that it is written to.
    """
    to_agent, lines = anyio.create_memory_object_stream[bytes](float("inf"))
    loop = asyncio.get_running_loop()

    def soon(do: Callable[..., None], *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            loop.call_soon_threadsafe(do, *args)

    def deliver(line: bytes) -> None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            to_agent.send_nowait(line)

    def read() -> None:
        for line in read_lines(source):
            soon(deliver, line)
        soon(to_agent.close)

    # Daemons, for a thread that waits for a client can't be called back.
    threading.Thread(target=read, name="circlet acp input", daemon=True).start()
    await serve(spell, lines, _Writer(sink, to_agent.close))


def read_lines(source: int) -> Iterator[bytes]:
    """The lines of a descriptor, up to its end; one that is too long is cut, and still too long."""
    pieces: list[bytes] = []
    size = 0
    while chunk := _read(source):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield b"".join([*pieces, piece])
            pieces, size = [], 0
        if size <= MAX_LINE:
            pieces.append(rest)
            size += len(rest)
    if size:
        yield b"".join(pieces)


def _read(source: int) -> bytes:
    try:
        return os.read(source, CHUNK)
    except OSError:
        return b""


class _Writer:
    """Writes lines in a thread of its own, so that a client that reads slowly holds nothing up.

    Args:
        sink: The descriptor.
        on_broken: Called once nobody reads it any more.
    """

    def __init__(self, sink: int, on_broken: Callable[[], None]) -> None:
        self._sink = sink
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="circlet acp output", daemon=True).start()

    async def __call__(self, line: bytes) -> None:
        """Write a line.

        Raises:
            ConnectionError: Nobody reads any more.
        """
        written: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((line, written))
        await written

    def _run(self) -> None:
        while True:
            line, written = self._queue.get()
            broken = not self._write(line)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._end, written, broken)

    def _write(self, line: bytes) -> bool:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._sink, rest) :]
        except OSError:
            return False
        return True

    def _end(self, written: asyncio.Future[None], broken: bool) -> None:
        if broken:
            self._on_broken()
        if written.done():
            return
        if broken:
            written.set_exception(ConnectionError("the client reads no more"))
        else:
            written.set_result(None)
