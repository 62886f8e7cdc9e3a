"""Windowing: the inbox, cut into windows. A cut is on its topic before its window is sent.

Open windows live in memory and are held by uncommitted inbox offsets: after a crash the inbox is
read again from there, recorded cuts are re-emitted as they were, and open windows go on.
"""

import asyncio
import time
from collections import Counter
from typing import Any

from schemas.inbox import Arrived, InboxCommand, InboxMessage
from schemas.window import Session
from streams import metrics
from streams.delivery.stage import Assignment, Record
from streams.delivery.store import PartitionedStore
from streams.processing import ProcessingStage
from streams.settings import Settings
from streams.windows.partition import Closed, PartitionWindows
from topics.catalogue import INBOX, SCENES, SESSIONS
from topics.producer import Deliveries

LOG_APPEND_TIME = 1
"""`timestamp_type` of a record whose time the broker set."""


CHUNK = 500
"""Records after which others get a turn on the event loop: a tail that waits for three whole batches
at each of its steps lets the stage idle."""


class Windowing(ProcessingStage):
    name = "windowing"
    source = INBOX.name
    max_records = 2000

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.sessions: PartitionedStore[Session] = PartitionedStore(
            SESSIONS.name,
            settings.kafka.bootstrap_servers,
            encode=self.codec.encode,
            decode=lambda data: self.codec.decode(data, Session),
        )
        self._read = self.codec.reader(Arrived, InboxCommand)
        self._windows: dict[int, PartitionWindows] = {}

    async def assigned(self, assignment: Assignment) -> None:
        partition = assignment.partition
        sessions = await self.sessions.restore(partition)
        windows = self._windows[partition] = PartitionWindows(self.settings.windowing, partition)
        again = windows.restore(sessions.values(), assignment.position)
        self.sessions.drop(partition)  # the windows hold them from here on
        await self._emit(assignment, again)
        await super().assigned(assignment)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        started = time.perf_counter()
        windows = self._windows[assignment.partition]
        refused = self.producer.deliveries()
        closed: list[Closed] = []
        for start in range(0, len(records), CHUNK):
            closed += self._add(windows, records[start : start + CHUNK], refused)
            await asyncio.sleep(0)
        await self.tails.room(assignment.partition)

        async def emit() -> None:
            await refused.confirmed()
            await self._emit(assignment, closed)
            # Of the next batch, which may have been added meanwhile, only what its windows hold is known.
            self.done(assignment, windows.low_watermark(records[-1].offset + 1), len(records), started)

        self.tails.start(assignment.partition, emit())

    def _add(self, windows: PartitionWindows, records: list[Record], refused: Deliveries) -> list[Closed]:
        closed: list[Closed] = []
        for record in records:
            try:
                event: Any = self._read(record.value)
                appended_at = record.timestamp
                if record.timestamp_type != LOG_APPEND_TIME:  # the broker ignores what its topic asks for
                    whole: Any = self.codec.decode(record.value, InboxMessage, InboxCommand)
                    appended_at = whole.received_at
            except ValueError as error:
                self.dead_letter(refused, record, error)
                continue
            if isinstance(event, Arrived):
                closed += windows.add(record.offset, appended_at, event)
            else:
                closed += windows.end_session(record.offset, appended_at, event)
        return closed

    async def tick(self, assignment: Assignment) -> None:
        await super().tick(assignment)
        windows = self._windows[assignment.partition]
        # A worker that lags must not take a session for idle: the wall clock counts only where
        # there is nothing left to read.
        closed = windows.tick(int(time.time() * 1000) if assignment.caught_up else windows.partition_time)
        await self._emit(assignment, closed)
        spilled = windows.spill(assignment.read, int(time.monotonic() * 1000))
        await self._write(assignment, {each.scope.session_key(each.session_id): each for each in spilled})
        windows.spilled()
        assignment.mark(windows.low_watermark(assignment.read))
        metrics.OPEN_WINDOWS.labels(assignment.partition).set(windows.open_count)

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        self._windows.pop(partition, None)
        metrics.OPEN_WINDOWS.labels(partition).set(0)

    async def _emit(self, assignment: Assignment, closed: list[Closed]) -> None:
        if not closed:
            return
        # The last record of each session only: it holds the earlier cuts too.
        await self._write(assignment, {item.keys.session: item.session for item in closed if item.session is not None})
        windows = self._windows[assignment.partition]
        deliveries = self.producer.deliveries()
        emitted = [(item.keys.scope, self.codec.encode(item.window)) for item in closed]
        deliveries.send_all(SCENES.name, emitted, partition=assignment.partition)
        await deliveries.confirmed()
        for item in closed:
            windows.confirmed(item.window.window_id)
        for reason, number in Counter(item.window.close_reason for item in closed).items():
            metrics.WINDOWS.labels(reason).inc(number)
        for reason, number in Counter(each.reason for item in closed for each in item.window.filtered).items():
            metrics.FILTERED.labels(reason).inc(number)

    async def _write(self, assignment: Assignment, records: dict[bytes, Session]) -> None:
        if records:
            await assignment.require()
            deliveries = self.producer.deliveries()
            self.sessions.send(deliveries, assignment.partition, records)
            await deliveries.confirmed()


def __getattr__(name: str) -> Any:
    return Windowing.lazily(name)
