"""The worker's way out: its end of the wire, and what a turn prints."""

from __future__ import annotations

import os
import socket
from time import monotonic

from .deadline import Deadline
from .limits import MAX_TURN_OUTPUT
from .wire import Inbox, Op, frame

_FLUSH_AT_ONCE = 100  # writes of a turn that are sent as they come
_FLUSH_CHARS = 16_384
_FLUSH_SECONDS = 0.001


class Nowhere:
    """What stands for a socket before there is one: takes whatever is sent."""

    def sendall(self, data: bytes) -> None:
        """Take data and drop it."""

    def recv_into(self, _: memoryview) -> int:
        """Nothing ever comes."""
        return 0


class Pipe:
    """The worker's end of the wire. Whole frames only; ends the process when the host is gone."""

    def __init__(self) -> None:
        self._socket: socket.socket | Nowhere = Nowhere()
        self._inbox = Inbox()

    def attach(self, sock: socket.socket) -> None:
        """Send and receive by this socket from now on."""
        self._socket = sock

    def send(self, data: bytes) -> None:
        """Send a frame."""
        try:
            self._socket.sendall(data)
        except OSError:
            os._exit(0)

    def receive(self) -> tuple[Op, bytes | bytearray]:
        """Wait for the next frame."""
        while True:
            try:
                taken = self._inbox.take()
                if taken is not None:
                    return taken
                count = self._socket.recv_into(self._inbox.buffer())
            except (OSError, MemoryError):
                # Half a frame has been read: going on would take its rest for the next one.
                count = 0
            if not count:
                os._exit(0)
            self._inbox.advance(count)


class Output:
    """What a turn prints: sent on soon, so that a killed turn's output is not lost with it.

    Past ``MAX_TURN_OUTPUT`` characters head and tail are kept, and the rest is counted.
    """

    def __init__(self, pipe: Pipe, deadline: Deadline) -> None:
        self._pipe = pipe
        self._deadline = deadline
        self.begin()

    def begin(self) -> None:
        """Start a turn's output."""
        self._waiting: list[str] = []
        self._size = 0
        self._writes = 0
        self._sent_at = 0.0
        self._room = MAX_TURN_OUTPUT // 2
        self._tail: list[str] = []
        self._tail_size = 0
        self.omitted = 0

    def write(self, text: str) -> None:
        """Take what the program prints."""
        with self._deadline.shielded:
            if len(text) > self._room:
                self._keep_tail(text[self._room :])
                text = text[: self._room]
            if text:
                self._room -= len(text)
                self._waiting.append(text)
                self._size += len(text)
                self._writes += 1
                if self._writes <= _FLUSH_AT_ONCE or self._is_due():
                    self.flush()

    def _is_due(self) -> bool:
        return self._size > _FLUSH_CHARS or monotonic() - self._sent_at > _FLUSH_SECONDS

    def flush(self) -> None:
        """Send what has not been sent yet."""
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._pipe.send(frame(Op.OUTPUT, text.encode("utf-8", "surrogatepass")))
            self._sent_at = monotonic()

    def _keep_tail(self, text: str) -> None:
        keep = MAX_TURN_OUTPUT // 2
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > 2 * keep:
            joined = "".join(self._tail)
            self.omitted += len(joined) - keep
            self._tail = [joined[-keep:]]
            self._tail_size = keep

    def end(self) -> str:
        """Flush; returns the tail that follows the ``omitted`` characters."""
        self.flush()
        tail = "".join(self._tail)
        keep = MAX_TURN_OUTPUT // 2
        if len(tail) > keep:
            self.omitted += len(tail) - keep
            tail = tail[-keep:]
        self._tail = [tail]
        return tail
