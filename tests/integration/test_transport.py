"""Stages on real brokers: delivery, commits, rebalances, failures, processes."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from streams import endpoints
from streams.delivery.ordered import OrderedExecution
from streams.delivery.stage import Assignment, Record, Stage
from streams.settings import Kafka, Settings
from streams.worker import StageCrashedError, run_stages
from tests.brokers import KafkaServer, create_topic, unique
from topics.producer import Producer

ROOT = Path(__file__).resolve().parents[2]


class Recorder(Stage):
    """Keeps what it was given, and marks it."""

    def __init__(self, source: str, name: str = "recorder") -> None:
        self.name = name
        self.source = source
        self.events: list[str] = []
        self.offsets: dict[int, list[int]] = defaultdict(list)
        self.assignments: dict[int, Assignment] = {}
        self.idle: set[int] = set()

    async def assigned(self, assignment: Assignment) -> None:
        self.events.append(f"assigned {assignment.partition}")
        await asyncio.sleep(0.05)
        self.assignments[assignment.partition] = assignment
        self.events.append(f"restored {assignment.partition}")

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        self.events.append(f"batch {assignment.partition}")
        self.offsets[assignment.partition] += [record.offset for record in records]
        assignment.mark(records[-1].offset + 1)

    async def tick(self, assignment: Assignment) -> None:
        if assignment.caught_up:
            self.idle.add(assignment.partition)

    async def revoked(self, partition: int) -> None:
        self.events.append(f"revoked {partition}")

    @property
    def count(self) -> int:
        return sum(len(offsets) for offsets in self.offsets.values())


class Stubborn(Recorder):
    """Never finishes a batch of partition 0."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.cancelled = 0

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        if assignment.partition == 0:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled += 1
        await super().batch(assignment, records)


class Failing(Recorder):
    """Raises at one offset, after it has marked what lies before."""

    def __init__(self, source: str, at: int) -> None:
        super().__init__(source, "failing")
        self.at = at

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        for record in records:
            if record.offset == self.at:
                raise ValueError(f"cannot do {record.offset}")
            self.offsets[assignment.partition].append(record.offset)
            assignment.mark(record.offset + 1)


class Concurrent(Recorder):
    """Runs each record's work through ordered execution; one raises."""

    def __init__(self, source: str, at: int) -> None:
        super().__init__(source, "concurrent")
        self.at = at
        self.ordered = OrderedExecution(8, 100)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        for record in records:
            await self.ordered.submit(assignment, record.offset, record.key or b"", self.work(record))

    async def revoked(self, partition: int) -> None:
        self.ordered.drop(partition)

    def work(self, record: Record) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await asyncio.sleep(0.01)
            if record.offset == self.at:
                raise ValueError(f"cannot do {record.offset}")

        return run


def settings(broker: str, prefix: str) -> Settings:
    return Settings(kafka=Kafka(bootstrap_servers=broker, group_prefix=prefix, commit_interval=0.2))


async def produce(broker: str, topic: str, counts: dict[int, int]) -> None:
    producer = Producer(broker)
    await producer.start()
    deliveries = producer.deliveries()
    for partition, count in counts.items():
        for number in range(count):
            deliveries.send(topic, key=b"key %d" % (number % 7), value=b"%d" % number, partition=partition)
    await deliveries.confirmed()
    await producer.stop()


async def until(condition: Callable[[], object], seconds: float = 40) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - looks at many things that tell nobody
            await asyncio.sleep(0.02)


@asynccontextmanager
async def running(configured: Settings, *stages: Stage) -> AsyncIterator[asyncio.Task[None]]:
    stopping = asyncio.Event()
    task = asyncio.create_task(run_stages(stages, configured, stopping))
    try:
        yield task
    finally:
        stopping.set()
        await asyncio.wait([task])
    await task


