"""How a jailed worker makes the copy of itself that its host asks for."""

from __future__ import annotations

import array
import os
import socket

from . import jail
from .output import SocketWire
from .wire import NO_ROOM, Op, frame


class CopyWire(SocketWire):
    """A worker's socket, which may be handed the socket of the worker's next copy.

    Args:
        sock: The worker's socket.
    """

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self._handed: list[int] = []

    def recv_into(self, buffer: memoryview) -> int:
        """Wait for bytes, and keep the descriptor that comes with them."""
        count, ancillary, _, _ = self._sock.recvmsg_into([buffer], socket.CMSG_SPACE(4))
        for _, _, data in ancillary:
            self._handed.append(array.array("i", data)[0])
        return count

    def copy(self) -> CopyWire | None:
        """Copy this process. In the copy, gives its socket; here, None.

        The copy greets its host by that socket, and is killed with the zygote as this one is.
        """
        fd = self._handed.pop()
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
        zygote = os.getppid()
        try:
            is_copy = jail.copy_process() == 0
        except OSError:
            sock.sendall(frame(Op.COPIED, NO_ROOM))
            is_copy = False
        if not is_copy:
            sock.close()
            return None
        jail.die_with_parent(zygote)
        self._sock.close()
        sock.sendall(frame(Op.COPIED))
        return CopyWire(sock)
