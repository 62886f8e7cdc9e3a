"""Sink: decisions into LanceDB, then the events, then the offsets; in that order, always.

A subscriber that hears of a change can read its row. Events may repeat after a crash: `scope_seq`
tells. Whoever the group gives a partition to owns its table and maintains it between writes.
"""

import asyncio
import logging
import time
from typing import Any

from schemas.memory import DecisionRecord
from sinks.tables import LayoutError, MemoryTables
from streams import metrics
from streams.changes import cloud_event_headers, events_of
from streams.delivery.stage import Assignment, PartitionLostError, Record
from streams.headers import appended_at
from streams.processing import ProcessingStage
from streams.settings import Settings
from streams.strategies import DIMENSIONS
from topics.catalogue import CHANGES, DECISIONS
from topics.producer import Deliveries

logger = logging.getLogger(__name__)

UNWRITABLE_WAIT_SECONDS = (0.5, 30.0)
"""First and longest wait while LanceDB cannot be written: the sink waits, it never skips."""


class _Pending:
    """Records of one partition that are not written yet. One lock, so that writes never overlap."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.lock = asyncio.Lock()
        self.timer: asyncio.Task[None] | None = None


class Sink(ProcessingStage):
    name = "sink"
    source = DECISIONS.name
    max_records = 2000

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.tables = MemoryTables(settings.sink.path, DIMENSIONS, settings.kafka.partitions)
        self._pending: dict[int, _Pending] = {}

    async def stop(self) -> None:
        await super().stop()
        self.tables.close()

    async def assigned(self, assignment: Assignment) -> None:
        self._pending[assignment.partition] = _Pending()
        await super().assigned(assignment)

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        pending = self._pending.pop(partition, None)
        if pending is not None and pending.timer is not None:
            pending.timer.cancel()
            await asyncio.wait([pending.timer])

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        pending = self._pending[assignment.partition]
        pending.records += records
        if len(pending.records) >= self.settings.sink.batch_rows:
            await self._flush(assignment, pending)
        elif pending.timer is None or pending.timer.done():
            pending.timer = asyncio.create_task(self._flush_later(assignment, pending))

    async def tick(self, assignment: Assignment) -> None:
        await super().tick(assignment)
        pending = self._pending[assignment.partition]
        async with pending.lock:
            try:
                await self.tables.maintain(assignment.partition)
            except (OSError, RuntimeError) as error:  # LanceDB's own: it is due again at the next tick
                logger.warning("memories-%d could not be maintained: %s", assignment.partition, error)

    async def _flush_later(self, assignment: Assignment, pending: _Pending) -> None:
        try:
            while pending.records:  # more may come while a batch is being written
                await asyncio.sleep(self.settings.sink.batch_seconds)
                await self._flush(assignment, pending)
        except PartitionLostError:
            return
        except Exception as error:  # noqa: BLE001 - nobody awaits this task: the partition has to hear of it
            assignment.fail(error)

    async def _flush(self, assignment: Assignment, pending: _Pending) -> None:
        async with pending.lock:
            records, pending.records = pending.records, []
            if records:
                await self._write(assignment, records)

    async def _write(self, assignment: Assignment, records: list[Record]) -> None:
        started = time.perf_counter()
        deliveries = self.producer.deliveries()
        decided: list[tuple[Record, DecisionRecord]] = []
        for record in records:
            if record.value is None:  # a tombstone cleans up; the fold has no part in it
                continue
            try:
                decided.append((record, self.codec.decode(record.value, DecisionRecord)))
            except ValueError as error:
                self.dead_letter(deliveries, record, error)
        written = await self._upsert(assignment, decided, deliveries)
        for decision in written:
            self._announce(deliveries, assignment.partition, decision)
        await deliveries.confirmed()
        self.done(assignment, records[-1].offset + 1, len(records), started)
        now = time.time() * 1000
        for record, _ in decided:
            since = appended_at(record)
            if since is not None:
                metrics.END_TO_END_SECONDS.observe(max(now - since, 0) / 1000)

    async def _upsert(
        self, assignment: Assignment, decided: list[tuple[Record, DecisionRecord]], deliveries: Deliveries
    ) -> list[DecisionRecord]:
        """Write all of them at once; where one of them can never be written, each alone."""
        records = [decision for _, decision in decided]
        try:
            await self._upsert_patiently(assignment, records)
            return records
        except ValueError:
            written = []
            for record, decision in decided:
                try:
                    await self._upsert_patiently(assignment, [decision])
                    written.append(decision)
                except ValueError as error:
                    self.dead_letter(deliveries, record, error)
            return written

    async def _upsert_patiently(self, assignment: Assignment, records: list[DecisionRecord]) -> None:
        wait, longest = UNWRITABLE_WAIT_SECONDS
        while True:
            await assignment.require()
            try:
                changed = await self.tables.upsert(assignment.partition, records)
            except (LayoutError, ValueError):
                raise
            except (OSError, RuntimeError) as error:
                logger.warning("memories-%d cannot be written, waiting: %s", assignment.partition, error)
                metrics.SINK_WAITS.inc()
                await asyncio.sleep(wait)
                wait = min(wait * 2, longest)
            else:
                metrics.SINK_ROWS.inc(len(changed))
                metrics.SINK_BATCH_ROWS.observe(len(changed))
                return

    def _announce(self, deliveries: Deliveries, partition: int, record: DecisionRecord) -> None:
        for event in events_of(record):
            deliveries.send(
                CHANGES.name,
                key=record.scope.key,
                value=self.codec.encode(event),
                partition=partition,
                headers=cloud_event_headers(event),
            )


def __getattr__(name: str) -> Any:
    return Sink.lazily(name)
