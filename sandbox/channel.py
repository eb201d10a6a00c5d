"""Frames to and from a worker's socket, for who waits for them."""

from __future__ import annotations

import socket
import time

from .errors import ProtocolError
from .wire import Inbox, Op

SEND_SECONDS = 30.0
"""How long a worker may take to read what it is sent."""


def send(sock: socket.socket, data: bytes, seconds: float = SEND_SECONDS) -> None:
    """Send all of it, in so many seconds.

    Raises:
        TimeoutError: The worker did not read it.
        ConnectionError: It is gone.
    """
    sock.settimeout(seconds)
    sock.sendall(data)


def receive(sock: socket.socket, inbox: Inbox, seconds: float) -> tuple[Op, bytes | bytearray]:
    """The next frame, whole.

    Raises:
        TimeoutError: It did not come in time. A worker that drips bytes gets no time anew.
        ConnectionError: The worker is gone.
        ProtocolError: What came is no frame.
    """
    until = time.monotonic() + max(seconds, 0.001)
    while (taken := inbox.take()) is None:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(left)
        count = sock.recv_into(inbox.buffer())
        if not count:
            raise ConnectionError("the worker closed its socket")
        inbox.advance(count)
    return taken


def check_silence(sock: socket.socket, inbox: Inbox) -> None:
    """Check that a worker that has nothing to do has said nothing.

    Raises:
        ConnectionError: It is gone.
        ProtocolError: It sent something that was never asked for.
    """
    sock.setblocking(False)
    try:
        waiting = sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        waiting = None
    if waiting == b"":
        raise ConnectionError("the worker ended")
    if waiting or not inbox.is_empty:
        raise ProtocolError("a worker sent something that was never asked for")
