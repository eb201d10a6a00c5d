"""Queues: without threads, for there is one; a wait that nothing can end is an error at once."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections import deque
from typing import Any, Self


def mend() -> dict[str, Any]:
    """The library's own would hang, and lead to the classes of ``threading``."""
    for kind in (Queue, LifoQueue, PriorityQueue, SimpleQueue, ShutDown):
        kind.__module__ = "queue"
    return {
        "queue.Queue": Queue,
        "queue.LifoQueue": LifoQueue,
        "queue.PriorityQueue": PriorityQueue,
        "queue.SimpleQueue": SimpleQueue,
        "queue.ShutDown": ShutDown,
    }


class ShutDown(Exception):
    """The queue has been shut down."""


class Queue:
    """A queue: first in, first out.

    Args:
        maxsize: How many items it takes; with 0, any number.
    """

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        self.unfinished_tasks = 0
        self.is_shutdown = False
        self.mutex = threading.Lock()  # for ``with q.mutex``: nobody else ever holds it
        self._init(maxsize)

    def _init(self, maxsize: int) -> None:  # noqa: ARG002 - what a subclass may want to know
        self.queue: Any = deque()

    def _qsize(self) -> int:
        return len(self.queue)

    def _put(self, item: Any) -> None:
        self.queue.append(item)

    def _get(self) -> Any:
        return self.queue.popleft()

    def qsize(self) -> int:
        """How many items there are."""
        return self._qsize()

    def empty(self) -> bool:
        """Whether there is none."""
        return not self._qsize()

    def full(self) -> bool:
        """Whether there is no room."""
        return 0 < self.maxsize <= self._qsize()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Add an item.

        Args:
            item: The item.
            block: Whether to wait for room.
            timeout: Seconds to wait at most.

        Raises:
            queue.Full: There is no room.
            queue.ShutDown: The queue has been shut down.
            RuntimeError: It would wait for ever.
        """
        _check(block, timeout)
        if self.is_shutdown:
            raise ShutDown
        if self.full():
            _wait(block, timeout, "put", queue.Full)
        self._put(item)
        self.unfinished_tasks += 1

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the next item.

        Args:
            block: Whether to wait for one.
            timeout: Seconds to wait at most.

        Raises:
            queue.Empty: There is none.
            queue.ShutDown: There is none, and the queue has been shut down.
            RuntimeError: It would wait for ever.
        """
        _check(block, timeout)
        if self.empty():
            if self.is_shutdown:
                raise ShutDown
            _wait(block, timeout, "get", queue.Empty)
        return self._get()

    def put_nowait(self, item: Any) -> None:
        """Add an item if there is room."""
        self.put(item, block=False)

    def get_nowait(self) -> Any:
        """Take the next item if there is one."""
        return self.get(block=False)

    def task_done(self) -> None:
        """Say that an item which was taken has been dealt with.

        Raises:
            ValueError: All of them had been.
        """
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self) -> None:
        """Nothing, where all items have been dealt with.

        Raises:
            RuntimeError: It would wait for ever.
        """
        if self.unfinished_tasks:
            raise RuntimeError(_FOR_EVER.format("join", "call task_done() for each item first"))

    def shutdown(self, immediate: bool = False) -> None:
        """Take no more items.

        Args:
            immediate: Whether to drop those that there are.
        """
        self.is_shutdown = True
        while immediate and not self.empty():
            self._get()
            self.unfinished_tasks -= 1


class LifoQueue(Queue):
    """A queue: last in, first out."""

    def _init(self, maxsize: int) -> None:  # noqa: ARG002
        self.queue = []

    def _get(self) -> Any:
        return self.queue.pop()


class PriorityQueue(Queue):
    """A queue: the smallest item first."""

    def _init(self, maxsize: int) -> None:  # noqa: ARG002
        self.queue = []

    def _put(self, item: Any) -> None:
        heapq.heappush(self.queue, item)

    def _get(self) -> Any:
        return heapq.heappop(self.queue)


class SimpleQueue:
    """A queue without a limit and without tasks: first in, first out."""

    __slots__ = ("_items",)

    _items: deque[Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:  # noqa: D102
        made = super().__new__(cls)  # an __init__ could be called with another object
        made._items = deque()
        return made

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: ARG002
        """Add an item."""
        self._items.append(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the next item.

        Raises:
            queue.Empty: There is none.
            RuntimeError: It would wait for ever.
        """
        _check(block, timeout)
        if not self._items:
            _wait(block, timeout, "get", queue.Empty)
        return self._items.popleft()

    def put_nowait(self, item: Any) -> None:
        """Add an item."""
        self._items.append(item)

    def get_nowait(self) -> Any:
        """Take the next item if there is one."""
        return self.get(block=False)

    def empty(self) -> bool:
        """Whether there is none."""
        return not self._items

    def qsize(self) -> int:
        """How many items there are."""
        return len(self._items)


_FOR_EVER = "{}() would wait for ever: there is one thread here, and it is the one that waits; {}"


def _wait(block: bool, timeout: float | None, method: str, error: type[Exception]) -> None:
    """Wait as a queue does while nobody else is there to change it."""
    if block and timeout is None:
        raise RuntimeError(
            _FOR_EVER.format(method, f"use {method}_nowait(), which raises {error.__name__}")
        )
    if block and timeout is not None:
        time.sleep(timeout)
    raise error


def _check(block: bool, timeout: float | None) -> None:
    if block and timeout is not None and timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
