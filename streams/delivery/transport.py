# ruff: noqa: SLF001 - the overrides are of private methods, and so are the fields that they read
"""Batches, watermark commits and fencing for Faust 0.15.3 on aiokafka 0.14, by subclassing.

Every override names the failure of the stock code that it prevents. Both libraries are pinned:
tests/unit/test_ordered_execution.py and tests/integration/test_transport.py notice a change in them.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Protocol, cast

from aiokafka import TopicPartition
from faust.topics import Topic
from faust.transport.consumer import RecordMap
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, AppT, EventT, Message
from faust.types.transports import TPorTopicSet
from faust.types.tuples import ConsumerMessage
from mode import Service
from yarl import URL

from streams.delivery.stage import Record

BATCH_RECORDS = 2000
"""The most records in one event; a fetch of many is cut, so that partitions take turns."""

FETCH_WAIT_MS = 50
HELD_POLL_SECONDS = 0.02
POLL_SECONDS = 0.25  # a rebalance waits for a poll to end
FRESH_SECONDS = 5.0
LEASE_SHARE = 0.7


class Listener(Protocol):
    """Who is told about partitions, on the app's event loop."""

    def on_assigned(self, tp: TP, generation: int, committed: int | None, earliest: int) -> None:
        """The partition is ours and will deliver from `committed`, or from `earliest` without one."""

    async def on_revoked(self, revoked: set[TP]) -> None:
        """The partitions are leaving: end what runs for them. Their marks are committed afterwards."""


class BatchTopic(Topic):
    """A topic whose events carry a list of records of one partition, in offset order.

    Construct it directly: `App.topic` drops `maxsize`. The size is out of reach on purpose: all
    partitions share Faust's stream buffer, so backpressure from it would let one slow partition
    stall the rest. `BatchConsumer.hold` does it for one partition alone.
    """

    def __init__(self, app: AppT, **options: Any) -> None:  # Faust clones a topic through its constructor
        super().__init__(app, **{**options, "acks": False, "maxsize": 1_000_000})

    def _compile_decode(self) -> None:
        create_event = self.app.create_event

        async def decode(message: Message, *, propagate: bool = False) -> EventT[Any]:  # noqa: ARG001 - Faust's
            return create_event(None, message.value, None, message)

        # The stock decoder takes a key and a value apart, and swallows what it cannot decode.
        self.decode = decode  # type: ignore[method-assign]


class BatchConsumerThread(driver.AIOKafkaConsumerThread):
    """The broker-facing half, in a thread and event loop of its own."""

    last_heartbeat = 0.0
    """When the latest heartbeat that the broker answered was sent (monotonic seconds)."""

    def _create_worker_consumer(self, transport: driver.Transport) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # Stock: 1,500 ms. aiokafka keeps one fetch in flight a broker, so the long poll for idle
        # partitions keeps a busy one waiting for as long.
        consumer._fetch_max_wait_ms = FETCH_WAIT_MS
        return consumer

    async def on_start(self) -> None:
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator
        heartbeat: Callable[[], Awaitable[bool]] = coordinator._do_heartbeat

        async def do_heartbeat() -> bool:
            sent = time.monotonic()
            answered = await heartbeat()
            if answered:
                self.last_heartbeat = sent
            return answered

        coordinator._do_heartbeat = do_heartbeat

    def end_offset(self, tp: TP) -> int | None:
        """The high watermark, if a fetch of this partition was answered lately."""
        assignment = self._ensure_consumer()._subscription.subscription.assignment
        state = assignment._tp_state.get(TopicPartition(*tp)) if assignment is not None else None
        if state is None or state.highwater is None or state.timestamp is None:
            return None
        if time.time() - state.timestamp / 1000 > FRESH_SECONDS:
            return None
        return int(state.highwater)


