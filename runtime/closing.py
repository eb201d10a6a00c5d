"""What is closed at the end of a ``with`` statement, by code that blocks or that awaits."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Closes at the end of a ``with`` or ``async with`` statement."""

    def close(self) -> None:
        """Let go of what is held."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """``close`` for code that awaits."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
