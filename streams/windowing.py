"""Windowing: the inbox, cut into windows. A cut is on its topic before its window is sent.

Open windows live in memory and are held by uncommitted inbox offsets: after a crash the inbox is
read again from there, recorded cuts are re-emitted as they were, and open windows go on.
"""

import time
from collections import Counter
from typing import Any

from schemas.inbox import Arrived, InboxCommand, InboxMessage
from schemas.window import Session
from streams import metrics
from streams.delivery.stage import Assignment, Record
from streams.delivery.store import PartitionedStore
from streams.headers import APPENDED_AT, millis
from streams.processing import ProcessingStage
from streams.settings import Settings
from streams.windows.partition import Closed, PartitionWindows
from topics.catalogue import INBOX, SCENES, SESSIONS

LOG_APPEND_TIME = 1
"""`timestamp_type` of a record whose time the broker set."""


class Windowing(ProcessingStage):
    name = "windowing"
    source = INBOX.name
    max_records = 1000

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.sessions: PartitionedStore[Session] = PartitionedStore(
            SESSIONS.name,
            settings.kafka.bootstrap_servers,
            encode=self.codec.encode,
            decode=lambda data: self.codec.decode(data, Session),
        )
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
        for record in records:
            try:
                event: Any = self.codec.decode(record.value, Arrived, InboxCommand)
            except ValueError as error:
                self.dead_letter(refused, record, error)
                continue
            appended_at = record.timestamp
            if record.timestamp_type != LOG_APPEND_TIME:  # the broker ignores what its topic asks for
                whole: Any = self.codec.decode(record.value, InboxMessage, InboxCommand)
                appended_at = whole.received_at
            if isinstance(event, Arrived):
                closed += windows.add(record.offset, appended_at, event)
            else:
                closed += windows.end_session(record.offset, appended_at, event)
        await refused.confirmed()
        await self._emit(assignment, closed)
        self.done(assignment, windows.low_watermark(assignment.read), len(records), started)

    async def tick(self, assignment: Assignment) -> None:
        await super().tick(assignment)
        windows = self._windows[assignment.partition]
        # A worker that lags must not take a session for idle: the wall clock counts only where
        # there is nothing left to read.
        closed = windows.tick(int(time.time() * 1000) if assignment.caught_up else windows.partition_time)
        await self._emit(assignment, closed)
        await self._write(assignment, windows.spill(assignment.read, int(time.monotonic() * 1000)))
        windows.spilled()
        assignment.mark(windows.low_watermark(assignment.read))
        metrics.OPEN_WINDOWS.labels(assignment.partition).set(windows.open_count)
        for reason, number in windows.stripped.items():
            metrics.STRIPPED.labels(reason).inc(number)
        windows.stripped.clear()

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        self._windows.pop(partition, None)
        metrics.OPEN_WINDOWS.labels(partition).set(0)

    async def _emit(self, assignment: Assignment, closed: list[Closed]) -> None:
        if not closed:
            return
        await self._write(assignment, [item.session for item in closed if item.session is not None])
        windows = self._windows[assignment.partition]
        # All encoded before the first is sent: the client's thread wakes for each that trickles in.
        values = [self.codec.encode(item.window) for item in closed]
        deliveries = self.producer.deliveries()
        for (_, window), value in zip(closed, values, strict=True):
            appended_at = max((turn.appended_at for turn in window.turns), default=window.closed_at)
            deliveries.send(
                SCENES.name,
                key=window.scope.key,
                value=value,
                partition=assignment.partition,
                headers=[(APPENDED_AT, millis(appended_at))],
            )
        await deliveries.confirmed()
        for item in closed:
            windows.confirmed(item.window.window_id)
        for reason, number in Counter(item.window.close_reason for item in closed).items():
            metrics.WINDOWS.labels(reason).inc(number)
        for reason, number in Counter(each.reason for item in closed for each in item.window.filtered).items():
            metrics.FILTERED.labels(reason).inc(number)

    async def _write(self, assignment: Assignment, sessions: list[Session]) -> None:
        """Write session records, the last of each session only: it holds the earlier cuts too."""
        if not sessions:
            return
        latest = {session.scope.session_key(session.session_id): session for session in sessions}
        await assignment.require()
        deliveries = self.producer.deliveries()
        self.sessions.send(deliveries, assignment.partition, dict(latest))
        await deliveries.confirmed()


def __getattr__(name: str) -> Any:
    return Windowing.lazily(name)