class BatchConsumer(driver.Consumer):
    """Faust's consumer with batches for messages and one watermark a partition for acks."""

    _thread: BatchConsumerThread

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._marks: dict[TP, int] = {}
        self._next: dict[TP, int] = {}
        self._held: set[TP] = set()
        self._leaving = False
        self.joined = False
        self._seek_generation: int | None = None
        self._fetch_generation: int | None = None
        self._fetching = asyncio.Lock()
        super().__init__(*args, **kwargs)
        self._listener: Listener = cast(BatchTransport, self.transport).listener

    def _new_consumer_thread(self) -> BatchConsumerThread:
        return BatchConsumerThread(self, loop=self.loop, beacon=self.beacon)

    # -- delivery

    async def perform_seek(self) -> None:
        # Two rebalances close together: the seek of the first may end while the second revokes, and
        # must open nothing then.
        generation = self.app.consumer_generation_id
        # A fetch that began before the rebalance may end after the seek, with records from the new
        # position. As stale ones they are dropped, and the position has moved past them: 619 messages
        # were lost so in one run of tests/integration/test_crash.py. So the two exclude each other.
        async with self._fetching:
            await super().perform_seek()
            assigned = self.assignment()
            earliest = await self.earliest_offsets(*assigned)
            if self._leaving or generation != self.app.consumer_generation_id or self.app.should_stop:
                return
            committed = {tp: self._read_offset[tp] for tp in assigned}
            start = {tp: max(committed[tp] or 0, earliest[tp]) for tp in assigned}
            # Stock leaves a partition without a committed offset where it is, and such a fetch has
            # moved it too: everything of it that is still open would be lost.
            await self.seek_wait(start)
            if self._leaving or generation != self.app.consumer_generation_id:
                return
            self._next = start
            self._seek_generation = generation
            for tp in sorted(assigned):
                self._listener.on_assigned(tp, generation, committed[tp], earliest[tp])

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> RecordMap:
        async with self._fetching:
            generation = self.app.consumer_generation_id
            # Faust resumes partitions first, then seeks, then clears the stream buffers: what is
            # fetched in between comes twice or is lost. So nothing is fetched until that is over.
            if not self.app.rebalancing and self._seek_generation == generation:
                wanted = (active_partitions or set()) & self._next.keys() - self._held
                if wanted:
                    self._fetch_generation = generation
                    # A held partition may have room again before anything arrives for the others.
                    return await super()._getmany(
                        wanted, HELD_POLL_SECONDS if self._held else min(timeout, POLL_SECONDS)
                    )
        await asyncio.sleep(HELD_POLL_SECONDS)  # aiokafka takes an empty set for "all"
        return {}

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:
        # Stock: one message a record, each of which costs the drain loop four tasks. It also seeks
        # when records come while the flow is stopped, here and now, in whatever generation; the
        # rebalance that stopped the flow seeks anyway.
        fetched, _ = await self._wait_next_records(timeout)
        generation = self._fetch_generation
        if not fetched:
            return
        queues = [list(self._batches(tp, records)) for tp, records in fetched.items() if tp in self._next]
        for turn in zip_longest(*queues):
            for tp, records in filter(None, turn):
                if self.should_stop or not self.flow_active or generation != self.app.consumer_generation_id:
                    return
                self._next[tp] = records[-1].offset + 1
                self.app.monitor.track_tp_end_offset(tp, self.highwater(tp))
                yield tp, _message(tp, records, generation)

    def _batches(self, tp: TP, records: Sequence[Record]) -> Iterator[tuple[TP, Sequence[Record]]]:
        # aiokafka may hand out again what it held before a seek.
        expected = self._next[tp]
        if records[0].offset < expected:
            records = [record for record in records if record.offset >= expected]
        for start in range(0, len(records), BATCH_RECORDS):
            yield tp, records[start : start + BATCH_RECORDS]

    def hold(self, tp: TP, *, full: bool) -> None:
        """Stop fetching a partition that has enough to do, or go on; the others are not touched."""
        if full:
            self._held.add(tp)
        else:
            self._held.discard(tp)

    # -- what an Assignment asks

    def holds(self, tp: TP, generation: int) -> bool:
        return generation == self.app.consumer_generation_id and tp in self._next

    def mark(self, tp: TP, next_offset: int, generation: int) -> bool:
        """All offsets below `next_offset` are done. False: the partition was revoked since."""
        if not self.holds(tp, generation):
            return False
        if next_offset > self._marks.get(tp, -1):
            self._marks[tp] = next_offset
        return True

    async def owns(self, tp: TP, generation: int) -> bool:
        """Wait for a lease: a heartbeat that the broker answered within most of a session.

        Revocation doesn't reach a process that is stopped. Going on after its session, it would
        write what another worker writes already, until its next heartbeat tells.
        """
        lease = self.app.conf.broker_session_timeout * LEASE_SHARE
        while self.holds(tp, generation):
            if time.monotonic() - self._thread.last_heartbeat < lease:
                return True
            await asyncio.sleep(0.05)
        return False

    def heard_lately(self) -> bool:
        """Whether the group's coordinator has answered a heartbeat within a session."""
        silent = time.monotonic() - self._thread.last_heartbeat
        return silent < float(self.app.conf.broker_session_timeout)

    def end_of(self, tp: TP) -> int | None:
        return self._thread.end_offset(tp)

    # -- commits

    def _filter_tps_with_pending_acks(self, topics: TPorTopicSet | None = None) -> Iterator[TP]:
        for tp in list(self._marks):
            if topics is None or tp in topics or tp.topic in topics:
                yield tp

    def _new_offset(self, tp: TP) -> int | None:
        # Stock: acks out of order make it commit past a message that is not done.
        return self._marks.get(tp)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        if self.app.should_stop:
            return  # stock closes the client from the wrong event loop
        self._leaving = False
        self._thread.last_heartbeat = time.monotonic()
        await super().on_partitions_assigned(assigned, generation_id)
        self.joined = True

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        # Stock forgets pending acks before its last commit, and leaves tasks in flight running:
        # up to 2,000 messages come again, and dozens of records are written by who no longer owns.
        if self.app.should_stop:
            return  # `on_stop` ends what runs and commits
        self._leaving = True
        if revoked:  # what is fetched from now on would only be dropped
            self.stop_flow()
            self.app.flow_control.suspend()
        limit = self.app.conf.broker_session_timeout / 2
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listener.on_revoked(revoked), limit)
        try:
            await asyncio.wait_for(self.commit_marks(), limit)
        except TimeoutError:
            self.log.warning("the commit before the revocation timed out: what it held comes again")
        for tp in revoked:
            self._marks.pop(tp, None)
            self._next.pop(tp, None)
            self._held.discard(tp)
        await super().on_partitions_revoked(revoked)

    async def commit_and_end_transactions(self) -> None:
        # Stock, when stopping: does nothing where a commit is under way that doesn't hold it all, and
        # waits for ever for a thread that a crash has ended.
        if not cast(Service, self.app).crashed:
            await self.commit_marks()

    async def commit_marks(self) -> None:
        """Commit what is marked now. Waits while the broker is away."""
        await self.maybe_wait_for_commit_to_finish()
        await self.commit()


class BatchTransport(driver.Transport):
    """Faust's aiokafka transport with our consumer. Assign it to `app.transport`."""

    Consumer = BatchConsumer

    def __init__(self, url: list[URL], app: AppT, listener: Listener) -> None:
        super().__init__(url, app)
        self.listener = listener


def _message(tp: TP, records: Sequence[Record], generation: int | None) -> Message:
    last = records[-1]
    return ConsumerMessage(
        tp.topic,
        tp.partition,
        last.offset,
        last.timestamp / 1000,
        last.timestamp_type,
        None,
        None,
        cast(Any, records),
        None,
        0,
        len(records),
        tp,
        generation_id=generation or 0,
    )
