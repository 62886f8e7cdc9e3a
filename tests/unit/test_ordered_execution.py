"""Ordered execution, driven together with Faust's own acknowledgement and commit code."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from aiokafka import ConsumerRecord
from faust.types import TP
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from streams.delivery.app import StageApp, build_app
from streams.delivery.ordered import OrderedExecution, WorkCancelledError
from streams.delivery.stage import Assignment, Record, Stage
from streams.delivery.transport import BatchConsumer
from streams.settings import Kafka, Settings

T = TypeVar("T")

TOPIC = "source"
IN_FLIGHT = 3
BACKLOG = 6
TPS = [TP(TOPIC, partition) for partition in range(3)]


class WorkFailed(Exception):
    pass


class Broker:
    """What the broker knows: the log, and the group's committed offsets. It checks each commit."""

    def __init__(self) -> None:
        self.log: dict[TP, list[bytes]] = {tp: [] for tp in TPS}
        self.committed: dict[TP, int] = {}
        self.done: dict[TP, set[int]] = defaultdict(set)

    def commit(self, offsets: dict[TP, int]) -> None:
        for tp, offset in offsets.items():
            unfinished = set(range(offset)) - self.done[tp]
            assert not unfinished, f"{tp}: committed {offset} past unfinished {sorted(unfinished)}"
            assert offset >= self.committed.get(tp, 0), f"{tp}: the commit went back"
            self.committed[tp] = offset


