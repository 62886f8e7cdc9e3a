"""A broker that stands still in the middle: no offset is committed whose outcome is not on its topic."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

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
from topics.reader import ReadError, committed, ends, lag, read_topic

PARTITIONS = 4
FROZEN_SECONDS = 12.0
MESSAGES = 12_000
CODEC = Codec()
Place = tuple[int, int]


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
    lines = (
        json.dumps({"scope_id": f"user-{n % 200}", "message_id": n, "speaker": "Lin", "content": f"I love dish {n}."})
        for n in range(MESSAGES)
    )
    assert memweir(environment, "publish", "-", text="\n".join(lines)).returncode == 0
    return environment


@pytest.fixture
def workers(environment: dict[str, str], tmp_path: Path) -> Iterator[list[WorkerProcess]]:
    """One worker of all stages. A test may add to the list; what is in it is ended."""
    running = [WorkerProcess(environment, tmp_path / "worker-0.log")]
    yield running
    for worker in running:
        worker.end()


@pytest.mark.timeout(300)
def test_what_is_committed_around_a_frozen_broker_is_on_the_topics(
    kafka_server: KafkaServer, environment: dict[str, str], workers: list[WorkerProcess], tmp_path: Path
) -> None:
    servers = kafka_server.bootstrap
    (worker,) = workers
    _wait_for_decisions(servers, 100)
    kafka_server.freeze()
    _stand_still(FROZEN_SECONDS)
    kafka_server.thaw()
    before = _undone(servers)
    assert before == [], "the broker is back, the worker runs"
    worker.check()

    _wait_for_decisions(servers, sum(ends(servers, DECISIONS.name).values()) + 100)
    assert _undone(servers) == [], "the worker has gone on"
    assert lag(servers, "memweir-resolution", CANDIDATES.name) or lag(servers, "memweir-windowing", INBOX.name), (
        "there is nothing left to be in the middle of: publish more"
    )
    kafka_server.freeze()
    _stand_still(1.0)
    worker.kill()
    kafka_server.thaw()
    assert _undone(servers) == [], "the worker died while the broker stood still"

    workers.append(WorkerProcess(environment, tmp_path / "worker-1.log"))
    settings = Settings(
        kafka=Kafka(bootstrap_servers=servers, partitions=PARTITIONS), sink=Sink(path=tmp_path / "lancedb")
    )

    def settled() -> bool:
        workers[-1].check()
        try:
            return account(gather(settings)).settled
        except ReadError:
            return False

    wait_until(settled, "all windows decided")
    assert _undone(servers) == []
    report = account(gather(settings))
    assert report.sound, report.examples
    assert report.accepted == MESSAGES


def _wait_for_decisions(servers: str, count: int) -> None:
    wait_until(lambda: sum(ends(servers, DECISIONS.name).values()) >= count, f"{count} decisions")


def _stand_still(seconds: float) -> None:
    # How long a broker is away is the input of this test, not a wait for something.
    threading.Event().wait(seconds)


def _undone(servers: str) -> list[str]:
    """Committed offsets whose outcome is on no topic. The offsets are read first: what comes later cannot excuse."""
    resolution = committed(servers, "memweir-resolution", CANDIDATES.name)
    windowing = committed(servers, "memweir-windowing", INBOX.name)
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


def _in_windows(servers: str) -> set[Place]:
    windows = [CODEC.decode(m.value(), Window) for m in read_topic(servers, SCENES.name)]
    return {(window.partition, item.offset) for window in windows for item in (*window.turns, *window.filtered)}


def _in_sessions(servers: str) -> set[Place]:
    """What the last record of each session holds of an open window."""
    latest = {m.key(): m for m in read_topic(servers, SESSIONS.name)}
    held: set[Place] = set()
    for message in latest.values():
        session = CODEC.decode(message.value(), Session)
        held |= {(message.partition(), item.offset) for item in (*session.spilled, *session.spilled_filtered)}
    return held


def _place(message: object) -> Place:
    return message.partition(), message.offset()