async def test_each_partition_is_restored_then_delivered_in_order_then_ticked(broker: str) -> None:
    topic = create_topic(broker, "source", partitions=3)
    await produce(broker, topic, {0: 3000, 1: 10})
    stage = Recorder(topic)
    async with running(settings(broker, unique("group")), stage):
        await until(lambda: stage.count == 3010 and stage.idle == {0, 1, 2})
        ahead = stage.assignments[0]
        assert (ahead.position, ahead.highwater, ahead.lag, ahead.committed) == (3000, 3000, 0, None)
    assert stage.offsets[0] == list(range(3000))
    assert stage.offsets[1] == list(range(10))
    for partition in (0, 1):
        mine = [event for event in stage.events if event.endswith(str(partition))]
        assert mine[:3] == [f"assigned {partition}", f"restored {partition}", f"batch {partition}"]
        assert mine[-1] == f"revoked {partition}"


async def test_what_was_marked_before_a_stop_is_committed(broker: str) -> None:
    topic = create_topic(broker, "source", partitions=2)
    group = settings(broker, unique("group"))
    await produce(broker, topic, {0: 700, 1: 5})
    first = Recorder(topic)
    async with running(group, first):
        await until(lambda: first.count == 705)
    await produce(broker, topic, {0: 3})
    second = Recorder(topic)
    async with running(group, second):
        await until(lambda: second.count and len(second.assignments) == 2)
        assert {p: a.committed for p, a in second.assignments.items()} == {0: 700, 1: 5}
        await until(lambda: second.count == 3)
    assert second.offsets[0] == [700, 701, 702]


async def test_a_partition_that_is_stuck_stalls_no_other(broker: str) -> None:
    topic = create_topic(broker, "source", partitions=3)
    await produce(broker, topic, {0: 20_000, 1: 20_000, 2: 20_000})
    stage = Stubborn(topic)
    async with running(settings(broker, unique("group")), stage):
        await until(lambda: stage.count == 40_000)
        assert stage.assignments[0].position == 0
        assert stage.assignments[0].read <= stage.max_records
    assert stage.cancelled == 1


async def test_a_batch_that_raises_takes_the_worker_down_and_comes_again(broker: str) -> None:
    topic = create_topic(broker, "source")
    group = settings(broker, unique("group"))
    await produce(broker, topic, {0: 600})
    failing = Failing(topic, at=550)
    with pytest.raises(StageCrashedError, match="failing: cannot do 550"):
        async with running(group, failing) as task:
            await until(task.done)
    repaired = Failing(topic, at=-1)
    async with running(group, repaired):
        await until(lambda: repaired.count == 50)
    assert repaired.offsets[0] == list(range(550, 600))


async def test_a_work_that_raises_takes_the_worker_down_and_comes_again(broker: str) -> None:
    topic = create_topic(broker, "source")
    group = settings(broker, unique("group"))
    await produce(broker, topic, {0: 60})
    with pytest.raises(StageCrashedError, match="concurrent: cannot do 33"):
        async with running(group, Concurrent(topic, at=33)) as task:
            await until(task.done)
    repaired = Concurrent(topic, at=-1)
    async with running(group, repaired):
        await until(lambda: 0 in repaired.assignments)
        assert (repaired.assignments[0].committed or 0) <= 33
        await until(lambda: repaired.assignments[0].position == 60)


async def test_a_second_worker_takes_over_half_and_nothing_is_skipped(broker: str) -> None:
    topic = create_topic(broker, "source", partitions=4)
    group = settings(broker, unique("group"))
    await produce(broker, topic, dict.fromkeys(range(4), 100))
    first, second = Recorder(topic), Recorder(topic)
    async with running(group, first):
        await until(lambda: first.count == 400)
        async with running(group, second):
            await until(lambda: len(second.assignments) == 2)
            await produce(broker, topic, dict.fromkeys(range(4), 100))
            await until(lambda: first.count + second.count >= 800)
            kept = set(range(4)) - set(second.assignments)
            assert all(not first_then.alive() for p, first_then in first.assignments.items() if p not in kept)
    for partition in range(4):
        seen = first.offsets[partition] + second.offsets[partition]
        assert sorted(set(seen)) == list(range(200))
        assert len(seen) == 200, "a rebalance in order repeats nothing"


