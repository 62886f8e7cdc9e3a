"""A worker dies in the middle, another takes over: nothing is lost, nothing doubled, nothing differs."""

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.chat import Command
from schemas.memory import Memory
from schemas.scope import Scope
from sinks.tables import MemoryTables
from streams.audit import Report, account, gather
from streams.settings import Kafka, Settings
from streams.strategies import DIMENSIONS
from tests.brokers import KafkaServer
from tests.oracle import ANY_TIME, expected_memories, recorded_windows
from tests.workers import WorkerProcess, memweir, wait_until
from topics.catalogue import CHAT_MESSAGES, COMMANDS, DECISIONS
from topics.partitioning import partition_of
from topics.producer import Producer
from topics.reader import ReadError, ends, lag

PARTITIONS = 4
SCOPES = 200
MESSAGES = 5_000

SAID = (
    "I live in {city}.", "I moved to {city}.", "I work as a {job}.", "I love {food}.", "I don't like {food}.",
    "My sister is called {name}.", "我住在{zh_city}。", "我喜欢{zh_food}。", "ok", "haha, see you", "What time is it?",
    "From now on, answer in short sentences.",
)  # fmt: skip
WORDS = {
    "city": ["Oslo", "Bergen", "Lisbon", "Kyoto"],
    "job": ["nurse", "welder", "teacher"],
    "food": ["oat milk", "ramen", "olives", "mango"],
    "name": ["Ada", "Mina", "Ruth"],
    "zh_city": ["杭州", "成都", "西安"],
    "zh_food": ["火锅", "绿茶", "爬山"],
}


@pytest.fixture
def environment(kafka_server: KafkaServer, tmp_path: Path) -> dict[str, str]:
    return {
        "MEMWEIR_KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
        "MEMWEIR_KAFKA_PARTITIONS": str(PARTITIONS),
        "MEMWEIR_SINK_PATH": str(tmp_path / "lancedb"),
        "MEMWEIR_METRICS_PORT": "0",
    }


@pytest.fixture
def workers(environment: dict[str, str], tmp_path: Path) -> Iterator[list[WorkerProcess]]:
    """Two workers of every stage. A test may add to the list; what is in it is ended."""
    assert memweir(environment, "topics", "apply").returncode == 0
    running = [WorkerProcess(environment, tmp_path / f"worker-{number}.log") for number in range(2)]
    yield running
    for worker in running:
        worker.end()


@pytest.mark.timeout(400)
def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(
    kafka_server: KafkaServer, environment: dict[str, str], workers: list[WorkerProcess], tmp_path: Path
) -> None:
    servers = kafka_server.bootstrap
    settings = _settings(environment)
    lines = _chat(random.Random(3))
    half = len(lines) // 2
    assert memweir(environment, "publish", "-", text="\n".join(lines[:half])).returncode == 0
    wait_until(lambda: sum(ends(servers, DECISIONS.name).values()) > 100, "the first hundred decisions")

    workers[0].kill()
    workers.append(WorkerProcess(environment, tmp_path / "worker-2.log"))
    assert memweir(environment, "publish", "-", text="\n".join(lines[half:])).returncode == 0
    wait_until(lambda: lag(servers, "memweir-intake", CHAT_MESSAGES.name) == 0, "every message in the inbox")
    asyncio.run(_end_sessions(servers))

    report = _settle(settings, workers[1:])
    assert report.sound, report.examples
    assert report.accepted >= MESSAGES
    assert report.in_windows + report.filtered + report.dead_letters == report.accepted
    assert report.windows == report.decided > 500

    expected = expected_memories(recorded_windows(servers))
    assert sum(map(len, expected.values())) > 500
    found = asyncio.run(_found(settings, sorted(expected)))
    for scope, memories in expected.items():
        assert found[scope] == {id_: _timeless(memory) for id_, memory in memories.items()}, scope


def _chat(chance: random.Random) -> list[str]:
    """25 messages of each scope, in turns; the same ids and names in both tenants."""
    lines = []
    for number in range(MESSAGES):
        scope = number % SCOPES
        text = chance.choice(SAID).format(**{name: chance.choice(words) for name, words in WORDS.items()})
        message = {
            "tenant": ("acme", "hua")[scope % 2],
            "scope_id": f"user-{scope // 2}",
            "message_id": f"m{number // SCOPES}",
            "role": "assistant" if chance.random() < 0.2 else "user",
            "speaker": f"P{scope // 2}",
            "content": text,
            "sent_at": 1_750_000_000_000 + number * 1_000 + chance.randrange(-5_000, 5_000),
        }
        lines.append(json.dumps(message, ensure_ascii=False))
    return lines


async def _end_sessions(servers: str) -> None:
    producer = Producer(servers)
    await producer.start()
    deliveries = producer.deliveries()
    for scope in range(SCOPES):
        command = Command("end-session", f"user-{scope // 2}", ("acme", "hua")[scope % 2])
        deliveries.send(COMMANDS.name, key=None, value=msgspec.json.encode(command))
    await deliveries.confirmed()
    await producer.stop()


def _settle(settings: Settings, workers: list[WorkerProcess]) -> Report:
    reports: list[Report] = []

    def settled() -> bool:
        for worker in workers:
            worker.check()
        try:
            reports.append(account(gather(settings)))
            servers = settings.kafka.bootstrap_servers
            return reports[-1].settled and lag(servers, "memweir-sink", DECISIONS.name) == 0
        except ReadError:
            return False

    wait_until(settled, f"every window decided and written; last account: {reports[-1:]}", 180)
    return reports[-1]


async def _found(settings: Settings, scopes: list[Scope]) -> dict[Scope, dict[str, Memory]]:
    tables = MemoryTables(settings.sink.path, DIMENSIONS, PARTITIONS)
    try:
        return {
            scope: {
                memory.memory_id: _timeless(memory)
                for memory in await tables.read(partition_of(scope.key, PARTITIONS), scope, include_superseded=True)
            }
            for scope in scopes
        }
    finally:
        tables.close()


def _timeless(memory: Memory) -> Memory:
    # Vectors are left out: batches of other sizes round their last bits differently.
    return replace(memory, created_at=ANY_TIME, decided_at=ANY_TIME, vector=b"")


def _settings(environment: dict[str, str]) -> Settings:
    return Settings(
        kafka=Kafka(bootstrap_servers=environment["MEMWEIR_KAFKA_BOOTSTRAP_SERVERS"], partitions=PARTITIONS),
    ).model_copy(update={"sink": Settings().sink.model_copy(update={"path": Path(environment["MEMWEIR_SINK_PATH"])})})
