"""A stage's state: one dict a partition, restored from a compacted topic and dropped with it."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

from topics.producer import Deliveries
from topics.reader import PERMANENT

V = TypeVar("V")


class RestoreError(Exception):
    """A partition's state cannot be read back. The message names the topic, partition and offset."""


class PartitionedStore(Generic[V]):
    """What the latest record of each key on a compacted topic says, for the partitions we hold.

    Keys are record keys. A partition that was never restored, or was dropped, raises KeyError:
    reading state that is not there must not look like a session that never was.
    """

    def __init__(
        self,
        topic: str,
        bootstrap_servers: str,
        *,
        encode: Callable[[V], bytes],
        decode: Callable[[bytes], V],
    ) -> None:
        self.topic = topic
        self._bootstrap_servers = bootstrap_servers
        self._encode = encode
        self._decode = decode
        self._rows: dict[int, dict[bytes, V]] = {}

    async def restore(self, partition: int) -> Mapping[bytes, V]:
        """Read the partition up to the end it has now. Raises RestoreError.

        Runs in a thread; waits while the broker is away, until cancelled.
        """
        self.drop(partition)
        cancelled = threading.Event()
        try:
            rows = await asyncio.to_thread(self._read, partition, cancelled)
        finally:
            cancelled.set()
        self._rows[partition] = rows
        return rows

    def drop(self, partition: int) -> None:
        self._rows.pop(partition, None)

    def rows(self, partition: int) -> Mapping[bytes, V]:
        """All rows of a partition, live. Raises KeyError where it is not held."""
        return self._rows[partition]

    def get(self, partition: int, key: bytes) -> V | None:
        return self._rows[partition].get(key)

    def __contains__(self, partition: object) -> bool:
        return partition in self._rows

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    async def put(self, deliveries: Deliveries, partition: int, changes: Mapping[bytes, V | None]) -> None:
        """Write rows (None deletes) and take them over once the broker has them.

        Confirms everything else in `deliveries` too. Raises DeliveryError, and changes nothing then.
        """
        self.send(deliveries, partition, changes)
        await deliveries.confirmed()
        self.set(partition, changes)

    def send(self, deliveries: Deliveries, partition: int, changes: Mapping[bytes, V | None]) -> None:
        """The first half of `put`, for a caller that confirms itself; `set` is the other."""
        rows = [(key, None if value is None else self._encode(value)) for key, value in changes.items()]
        deliveries.send_all(self.topic, rows, partition=partition)

    def set(self, partition: int, changes: Mapping[bytes, V | None]) -> None:
        """Take over rows that are on the topic. Ignored for a partition that is gone."""
        rows = self._rows.get(partition)
        if rows is None:
            return
        for key, value in changes.items():
            if value is None:
                rows.pop(key, None)
            else:
                rows[key] = value

    def _read(self, partition: int, cancelled: threading.Event) -> dict[bytes, V]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                # Demanded by librdkafka; with assign() and no commits no group ever exists.
                "group.id": "memweir-restore",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_uncommitted",
                "fetch.wait.max.ms": 50,
            }
        )
        try:
            return self._read_to_end(consumer, partition, cancelled)
        finally:
            consumer.close()

    def _read_to_end(self, consumer: Consumer, partition: int, cancelled: threading.Event) -> dict[bytes, V]:
        latest: dict[bytes, bytes] = {}
        consumer.assign([TopicPartition(self.topic, partition, OFFSET_BEGINNING)])
        while not cancelled.is_set():
            for message in consumer.consume(2000, 0.2):
                error = message.error()
                if error is None:
                    key, value = message.key(), message.value()
                    if key is None:
                        raise RestoreError(f"{self._place(partition, message.offset())}: a record without a key")
                    if value is None:
                        latest.pop(key, None)
                    else:
                        latest[key] = value
                elif error.code() == KafkaError._PARTITION_EOF:
                    return self._decode_all(latest, partition)
                elif error.code() in PERMANENT:
                    raise RestoreError(f"{self._place(partition, message.offset())}: {error.str()}")
        return {}

    def _decode_all(self, latest: dict[bytes, bytes], partition: int) -> dict[bytes, V]:
        rows: dict[bytes, V] = {}
        for key, value in latest.items():
            try:
                rows[key] = self._decode(value)
            except Exception as error:
                raise RestoreError(f"{self.topic}[{partition}] key {key!r}: {error}") from error
        return rows

    def _place(self, partition: int, offset: int | None) -> str:
        return f"{self.topic}[{partition}] at {offset}"