async def test_a_worker_refuses_to_start_where_retention_was_faster_than_it(kafka: str) -> None:
    # Kafka's clients go on from the log start without a word: silent loss.
    topic = create_topic(kafka, "source", partitions=1)
    configured = settings(kafka, unique("group"))
    await produce(kafka, topic, {0: 10})
    stage = Recorder(topic)
    async with running(configured, stage):
        await until(lambda: stage.count == 10)
    await produce(kafka, topic, {0: 10})
    admin = AdminClient({"bootstrap.servers": kafka})
    for deleted in admin.delete_records([TopicPartition(topic, 0, 15)]).values():
        deleted.result(30)

    refusing = Recorder(topic)
    with pytest.raises(StageCrashedError, match="offsets 10 to 14 were deleted before recorder had read them"):
        async with running(configured, refusing) as task:
            await asyncio.wait([task], timeout=40)
    assert refusing.count == 0

    accepting = Recorder(topic)
    told = configured.kafka.model_copy(update={"accept_deleted": True})
    async with running(configured.model_copy(update={"kafka": told}), accepting):
        await until(lambda: accepting.count == 5)
    assert accepting.offsets[0] == list(range(15, 20))


class Restoring(Recorder):
    """Restores only when it is told to."""

    def __init__(self, source: str) -> None:
        super().__init__(source, "restoring")
        self.gate = asyncio.Event()

    async def assigned(self, assignment: Assignment) -> None:
        await self.gate.wait()
        await super().assigned(assignment)


async def ask(port: int, path: str) -> tuple[int, Any]:
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}{path}")
    return answer.status_code, answer.json()


async def until_ready(port: int, *, status: int = 200) -> dict[str, str]:
    async with asyncio.timeout(60):
        while True:
            answered, states = await ask(port, "/readyz")
            if answered == status:
                return dict(states)
            await asyncio.sleep(0.05)


async def test_a_worker_is_ready_once_its_partitions_are_restored(broker: str) -> None:
    port = endpoints.serve("127.0.0.1", 0)
    assert await ask(port, "/readyz") == (503, {}), "no stage runs yet"
    stage = Restoring(create_topic(broker, "source", partitions=2))
    async with running(settings(broker, unique("group")), stage):
        seen: list[str] = []
        while "restoring partitions 0, 1" not in seen:
            status, states = await ask(port, "/readyz")
            assert status == 503
            seen += states.values()
            await asyncio.sleep(0.02)
        assert set(seen[:-1]) <= {"waiting for the group"}
        assert await ask(port, "/healthz") == (200, {"alive": True}), "a restore may take long: nobody restarts it"
        stage.gate.set()
        assert await until_ready(port) == {"restoring": "ready"}
    assert await ask(port, "/readyz") == (503, {})


async def test_a_worker_whose_broker_is_silent_is_alive_and_not_ready(kafka_server: KafkaServer) -> None:
    port = endpoints.serve("127.0.0.1", 0)
    stage = Recorder(create_topic(kafka_server.bootstrap, "source"), "cut-off")
    async with running(settings(kafka_server.bootstrap, unique("group")), stage):
        await until_ready(port)
        kafka_server.freeze()
        try:
            assert await until_ready(port, status=503) == {"cut-off": "waiting for the broker"}
            assert await ask(port, "/healthz") == (200, {"alive": True})
        finally:
            kafka_server.thaw()
        await until_ready(port)


