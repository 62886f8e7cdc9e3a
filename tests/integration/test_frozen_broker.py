"""A broker that stands still in the middle: no offset is committed whose outcome is not on its topic."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Message

from schemas.candidates import Candidates
from schemas.codec import Codec
from schemas.inbox import InboxCommand, InboxMessage
from schemas.memory import DecisionRecord
from schemas.window import Session, Window
from streams.audit import account, gather
from streams.settings import Kafka, Settings, Sink
from tests.brokers import KafkaServer
from tests.workers import WorkerProcess, memweir, wait_until
from topics.catalogue import CANDIDATES, DECISIONS, INBOX, SCENES, SESSIONS
from topics.producer import Producer
from topics.publisher import publish_lines
from topics.reader import ReadError, committed, ends, read_topic

PARTITIONS = 4
FROZEN_SECONDS = 12.0
MESSAGES = 4_000
MORE = 1_000
CODEC = Codec()
Place = tuple[int, int]
Start = Callable[..., WorkerProcess]


@pytest.fixture
def environment(kafka_server: KafkaServer, tmp_path: Path) -> dict[str, str]:
    environment = {
        "MEMWEIR_KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
        "MEMWEIR_KAFKA_PARTITIONS": str(PARTITIONS),
        "MEMWEIR_KAFKA_COMMIT_INTERVAL": "0.1",
        "MEMWEIR_SINK_PATH": str(tmp_path / "lancedb"),
        "MEMWEIR_METRICS_PORT": "0",
        "MEMWEIR_WINDOWING_IDLE_SECONDS": "5",
    }
    assert memweir(environment, "topics", "apply").returncode == 0
    asyncio.run(_publish(kafka_server.bootstrap, 0, MESSAGES))
    return environment


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts a worker of the stages named; what is still running at the end is ended."""
    running: list[WorkerProcess] = []

    def start_(*stages: str) -> WorkerProcess:
        running.append(WorkerProcess(environment, tmp_path / f"worker-{len(running)}.log", stages))
        return running[-1]

    yield start_
    for worker in running:
        worker.end()


@pytest.mark.timeout(300)
def test_what_is_committed_around_a_frozen_broker_is_on_the_topics(
    kafka_server: KafkaServer, start: Start, tmp_path: Path
) -> None:
    servers = kafka_server.bootstrap
    intake = start("intake", "commands")
    wait_until(lambda: _count(servers, INBOX.name) == MESSAGES, "the messages in the inbox")
    assert intake.terminate() == 0

    # Windowing is fast: with all there is before it, it is in the middle of it.
    worker = start("windowing")
    wait_until(lambda: _count(servers, SCENES.name) > 0, "the first window")
    _freeze_and_kill(kafka_server, worker)
    assert _undone(servers) == [], "windowing died while the broker stood still"

    worker = start()
    wait_until(lambda: _count(servers, DECISIONS.name) > 100, "the first decisions")
    kafka_server.freeze()
    _stand_still(FROZEN_SECONDS)
    kafka_server.thaw()
    assert _undone(servers) == [], "the broker is back, the worker runs"
    worker.check()

    decided = _count(servers, DECISIONS.name)
    asyncio.run(_publish(servers, MESSAGES, MORE))
    wait_until(lambda: _count(servers, DECISIONS.name) > decided + 100, "more decisions")
    assert _undone(servers) == [], "the worker has gone on"
    _freeze_and_kill(kafka_server, worker)
    assert _undone(servers) == [], "all stages died while the broker stood still"

    worker = start()
    settings = Settings(
        kafka=Kafka(bootstrap_servers=servers, partitions=PARTITIONS), sink=Sink(path=tmp_path / "lancedb")
    )

    def settled() -> bool:
        worker.check()
        try:
            return account(gather(settings)).settled
        except ReadError:
            return False

    wait_until(settled, "all windows decided")
    assert _undone(servers) == []
    report = account(gather(settings))
    assert report.sound, report.examples
    assert report.in_windows == MESSAGES + MORE


async def _publish(servers: str, first: int, count: int) -> None:
    """`count` messages of 200 scopes, numbered from `first`."""
    lines = (
        json.dumps({"scope_id": f"user-{n % 200}", "message_id": n, "speaker": "Lin", "content": f"I love dish {n}."})
        for n in range(first, first + count)
    )
    producer = Producer(servers)
    await producer.start()
    await publish_lines((line.encode() for line in lines), producer)
    await producer.stop()


def _count(servers: str, topic: str) -> int:
    return sum(ends(servers, topic).values())


def _freeze_and_kill(broker: KafkaServer, worker: WorkerProcess) -> None:
    broker.freeze()
    _stand_still(1.0)
    worker.kill()
    broker.thaw()


def _stand_still(seconds: float) -> None:
    # How long a broker is away is the input of this test, not a wait for something.
    threading.Event().wait(seconds)


def _undone(servers: str) -> list[str]:
    """Committed offsets whose outcome is on no topic. The offsets are read first: what comes later cannot excuse."""
    resolution = _committed(servers, "memweir-resolution", CANDIDATES.name)
    windowing = _committed(servers, "memweir-windowing", INBOX.name)
    decided = {CODEC.decode(m.value(), DecisionRecord).window_id for m in read_topic(servers, DECISIONS.name)}
    candidates = {_place(m): CODEC.decode(m.value(), Candidates) for m in read_topic(servers, CANDIDATES.name)}
    undecided = [
        f"candidates {partition}:{offset} of window {found.window_id} have no decision"
        for (partition, offset), found in candidates.items()
        if offset < resolution[partition] and found.window_id not in decided
    ]
    held = _in_windows(servers) | _in_sessions(servers)
    inbox = {_place(m): CODEC.decode(m.value(), InboxMessage, InboxCommand) for m in read_topic(servers, INBOX.name)}
    unwindowed = [
        f"inbox {partition}:{offset} is in no window and no session record"
        for (partition, offset), event in inbox.items()
        if offset < windowing[partition] and isinstance(event, InboxMessage) and (partition, offset) not in held
    ]
    return undecided + unwindowed


def _committed(servers: str, group: str, topic: str) -> dict[int, int]:
    answers: list[dict[int, int]] = []

    def answered() -> bool:
        try:
            answers.append(committed(servers, group, topic))
        except ReadError:  # a broker that was thawed a moment ago finds its coordinators again
            return False
        return True

    wait_until(answered, f"committed offsets of {group}")
    return answers[0]


def _in_windows(servers: str) -> set[Place]:
    held: set[Place] = set()
    for message in read_topic(servers, SCENES.name):
        window = CODEC.decode(message.value(), Window)
        offsets = [turn.offset for turn in window.turns] + [item.offset for item in window.filtered]
        held |= {(window.partition, offset) for offset in offsets}
    return held


def _in_sessions(servers: str) -> set[Place]:
    """What the last record of each session holds of an open window."""
    held: set[Place] = set()
    for message in {m.key(): m for m in read_topic(servers, SESSIONS.name)}.values():
        session = CODEC.decode(message.value(), Session)
        offsets = [turn.offset for turn in session.spilled] + [item.offset for item in session.spilled_filtered]
        held |= {(_place(message)[0], offset) for offset in offsets}
    return held


def _place(message: Message) -> Place:
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    return partition, offset
