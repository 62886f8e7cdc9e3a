"""All stages in this process on a given broker, and eyes on every topic.

The topics have fixed names: give each pipeline a broker of its own, and each test its own tenant.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord

from schemas.chat import ChatMessage, Command
from schemas.codec import Codec, UndecodableError
from schemas.inbox import InboxCommand, InboxMessage
from schemas.memory import DecisionRecord, Memory, MemoryChanged
from schemas.scope import Scope, Scoped
from schemas.window import Window
from sinks.tables import MemoryTables
from streams.changes import events_of
from streams.extraction import ExtractionStage
from streams.roster import stages
from streams.settings import Kafka, Metrics, Settings, Sink, Windowing
from streams.strategies import DIMENSIONS
from streams.windowing import Windowing as WindowingStage
from streams.worker import run_stages
from topics import provisioning
from topics.catalogue import CANDIDATES, CHANGES, CHAT_MESSAGES, COMMANDS, DECISIONS, DLQ, INBOX, SCENES
from topics.dead_letters import PREFIX, origin
from topics.partitioning import partition_of
from topics.producer import Producer
from topics.publisher import publish_file
from topics.reader import ends

PARTITIONS = 3
SECONDS = 60.0
POLL_SECONDS = 0.02
GIVEN = (CHAT_MESSAGES.name, COMMANDS.name)
OURS = {topic.name: topic.events for topic in (INBOX, SCENES, CANDIDATES, DECISIONS, CHANGES)}

Place = tuple[str, tuple[int, int]]
"""Topic, and partition and offset."""
T = TypeVar("T", bound=Scoped)

on_embedded = pytest.mark.parametrize("own_broker", ["embedded"], indirect=True)
"""For a test of a module on `own_broker` that need not run on Apache Kafka too."""


def message(tenant: str, content: object, **fields: Any) -> dict[str, Any]:
    """A gateway's message of the user `lin`."""
    return {"tenant": tenant, "scope_id": "lin", "speaker": "Lin", "content": content, **fields}


def lin(tenant: str) -> Scope:
    return Scope(tenant, "user", "lin")