async def test_five_stages_run_in_one_loop(broker: str) -> None:
    topics = [create_topic(broker, "source", partitions=2) for _ in range(5)]
    stages = [Recorder(topic, f"stage{number}") for number, topic in enumerate(topics)]
    for topic in topics:
        await produce(broker, topic, {0: 50, 1: 50})
    async with running(settings(broker, unique("group")), *stages):
        await until(lambda: all(stage.count == 100 for stage in stages))


async def test_caught_up_is_not_said_while_the_broker_is_silent(kafka_server: KafkaServer) -> None:
    topic = create_topic(kafka_server.bootstrap, "source")
    stage = Recorder(topic)
    async with running(settings(kafka_server.bootstrap, unique("group")), stage):
        await until(lambda: stage.idle)
        kafka_server.freeze()
        try:
            await until(lambda: not stage.assignments[0].caught_up)
            granted = asyncio.create_task(stage.assignments[0].owns())
            done, _ = await asyncio.wait([granted], timeout=1)
            assert not done, "no heartbeat was answered within the lease"
            granted.cancel()
        finally:
            kafka_server.thaw()


STAGE_MODULE = """
import sys
from streams.delivery.app import build_app
from streams.settings import Kafka, Settings
from streams.delivery.stage import Stage
from streams.worker import run_worker

class Printing(Stage):
    name = "printing"
    source = {topic!r}
    async def batch(self, assignment, records):
        for record in records:
            if record.value == b"bad":
                raise ValueError("bad record")
            print("got", record.offset, flush=True, file=sys.__stdout__)  # Faust redirects the other
            assignment.mark(record.offset + 1)

settings = Settings(kafka=Kafka(bootstrap_servers={broker!r}, group_prefix={group!r}))

def __getattr__(name):
    if name != "app":
        raise AttributeError(name)
    return build_app(Printing(), settings)

if __name__ == "__main__":
    sys.exit(run_worker([Printing()], settings))
"""


class Processes:
    """Stage modules as processes of their own."""

    def __init__(self, folder: Path, broker: str, topic: str) -> None:
        self.folder = folder
        source = textwrap.dedent(STAGE_MODULE).format(topic=topic, broker=broker, group=unique("group"))
        (folder / "printing.py").write_text(source, "utf-8")

    def start(self, *command: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{self.folder}"}
        return subprocess.Popen(
            [sys.executable, *command], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True
        )

    def left_behind(self) -> set[str]:
        return {entry.name for entry in self.folder.iterdir()} - {"__pycache__"}


async def lines_of(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    found: list[str] = []
    while len(found) < count:
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), 40)
        assert line, f"the process ended with {process.wait()}"
        if line.startswith("got"):
            found.append(line.strip())
    return found


@pytest.mark.parametrize("command", [("printing.py",), ("-m", "faust", "-A", "printing", "worker", "-l", "warn")])
async def test_sigterm_commits_leaves_the_group_and_ends_with_0(
    kafka: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    topic = create_topic(kafka, "source")
    processes = Processes(tmp_path, kafka, topic)
    await produce(kafka, topic, {0: 3})
    first = processes.start(*command)
    assert await lines_of(first, 3) == ["got 0", "got 1", "got 2"]
    first.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(first.wait, 30) == 0
    await produce(kafka, topic, {0: 1})
    second = processes.start(*command)
    assert await lines_of(second, 1) == ["got 3"]
    second.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(second.wait, 30) == 0
    assert processes.left_behind() == {"printing.py"}, "Faust makes a data folder"


@pytest.mark.parametrize("command", [("printing.py",), ("-m", "faust", "-A", "printing", "worker", "-l", "warn")])
async def test_a_crash_ends_the_process_with_an_error(kafka: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    topic = create_topic(kafka, "source")
    producer = Producer(kafka)
    await producer.start()
    deliveries = producer.deliveries()
    deliveries.send(topic, key=None, value=b"bad")
    await deliveries.confirmed()
    await producer.stop()
    process = Processes(tmp_path, kafka, topic).start(*command)
    assert await asyncio.to_thread(process.wait, 40) != 0
