"""What all our stages share: settings, codec, producer, dead letters, metrics."""

import time

import faust

from schemas.codec import Codec
from streams import endpoints, metrics
from streams.delivery.app import build_app
from streams.delivery.stage import Assignment, Record, Stage
from streams.delivery.tails import Tails
from streams.settings import Settings, load
from topics.catalogue import DLQ
from topics.dead_letters import dead_letter
from topics.producer import Deliveries, Producer
from topics.registry import SchemaRegistry


class ProcessingStage(Stage):
    """A stage that sends what it makes through one producer, and marks its input afterwards."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.codec = codec(settings)
        self.producer = Producer(settings.kafka.bootstrap_servers)
        self.tails = Tails()
        self.ready: set[int] = set()
        """Partitions whose state is restored: their records are being worked on."""

    @classmethod
    def lazily(cls, name: str) -> faust.App:
        """The module's `app`, built when Faust's command line asks for it and not at import."""
        if name != "app":
            raise AttributeError(name)
        settings = load()
        return build_app(cls(settings), settings)

    async def start(self) -> None:
        endpoints.serve(self.settings.metrics.host, self.settings.metrics.port)
        await self.producer.start()

    async def stop(self) -> None:
        await self.producer.stop()

    async def tick(self, assignment: Assignment) -> None:
        await self.tails.settle(assignment.partition)
        metrics.LAG.labels(self.name, assignment.partition).set(assignment.lag)

    async def assigned(self, assignment: Assignment) -> None:
        self.ready.add(assignment.partition)

    async def revoked(self, partition: int) -> None:
        await self.tails.end(partition)
        self.ready.discard(partition)
        metrics.LAG.labels(self.name, partition).set(-1)

    def dead_letter(self, deliveries: Deliveries, record: Record, error: Exception) -> None:
        """Send the record's original bytes to the dead-letter topic, with the reason."""
        key, value, headers = dead_letter(record, stage=self.name, error=error, now=int(time.time() * 1000))
        deliveries.send(DLQ.name, key=key, value=value, headers=headers)
        metrics.DEAD_LETTERS.labels(self.name, type(error).__name__).inc()

    def done(self, assignment: Assignment, next_offset: int, records: int, started: float) -> None:
        """Acknowledge a batch whose every produce is confirmed. `started` is a `perf_counter` reading."""
        assignment.mark(next_offset)
        metrics.RECORDS.labels(self.name, "done").inc(records)
        metrics.WORK_SECONDS.labels(self.name).observe(time.perf_counter() - started)


def codec(settings: Settings) -> Codec:
    """Confluent framing where a registry is configured, Avro single-object encoding elsewhere."""
    url = settings.kafka.schema_registry_url
    return Codec(SchemaRegistry(url) if url else None)