class Pipeline:
    """`start` and `stop` are a worker's; what is watched, and the folder, outlive it."""

    def __init__(self, bootstrap_servers: str, folder: Path, **windowing: Any) -> None:
        self.settings = Settings(
            kafka=Kafka(
                bootstrap_servers=bootstrap_servers, partitions=PARTITIONS, session_timeout=3, commit_interval=0.1
            ),
            windowing=Windowing(**windowing),
            sink=Sink(path=folder / "lancedb", batch_seconds=0.02),
            metrics=Metrics(port=0),
        )
        self.tables = MemoryTables(self.settings.sink.path, DIMENSIONS, PARTITIONS)
        self.producer = Producer(bootstrap_servers)
        self.records: dict[str, list[ConsumerRecord]] = defaultdict(list)
        self.on_change: Callable[[MemoryChanged], Awaitable[None]] | None = None
        self._codec = Codec()
        self._events: dict[str, list[Scoped]] = defaultdict(list)
        self.sent = 0
        self._stopping = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._stopping.clear()
        running = stages(self.settings)
        (self.windowing,) = (stage for stage in running if isinstance(stage, WindowingStage))
        (self.extraction,) = (stage for stage in running if isinstance(stage, ExtractionStage))
        self._worker = asyncio.create_task(run_stages(running, self.settings, self._stopping))

    async def stop(self) -> None:
        """Stop the worker in order. Raises what it crashed on."""
        worker, self._worker = self._worker, None
        if worker is not None:
            self._stopping.set()
            await worker

    async def publish(self, *messages: ChatMessage | dict[str, Any] | bytes | None, key: bytes | None = None) -> None:
        """Send messages in order: values and JSON as a gateway's, or bytes of any kind."""
        values = (m if isinstance(m, bytes | None) else msgspec.json.encode(m) for m in messages)
        await self.send(CHAT_MESSAGES.name, *values, key=key)

    async def publish_file(self, path: Path) -> None:
        self.sent += await publish_file(path, self.producer)

    async def command(self, *commands: Command | bytes) -> None:
        values = (c if isinstance(c, bytes) else msgspec.json.encode(c) for c in commands)
        await self.send(COMMANDS.name, *values)

    async def send(self, topic: str, *values: bytes | None, key: bytes | None = None) -> None:
        """Put bytes on partition 0 of any topic; returns once the broker has them."""
        deliveries = self.producer.deliveries()
        for value in values:
            deliveries.send(topic, key=key, value=value, partition=0)
        await deliveries.confirmed()
        self.sent += len(values) if topic in GIVEN else 0

    async def taken_in(self) -> None:
        """Wait until all that was sent is in the inbox or a dead letter."""

        def accepted() -> bool:
            given = {_place(record) for topic in GIVEN for record in self.records[topic]}
            return len(given) == self.sent and given <= self._dead() | self._origins()

        await self.until(accepted)

    async def finish(self, tenant: str) -> None:
        """End the tenant's sessions; wait until all its messages are in windows, decided, written and told."""
        await self.taken_in()
        sessions = {(each.scope, each.session_id) for each in self.inbox(tenant)}
        await self.command(*(Command("end-session", of.id, of.tenant, of.kind, id_) for of, id_ in sorted(sessions)))
        await self.taken_in()
        await self.until(lambda: self.is_settled(tenant))

    def is_settled(self, tenant: str) -> bool:
        """Whether nothing of the tenant is open or under way."""
        windows, decisions = self.windows(tenant), self.decisions(tenant)
        told = {event.event_id for event in self.changes(tenant)}
        return (
            len(self.inbox(tenant)) == sum(len(window.turns) + len(window.filtered) for window in windows)
            and {window.window_id for window in windows} - self._dead_windows()
            == {record.window_id for record in decisions}
            and all(event.event_id in told for record in decisions for event in events_of(record))
        )

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds. Raises TimeoutError, or what the worker crashed on."""
        async with asyncio.timeout(SECONDS):
            while not condition():
                if self._worker is not None and self._worker.done():
                    self._worker.result()
                await asyncio.sleep(POLL_SECONDS)

    @property
    def open_windows(self) -> int:
        """How many windows the worker holds open."""
        return sum(windows.open_count for windows in self.windowing._windows.values())

    async def memories(self, scope: Scope, *, all_: bool = False) -> list[Memory]:
        return await self.tables.read(partition_of(scope, PARTITIONS), scope, include_superseded=all_)

    async def texts(self, tenant: str) -> list[str]:
        """What is remembered of the tenant's user `lin`."""
        return [memory.text for memory in await self.memories(lin(tenant))]

    def inbox(self, tenant: str = "") -> list[InboxMessage]:
        return self._read(INBOX.name, InboxMessage, tenant)

    def windows(self, tenant: str = "") -> list[Window]:
        return self._read(SCENES.name, Window, tenant)

    def turns(self, tenant: str) -> list[str]:
        """The texts in the tenant's windows, window by window."""
        return [turn.text for window in self.windows(tenant) for turn in window.turns]

    def filtered(self, tenant: str) -> list[str]:
        """The reasons for which messages of the tenant were left out."""
        return [item.reason for window in self.windows(tenant) for item in window.filtered]

    def decisions(self, tenant: str = "") -> list[DecisionRecord]:
        return self._read(DECISIONS.name, DecisionRecord, tenant)

    def changes(self, tenant: str = "") -> list[MemoryChanged]:
        return self._read(CHANGES.name, MemoryChanged, tenant)

    def reason(self, value: bytes | None) -> str:
        """Stage, error and message of the dead letter that is `value`. Raises StopIteration where none is."""
        letter = next(record for record in self.records[DLQ.name] if record.value == value)
        why = {name.removeprefix(PREFIX): text.decode() for name, text in letter.headers}
        return f"{why['stage']} {why['exception']}: {why['message']}"

    async def watch(self, consumer: AIOKafkaConsumer) -> None:
        """Note every record that comes, for as long as the pipeline lives."""
        async for record in consumer:
            event = self._decode(record)
            if self.on_change is not None and isinstance(event, MemoryChanged):
                await self.on_change(event)
            self.records[record.topic].append(record)
            if event is not None:
                self._events[record.topic].append(event)

    def _decode(self, record: ConsumerRecord) -> Scoped | None:
        try:
            return cast(Scoped, self._codec.decode(record.value, *OURS.get(record.topic, ())))
        except UndecodableError:
            return None

    def _read(self, topic: str, kind: type[T], tenant: str = "") -> list[T]:
        return [e for e in self._events[topic] if isinstance(e, kind) and tenant in ("", e.tenant)]

    def _origins(self) -> set[Place]:
        inbox: list[InboxMessage | InboxCommand] = [*self.inbox(), *self._read(INBOX.name, InboxCommand)]
        return {(event.origin_topic, (event.origin_partition, event.origin_offset)) for event in inbox}

    def _dead_windows(self) -> set[str]:
        dead = self._dead()
        return {
            event.window_id
            for record in self.records[SCENES.name]
            if _place(record) in dead and isinstance(event := self._decode(record), Window)
        }

    def _dead(self) -> set[Place]:
        return {origin(list(record.headers)) for record in self.records[DLQ.name]}


@asynccontextmanager
async def pipeline_on(bootstrap_servers: str, folder: Path, **windowing: Any) -> AsyncIterator[Pipeline]:
    """A running pipeline; it goes on with what the broker holds. `windowing` are settings of that section."""
    await asyncio.to_thread(provisioning.apply, bootstrap_servers, partitions=PARTITIONS)
    pipeline = Pipeline(bootstrap_servers, folder, **windowing)
    pipeline.sent = sum([sum((await asyncio.to_thread(ends, bootstrap_servers, topic)).values()) for topic in GIVEN])
    consumer = AIOKafkaConsumer(
        *GIVEN,
        *OURS,
        DLQ.name,
        bootstrap_servers=bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=50,
    )
    await consumer.start()
    watching = asyncio.create_task(pipeline.watch(consumer))
    await pipeline.producer.start()
    await pipeline.start()
    try:
        yield pipeline
    finally:
        watching.cancel()
        await pipeline.stop()
        await pipeline.producer.stop()
        await consumer.stop()
        pipeline.tables.close()


def _place(record: ConsumerRecord) -> Place:
    return record.topic, (record.partition, record.offset)
