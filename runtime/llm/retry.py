"""Trying again: a query that failed for a passing reason is repeated out of sight (PROD-2)."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import anyio
from pydantic import BaseModel, ConfigDict, Field

from ..errors import ContextLimit, ProviderError
from .base import LLM, Reply, Request, check_reply


class Retry(BaseModel):
    """Which failures are tried again, how often, and how long apart (PROD-2).

    Attributes:
        max_retries: Tries after the first one.
        base_s: Wait before the first retry, in seconds; it doubles from one to the next.
        max_s: The longest such wait, in seconds.
        max_retry_after_s: The longest wait that a provider may ask for, in seconds; when it
            asks for more, the query fails at once.
        retryable_status_codes: HTTP statuses that are tried again: 429 and 500 to 599. A
            provider that couldn't be reached at all is always tried again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_retries: int = Field(default=3, ge=0)
    base_s: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    max_s: float = Field(default=30.0, ge=0, allow_inf_nan=False)
    max_retry_after_s: float = Field(default=120.0, ge=0, allow_inf_nan=False)
    retryable_status_codes: tuple[int, ...] = Field(default=(429, *range(500, 600)), repr=False)

    def wait_s(self, error: ProviderError, retries: int, jitter: float = 0.0) -> float | None:
        """How long to wait before the next try.

        Args:
            error: What the last try ended with.
            retries: Retries made so far.
            jitter: From 0 to 1. At 1 the wait is a quarter longer, so that entities that
                failed together do not come back together.

        Returns:
            Seconds, at least what the provider asked for; None when there is no next try.
        """
        if retries >= self.max_retries or not self._passing(error):
            return None
        # Past 2 ** 64 the wait is max_s in any case, and a larger power is no float.
        wait = min(self.max_s, self.base_s * 2 ** min(retries, 64) * (1 + jitter / 4))
        asked = error.retry_after_s or 0.0
        return max(wait, asked) if asked <= self.max_retry_after_s else None

    def _passing(self, error: ProviderError) -> bool:
        if isinstance(error, ContextLimit):
            return False
        return error.status is None or error.status in self.retryable_status_codes


async def with_retry(
    llm: LLM,
    request: Request,
    retry: Retry,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    jitter: Callable[[], float] = random.random,
    on_wait: Callable[[ProviderError, int, float], None] | None = None,
) -> Reply:
    """Query until there is a reply, or no further try is due.

    The reply is checked here too, so that a model of anybody's is held to the contract.

    Args:
        llm: The model, or an entity's handle of it.
        request: What to ask; the same on every try.
        retry: Which failures are tried again, and how.
        sleep: Waits the given number of seconds.
        jitter: Gives a number from 0 to 1 for each wait.
        on_wait: Is told before each wait what went wrong, which retry is next, from 1, and how
            many seconds it is until then.

    Raises:
        ProviderError: The last try's error, when it isn't one to retry or retries are used up.
        MalformedReply: The reply breaks the contract (LLM-3, LLM-4); not tried again.
        ScriptExhausted: A scripted model has no reply left; not tried again.
    """
    retries = 0
    while True:
        try:
            return check_reply(await llm.query(request))
        except ProviderError as error:
            wait = retry.wait_s(error, retries, jitter())
            if wait is None:
                raise
            retries += 1
            if on_wait is not None:
                on_wait(error, retries, wait)
        await sleep(wait)  # out here, for a cancellation of it is no error that came of another
