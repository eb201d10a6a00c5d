"""The blocking face's way to the event loop: one private loop thread a process.

A loop of its own for each cast would break pooled connections, which belong to the loop that
made them.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent import futures
from typing import TypeVar

import anyio
import anyio.lowlevel
from anyio.from_thread import BlockingPortal

from .errors import RuntimeFault

_T = TypeVar("_T")
LOOK_UP_SECONDS = 0.1
"""How long Ctrl-C may go unnoticed."""
CANCEL_SECONDS = 10.0
"""How long a cancelled call may take to end what runs below it and to record it."""

_lock = threading.Lock()
_portal: BlockingPortal | None = None
_thread: threading.Thread | None = None


def run(function: Callable[[], Awaitable[_T]], instead: str) -> _T:
    """Run an async function from blocking code.

    Ctrl-C cancels it, and what it has begun to record is recorded.

    Args:
        function: What to run.
        instead: The async method to use inside a running event loop, for the error.

    Raises:
        RuntimeFault: An event loop runs in this thread already (IPython's own is fine).
    """
    _refuse_inside_loop(instead)
    begun, dropped, ended = threading.Event(), threading.Event(), threading.Event()

    async def call() -> _T:
        await anyio.lowlevel.checkpoint()  # one that was cancelled by now does not begin
        if dropped.is_set():
            raise asyncio.CancelledError
        begun.set()
        try:
            return await function()
        finally:
            ended.set()

    future: futures.Future[_T] | None = None
    try:
        future = _get().start_task_soon(call)
        # The system may hand Ctrl-C to another thread, which does not wake this one: so it
        # looks up now and then, for only the main thread runs signal handlers.
        while not future.done():
            futures.wait([future], timeout=LOOK_UP_SECONDS)
        return future.result()
    except KeyboardInterrupt:
        dropped.set()  # there is no future yet where the loop was too busy to take the call
        if future is not None and future.cancel() and begun.is_set():
            ended.wait(CANCEL_SECONDS)
        raise


def _refuse_inside_loop(instead: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        raise RuntimeFault(f"an event loop is running in this thread: use `await {instead}`")


def _get() -> BlockingPortal:
    global _portal, _thread
    with _lock:
        if _portal is None or _thread is None or not _thread.is_alive():
            _portal, _thread = _start()
        return _portal


def _start() -> tuple[BlockingPortal, threading.Thread]:
    started: list[BlockingPortal] = []
    ready = threading.Event()

    async def serve() -> None:
        async with BlockingPortal() as portal:
            started.append(portal)
            ready.set()
            await portal.sleep_until_stopped()

    # A daemon, so that a gate's thread that was left to itself can't hold up the exit.
    thread = threading.Thread(target=anyio.run, args=(serve,), name="circlet loop", daemon=True)
    thread.start()
    ready.wait()
    return started[0], thread


def _drop_in_child() -> None:
    """The loop's thread is not copied into a forked child: the child starts its own."""
    global _portal, _thread, _lock
    _portal, _thread, _lock = None, None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_in_child)
