"""What batches still wait for, while the next one is computed."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

DEPTH = 2
"""Tails a partition may have. With one, a stage of few partitions still idles: each step of a tail
waits its turn on the event loop, behind a batch of another partition."""

PATIENCE_SECONDS = 1.0
"""How long a revocation waits for tails. What is not marked by then comes again."""


class Tails:
    """Tasks of each partition, one after another: each confirms and marks what a batch sent.

    Without them a stage idles through a round trip to the broker after each batch. A failure ends
    those that follow, and is raised to whoever asks next.
    """

    def __init__(self) -> None:
        self._tasks: dict[int, deque[asyncio.Task[None]]] = {}

    async def room(self, partition: int) -> None:
        """Wait until one more may start. Raises what a tail raised."""
        await self._wait(partition, DEPTH - 1)

    async def settle(self, partition: int) -> None:
        """Wait for all of the partition. Raises what one of them raised."""
        await self._wait(partition, 0)

    def start(self, partition: int, work: Coroutine[Any, Any, None]) -> None:
        """Begin a tail, which waits for those before it."""
        tasks = self._tasks.setdefault(partition, deque())
        previous = tasks[-1] if tasks else None
        tasks.append(asyncio.create_task(_after(previous, work), name=f"tail[{partition}]"))

    async def end(self, partition: int) -> None:
        """Give them a moment, then cancel. Nothing of them runs afterwards, and nothing is raised."""
        tasks = self._tasks.pop(partition, None)
        if not tasks:
            return
        try:
            await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
            # Their failures are seen here: the partition is gone, its successor replays.
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait(self, partition: int, left: int) -> None:
        tasks = self._tasks.get(partition, deque())
        while tasks and (len(tasks) > left or tasks[0].done()):  # one that has failed says so at once
            await asyncio.wait([tasks[0]])  # who waits may be cancelled; the tail goes on until `end`
            tasks.popleft().result()


async def _after(previous: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
    try:
        if previous is not None:
            await previous
    except BaseException:
        work.close()
        raise
    await work
