"""One task a partition: restore, then batches and ticks in turn, until revocation or failure."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from faust.types import TP

from streams.delivery.stage import Assignment, Ledger, PartitionLostError, Record, Stage

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0
BACKLOG_BATCHES = 4
"""A partition is held once it has this many times `Stage.max_records` waiting."""


class RecordsDeletedError(RuntimeError):
    """Retention was faster than the group: records are gone that it never read. Nobody goes on in silence."""

    def __init__(self, tp: TP, stage: str, committed: int, earliest: int) -> None:
        super().__init__(
            f"{tp.topic}[{tp.partition}]: offsets {committed} to {earliest - 1} were deleted before {stage} had read "
            f"them. Where a copy exists, publish it again. To go on from {earliest} without them, start once with "
            "MEMWEIR_KAFKA_ACCEPT_DELETED=true; and give the topic a longer retention"
        )


class Source(Ledger, Protocol):
    """The consumer, as far as a partition's task needs it."""

    def hold(self, tp: TP, *, full: bool) -> None: ...


class _PartitionTask:
    """Serialises what a stage does for one partition."""

    def __init__(self, stage: Stage, assignment: Assignment, source: Source) -> None:
        self.assignment = assignment
        self._stage = stage
        self._source = source
        self._records: deque[Record] = deque()
        self._arrived = asyncio.Event()
        self._full = False
        self._task = asyncio.create_task(self._run(), name=f"{stage.name}[{assignment.partition}]")

    def put(self, records: Sequence[Record]) -> None:
        self._records.extend(records)
        self._arrived.set()
        if not self._full and len(self._records) >= BACKLOG_BATCHES * self._stage.max_records:
            self._hold(full=True)

    async def end(self) -> None:
        """Cancel and wait: whoever comes next finds nothing of it running."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self._records.clear()
        self._hold(full=False)

    async def _run(self) -> None:
        try:
            await self._stage.assigned(self.assignment)
            self.assignment.restored = True
            await self._serve()
        except PartitionLostError as lost:
            logger.info("%s drops what it was doing for %s", self._stage.name, lost)
        except Exception as error:
            logger.exception("%s stops at %s of %s", self._stage.name, self.assignment.position, self.assignment.tp)
            self.assignment.fail(error)

    async def _serve(self) -> None:
        now = asyncio.get_running_loop().time
        tick_at = now() + TICK_SECONDS
        # A failed assignment gets no more calls while its app goes down.
        while self.assignment.failure is None:
            if self._records:
                records = self._take()
                self.assignment.read = records[-1].offset + 1
                await self._stage.batch(self.assignment, records)
            if now() >= tick_at:
                await self._stage.tick(self.assignment)
                tick_at = now() + TICK_SECONDS
            if not self._records:
                await self._wait(tick_at - now())

    def _take(self) -> list[Record]:
        waiting = self._records
        if len(waiting) <= self._stage.max_records:
            records = list(waiting)
            waiting.clear()
        else:
            records = [waiting.popleft() for _ in range(self._stage.max_records)]
        if self._full and len(waiting) <= BACKLOG_BATCHES * self._stage.max_records // 2:
            self._hold(full=False)
        return records

    async def _wait(self, seconds: float) -> None:
        self._arrived.clear()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._arrived.wait()
        except TimeoutError:
            return

    def _hold(self, *, full: bool) -> None:
        self._full = full
        self._source.hold(self.assignment.tp, full=full)


class Partitions:
    """The partitions a stage has now. `on_failure` is called for each that fails."""

    def __init__(
        self,
        stage: Stage,
        source: Callable[[], Source],
        on_failure: Callable[[BaseException], Coroutine[Any, Any, None]],
        *,
        accept_deleted: bool = False,
    ) -> None:
        self._accept_deleted = accept_deleted
        self._stage = stage
        self._source = source
        self._report = on_failure
        self._tasks: dict[TP, _PartitionTask] = {}
        self._reports: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def assignments(self) -> list[Assignment]:
        return [task.assignment for task in self._tasks.values()]

    def deliver(self, tp: TP, generation: int, records: Sequence[Record]) -> None:
        """Queue a batch. Dropped where it belongs to an assignment that is gone."""
        task = self._tasks.get(tp)
        if task is not None and task.assignment.generation == generation:
            task.put(records)

    def on_assigned(self, tp: TP, generation: int, committed: int | None, earliest: int) -> None:
        if self._closed:
            return
        if tp in self._tasks:
            raise RuntimeError(f"{tp} is assigned in generation {generation}, and was never revoked")
        if committed is not None and committed < earliest:
            # Kafka's clients go on from the log start without a word.
            lost = RecordsDeletedError(tp, self._stage.name, committed, earliest)
            if not self._accept_deleted:
                self._on_failure(lost)
                return
            logger.error("%s", lost)
        source = self._source()
        start = earliest if committed is None else max(committed, earliest)
        assignment = Assignment(tp, generation, source, committed=committed, start=start, on_failure=self._on_failure)
        self._tasks[tp] = _PartitionTask(self._stage, assignment, source)

    async def on_revoked(self, revoked: set[TP]) -> None:
        ended = {tp: task for tp in revoked if (task := self._tasks.pop(tp, None)) is not None}
        await asyncio.gather(*(self._end(tp, task) for tp, task in ended.items()))

    async def close(self) -> None:
        """End them all and begin no more: the app goes down."""
        self._closed = True
        await self.on_revoked(set(self._tasks))

    async def _end(self, tp: TP, task: _PartitionTask) -> None:
        try:
            await task.end()
        finally:  # also where the revocation's own time is up: a stage that keeps state would use it again
            await self._stage.revoked(tp.partition)

    def _on_failure(self, error: BaseException) -> None:
        report = asyncio.get_running_loop().create_task(self._report(error))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)