class Thread:
    """In place of the consumer thread: the half of Faust's consumer that speaks to the broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.assigned: set[TP] = set()
        self.positions: dict[TP, int] = {}
        self.last_heartbeat = float("inf")

    def assignment(self) -> set[TP]:
        return self.assigned

    async def seek_to_committed(self) -> dict[TP, int | None]:
        # As aiokafka: without a committed offset a partition stays where it is, and here, as after a
        # fetch that began before the rebalance, that is past its records.
        self.positions = {tp: self.broker.committed.get(tp) or len(self.broker.log[tp]) for tp in self.assigned}
        return {tp: self.broker.committed.get(tp) for tp in self.assigned}

    async def seek_wait(self, offsets: dict[TP, int]) -> None:
        self.positions.update(offsets)

    async def earliest_offsets(self, *tps: TP) -> dict[TP, int]:
        return dict.fromkeys(tps, 0)

    async def commit(self, offsets: dict[TP, int]) -> bool:
        await asyncio.sleep(0)
        self.broker.commit(offsets)
        return True

    def highwater(self, tp: TP) -> int:
        return len(self.broker.log[tp])

    def end_offset(self, tp: TP) -> int:
        return len(self.broker.log[tp])

    async def getmany(self, active: set[TP], timeout: float) -> dict[TP, list[Record]]:
        assert active, "aiokafka takes an empty set for all partitions"
        fetched = {}
        for tp in sorted(active):
            start = self.positions[tp]
            keys = self.broker.log[tp][start:]
            self.positions[tp] = start + len(keys)
            if keys:
                fetched[tp] = [record(tp, start + i, key) for i, key in enumerate(keys)]
        return fetched


class Consumer(BatchConsumer):
    def _new_consumer_thread(self) -> Any:
        return Thread(self.app.broker)  # type: ignore[attr-defined]

    def add_dependency(self, service: Any) -> Any:
        return service  # nothing is started here


class Attempt:
    """One run of one record's work, as the test sees it from outside."""

    def __init__(self, assignment: Assignment, offset: int, key: bytes, *, stubborn: bool) -> None:
        self.assignment = assignment
        self.offset = offset
        self.key = key
        self.stubborn = stubborn
        self.gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Worker(Stage):
    """Every record's work waits for the test to end it; that of an odd offset resists cancellation."""

    name = "stage"
    source = TOPIC
    max_records = 4

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.ordered = OrderedExecution(IN_FLIGHT, BACKLOG)
        self.running: list[Attempt] = []
        self.finished: dict[Assignment, dict[bytes, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.assignments: list[Assignment] = []

    async def assigned(self, assignment: Assignment) -> None:
        self.assignments.append(assignment)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        for each in records:
            key = each.key or b""
            await self.ordered.submit(assignment, each.offset, key, self.work(assignment, each.offset, key))

    async def revoked(self, partition: int) -> None:
        self.ordered.drop(partition)

    def work(self, assignment: Assignment, offset: int, key: bytes) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            attempt = Attempt(assignment, offset, key, stubborn=offset % 2 == 1)
            self.check_order(attempt)
            self.running.append(attempt)
            try:
                await self.end_of(attempt)
            finally:
                self.running.remove(attempt)
            if assignment.alive():
                self.broker.done[assignment.tp].add(offset)
                self.finished[assignment][key].append(offset)

        return run

    async def end_of(self, attempt: Attempt) -> None:
        if not attempt.stubborn:
            await attempt.gate
            return
        while not attempt.gate.done():
            try:
                await asyncio.wait([attempt.gate])
            except asyncio.CancelledError:
                continue
        attempt.gate.result()

    def check_order(self, attempt: Attempt) -> None:
        tp, key = attempt.assignment.tp, attempt.key
        start = attempt.assignment.committed or 0
        wanted = [o for o in range(start, attempt.offset) if self.broker.log[tp][o] == key]
        assert self.finished[attempt.assignment][key] == wanted, f"{tp} {attempt.offset}: out of order for {key!r}"


@hypothesis_settings(max_examples=60, stateful_step_count=40, deadline=None)
class ConsumerAndOrderedExecution(RuleBasedStateMachine):
    """Random finish orders, failures, revocations and cancellations, on Faust's real commit path."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.broker = Broker()
        self.generation = 0
        self.crashes: list[BaseException] = []
        self.workers: list[Worker] = []
        self.start_process()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def settled() -> T:
            result = await work
            for _ in range(40):
                await asyncio.sleep(0)
            return result

        return self.loop.run_until_complete(settled())

    def start_process(self) -> None:
        self.worker = Worker(self.broker)
        self.workers.append(self.worker)
        self.app: StageApp = build_app(self.worker, Settings(kafka=Kafka(bootstrap_servers="127.0.0.1:1")))
        self.app.finalize()
        self.app.broker = self.broker  # type: ignore[attr-defined]
        self.app.transport.Consumer = Consumer  # type: ignore[misc]
        self.app.crash = self.crash  # type: ignore[method-assign]
        self.app.partitions._report = self.crash
        self.app._fetcher = SimpleNamespace(maybe_start=nothing)  # type: ignore[assignment]
        self.consumer: Any = self.app.consumer
        self.thread: Thread = cast(Any, self.consumer)._thread

    async def crash(self, reason: BaseException) -> None:
        self.crashes.append(reason)

    async def rebalance(self, assigned: set[TP], others: dict[TP, int]) -> None:
        """The order in which aiokafka's coordinator and Faust's recovery call, with no tables."""
        self.app.on_rebalance_start()
        await self.consumer.on_partitions_revoked(set(self.thread.assigned))
        self.generation += 1
        for tp, offset in others.items():  # what another worker did and committed meanwhile
            self.broker.done[tp].update(range(offset))
            self.broker.commit({tp: offset})
        self.thread.assigned = set(assigned)
        self.app.consumer_generation_id = self.generation
        await self.consumer.on_partitions_assigned(set(assigned), self.generation)
        recovery = cast(Any, self.app.tables).recovery
        recovery.signal_recovery_start.clear()
        await recovery._resume_streams(self.generation)

    async def fetch(self) -> None:
        if not self.thread.assigned:
            return  # Faust sleeps for a second
        async for tp, message in self.consumer.getmany(0.0):
            self.app.partitions.deliver(tp, message.generation_id, message.value)

    @initialize()
    def join(self) -> None:
        self.run(self.rebalance(set(TPS), {}))

    @rule(tp=st.sampled_from(TPS), keys=st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=6))
    def messages_arrive(self, tp: TP, keys: list[bytes]) -> None:
        self.broker.log[tp].extend(keys)
        self.run(self.fetch())

    @precondition(lambda self: self.worker.running)
    @rule(data=st.data())
    def a_work_finishes(self, data: st.DataObject) -> None:
        self.choose(data).gate.set_result(None)
        self.run(nothing())

    @precondition(lambda self: self.worker.running)
    @rule(data=st.data())
    def a_work_fails(self, data: st.DataObject) -> None:
        attempt = self.choose(data)
        alive = attempt.assignment.alive()
        attempt.gate.set_exception(WorkFailed())
        self.run(nothing())
        if alive:
            assert isinstance(attempt.assignment.failure, WorkFailed)
            assert self.crashes

    @precondition(lambda self: self.worker.running)
    @rule(data=st.data())
    def a_work_is_cancelled_from_within(self, data: st.DataObject) -> None:
        attempt = self.choose(data)
        alive = attempt.assignment.alive()
        attempt.gate.cancel()
        self.run(nothing())
        if alive:
            assert isinstance(attempt.assignment.failure, WorkCancelledError)

    @precondition(lambda self: self.worker.assignments)
    @rule(data=st.data())
    def a_late_result_is_marked(self, data: st.DataObject) -> None:
        """By code that kept an assignment over a revocation; while it is alive, only what is done counts."""
        assignments = self.worker.assignments
        assignment = assignments[data.draw(st.integers(0, len(assignments) - 1))]
        current = assignment in self.app.partitions.assignments
        assert assignment.alive() == (current and assignment.failure is None)
        if not assignment.alive():
            assert not assignment.mark(len(self.broker.log[assignment.tp]))

    @rule()
    def the_interval_commits(self) -> None:
        self.run(self.consumer.commit())

    @rule(kept=st.sets(st.sampled_from(TPS)), data=st.data())
    def the_group_rebalances(self, kept: set[TP], data: st.DataObject) -> None:
        lost = set(TPS) - self.thread.assigned
        progress = {
            tp: data.draw(st.integers(self.broker.committed.get(tp, 0), len(self.broker.log[tp]))) for tp in lost
        }
        others = {tp: offset for tp, offset in progress.items() if offset}
        self.run(self.rebalance(kept, others))
        self.run(self.fetch())

    @rule()
    def the_process_restarts(self) -> None:
        """What a supervisor does after a crash; in order, so with the last commit."""
        self.run(self.app.partitions.close())
        self.run(self.consumer.commit_and_end_transactions())
        self.crashes.clear()
        self.start_process()
        self.run(self.rebalance(set(TPS), {}))
        self.run(self.fetch())

    @invariant()
    def at_most_so_many_run(self) -> None:
        assert self.worker.ordered.running <= IN_FLIGHT

    @invariant()
    def nothing_unexpected_failed(self) -> None:
        assert all(isinstance(error, WorkFailed | WorkCancelledError) for error in self.crashes), self.crashes

    def teardown(self) -> None:
        """Once works succeed and nothing is taken away, everything is done and committed."""
        try:
            self.the_process_restarts()
            for _ in range(sum(len(keys) for keys in self.broker.log.values()) + 1):
                for attempt in list(self.worker.running):
                    attempt.gate.set_result(None)
                self.run(self.fetch())
            self.run(self.consumer.commit())
            ends = {tp: len(keys) for tp, keys in self.broker.log.items() if keys}
            assert {tp: self.broker.committed.get(tp) for tp in ends} == ends
        finally:
            for worker in self.workers:  # those that resisted their cancellation
                for attempt in list(worker.running):
                    attempt.gate.cancel()
            self.run(self.app.partitions.close())
            asyncio.set_event_loop(None)
            self.loop.close()

    def choose(self, data: st.DataObject) -> Attempt:
        index = data.draw(st.integers(0, len(self.worker.running) - 1))
        return self.worker.running[index]


TestConsumerAndOrderedExecution = ConsumerAndOrderedExecution.TestCase


async def nothing() -> None:
    return None


def record(tp: TP, offset: int, key: bytes) -> Record:
    made: Record = ConsumerRecord(tp.topic, tp.partition, offset, 0, 0, key, b"", None, 1, 0, ())
    return made
