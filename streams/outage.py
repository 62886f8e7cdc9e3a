"""Waiting for a model that is away: an outage pauses, it never advances and never fills the dead letters."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from prompts.client import ModelOutage
from streams import metrics

T = TypeVar("T")

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 30.0


async def outlast(ask: Callable[[], Awaitable[T]], stage: str) -> T:
    """`ask()` until the model is there, however long that takes; only cancellation ends the waiting."""
    wait = FIRST_SECONDS
    while True:
        try:
            return await ask()
        except ModelOutage as outage:
            metrics.MODEL_WAITS.labels(stage).inc()
            await asyncio.sleep(outage.retry_after or wait)
            wait = min(wait * 2, LONGEST_SECONDS)
