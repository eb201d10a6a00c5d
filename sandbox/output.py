"""The worker's way out: its end of the wire, and what a turn prints."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterator
from time import monotonic
from typing import Protocol

from .deadline import Deadline
from .limits import HEAD_CHARS, MAX_TURN_OUTPUT
from .wire import ESCAPES, Inbox, NoRoom, Op, frame

_FLUSH_AT_ONCE = 10_000  # writes of a turn that are sent as they come
_FLUSH_CHARS = 16_384
_FLUSH_SECONDS = 0.001
_CHUNK_CHARS = 1 << 20


class Nowhere:
    """What stands for a socket before there is one: takes whatever is sent."""

    def sendall(self, data: bytes) -> None:
        """Take data and drop it."""

    def recv_into(self, _: memoryview) -> int:
        """Nothing ever comes."""
        return 0

    def copy(self) -> None:
        """There is nobody to ask for a copy."""


class Wire(Protocol):
    """What a worker sends and receives by."""

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""

    def recv_into(self, buffer: memoryview, /) -> int:
        """Wait for bytes."""

    def copy(self) -> Wire | None:
        """Copy the process; gives the copy's own wire in the copy, None in the original."""


class SocketWire:
    """A worker's socket.

    Args:
        sock: One end of a stream whose other end is the host's.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._sock.sendall(data)

    def recv_into(self, buffer: memoryview) -> int:
        """Wait for bytes."""
        return self._sock.recv_into(buffer)

    def copy(self) -> Wire | None:
        """Not here: the host does not ask where it can't be done."""
        raise ConnectionError


class Pipe:
    """The worker's end of the wire. Whole frames only; ends the process when the host is gone."""

    def __init__(self) -> None:
        self._wire: Wire = Nowhere()
        self._inbox = Inbox()

    def attach(self, wire: Wire) -> None:
        """Send and receive by this wire from now on."""
        self._wire = wire
        self._inbox = Inbox()

    def copy(self) -> bool:
        """Leave a copy of this process beside it, which goes on by a wire of its own.

        Returns:
            Whether this is the copy.
        """
        wire = self._wire.copy()
        if wire is not None:
            self.attach(wire)
        return wire is not None

    def send(self, data: bytes) -> None:
        """Send a frame."""
        try:
            self._wire.sendall(data)
        except OSError:
            os._exit(0)

    def receive(self) -> tuple[Op, bytes | bytearray]:
        """Wait for the next frame.

        Raises:
            NoRoom: There is no memory for it.
        """
        while True:
            try:
                taken = self._inbox.take()
                if taken is not None:
                    return taken
                count = self._wire.recv_into(self._inbox.buffer())
            except NoRoom:
                raise
            except (OSError, MemoryError):
                # Half a frame has been read: going on would take its rest for the next one.
                count = 0
            if not count:
                os._exit(0)
            self._inbox.advance(count)


class Output:
    """What a turn prints: sent on soon, so that a killed turn's output is not lost with it.

    Past ``MAX_TURN_OUTPUT`` characters the first half of them and the last are kept, and what
    lies between is counted: the first half is sent as it comes, the last when the turn is over.
    """

    def __init__(self, pipe: Pipe, deadline: Deadline) -> None:
        self._pipe = pipe
        self._deadline = deadline
        self.begin()
        self._open = False

    def begin(self) -> None:
        """Start a turn's output."""
        self._open = True
        self._waiting: deque[str] = deque()
        self._size = 0
        self._writes = 0
        self._sent_at = 0.0
        self._room = HEAD_CHARS
        self._tail = _Tail(MAX_TURN_OUTPUT - HEAD_CHARS)

    def write(self, text: str) -> None:
        """Take what the program prints.

        Raises:
            TypeError: It is no text.
        """
        text = str.__str__(text)  # a subclass's own methods must not run where nothing interrupts
        if not self._open:
            return  # no turn is there whose output it would be
        with self._deadline.shielded:
            head = text[: self._room]
            if head:
                self._room -= len(head)
                self._waiting.append(head)
                self._size += len(head)
                self._writes += 1
                if self._writes <= _FLUSH_AT_ONCE or self._is_due():
                    self.flush()
            if len(text) > len(head):
                self._tail.add(text, len(head))

    def _is_due(self) -> bool:
        return self._size > _FLUSH_CHARS or monotonic() - self._sent_at > _FLUSH_SECONDS

    def flush(self) -> None:
        """Send what has not been sent yet, but for the tail."""
        if self._waiting:
            self._waiting = deque(_pieces("".join(self._waiting)))
            self._size = 0
            self._drain(self._waiting)
            self._sent_at = monotonic()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been printed yet."""
        return self._writes == 0

    def end(self) -> int:
        """Send all that there is; returns how many characters were left out before the tail.

        Where memory ran out in the middle of it, a second call goes on.
        """
        self.flush()
        omitted = self._tail.close()
        self._drain(self._tail.chunks)
        self._open = False
        return omitted

    def _drain(self, pieces: deque[str]) -> None:
        """Send pieces and drop them: one that could not be sent for want of memory stays."""
        while pieces:
            try:
                data = frame(Op.OUTPUT, pieces[0].encode())
            except UnicodeEncodeError:
                data = frame(Op.ESCAPED, pieces[0].encode(ESCAPES))
            self._pipe.send(data)
            pieces.popleft()


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of a size that is sent at once."""
    return (text[start : start + _CHUNK_CHARS] for start in range(0, len(text), _CHUNK_CHARS))


class _Tail:
    """The last characters of a text that comes bit by bit, in pieces of a size that is sent."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._bits: list[str] = []
        self._bits_size = self._size = self._omitted = 0
        self.chunks: deque[str] = deque()

    def add(self, text: str, start: int) -> None:
        """Take the text's next bit, from its character ``start`` on."""
        surplus = len(text) - start - self._room
        if surplus > 0:  # of a huge bit no more is copied than has room; what came before has none
            self._omitted += self._size + self._bits_size + surplus
            self._bits, self._bits_size, self._size = [], 0, 0
            self.chunks.clear()
            start += surplus
        self._bits.append(text[start:])
        self._bits_size += len(text) - start
        if self._bits_size > _FLUSH_CHARS:
            self._join()

    def close(self) -> int:
        """Leave exactly the last characters in ``chunks``; returns how many came before them."""
        self._join()
        surplus = self._size - self._room
        if surplus > 0 and self.chunks:
            self._omitted += surplus
            self._size -= surplus
            self.chunks[0] = self.chunks[0][surplus:]
        return self._omitted

    def _join(self) -> None:
        text = "".join(self._bits)
        self._bits, self._bits_size = [], 0
        self.chunks.extend(_pieces(text))
        self._size += len(text)
        while self.chunks and self._size - len(self.chunks[0]) >= self._room:
            self._size -= len(self.chunks[0])
            self._omitted += len(self.chunks.popleft())
