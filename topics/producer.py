"""The one producer of a process: a produce is done when the broker has said so.

Faust's own producer only logs a failed send, so an input could be committed whose output is
nowhere. Here whatever a stage sends belongs to a group, and the group is awaited.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as Client

logger = logging.getLogger(__name__)

KeyValue = tuple[bytes | None, bytes | None]

FULL_QUEUE_SECONDS = 30.0
"""How long `send` waits for room in the local queue before it gives up."""


class DeliveryError(Exception):
    """A record is not on its topic. The message names the topic and the broker's reason."""


class Deliveries:
    """A group of produces that is confirmed together. Used from one event loop."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._outstanding = 0
        self._error: DeliveryError | None = None
        self._waiters: list[asyncio.Future[None]] = []

    def send(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        partition: int | None = None,
        headers: list[tuple[str, bytes]] | None = None,
    ) -> None:
        """Queue one record; `value=None` is a tombstone, `partition=None` hashes the key (murmur2).

        Raises DeliveryError where the record cannot even be queued (too large, producer broken).
        """
        # confluent-kafka takes neither a partition nor headers of None.
        place: dict[str, Any] = {} if partition is None else {"partition": partition}
        if headers:
            place["headers"] = headers
        with self._lock:
            self._outstanding += 1
        try:
            self._enqueue(topic, key, value, place)
        except BaseException:
            with self._lock:
                self._outstanding -= 1
            raise

    def send_all(self, topic: str, records: Sequence[KeyValue], *, partition: int = -1) -> None:
        """Queue records without headers, in order; `partition=-1` hashes each key (murmur2).

        Half the cost of `send` for each; and the client's own thread wakes for all of them, not for
        each. Raises DeliveryError where one cannot be queued.
        """
        messages: list[dict[str, Any]] = [{"key": key, "value": value} for key, value in records]
        with self._lock:
            self._outstanding += len(messages)
        deadline = time.monotonic() + FULL_QUEUE_SECONDS
        try:
            while messages:
                self._client.produce_batch(topic, messages, partition=partition, on_delivery=self._delivered)
                # Where the queue is full the client takes none of those that follow either.
                messages = [message for message in messages if "_error" in message]
                for message in messages:
                    error: KafkaError = message.pop("_error")
                    if error.code() != KafkaError._QUEUE_FULL:  # noqa: SLF001 - the client's name for it
                        raise DeliveryError(f"{topic}: {error.str()}")
                if messages:
                    if time.monotonic() > deadline:
                        raise DeliveryError(f"{topic}: the local queue stays full")
                    self._client.poll(0.01)
        except BaseException:
            with self._lock:
                self._outstanding -= len(messages)
            raise

    async def confirmed(self) -> None:
        """Return once every record sent so far is acknowledged by the broker.

        Raises DeliveryError (for the first that failed) once all have been answered. During a
        broker outage it waits: only cancellation ends it.
        """
        with self._lock:
            waiter: asyncio.Future[None] | None = None
            if self._outstanding:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
        if waiter is not None:
            await waiter
        if self._error is not None:
            raise self._error

    def _enqueue(self, topic: str, key: bytes | None, value: bytes | None, place: dict[str, Any]) -> None:
        deadline = time.monotonic() + FULL_QUEUE_SECONDS
        while True:
            try:
                self._client.produce(topic, key=key, value=value, on_delivery=self._delivered, **place)
                return
            except BufferError as error:
                if time.monotonic() > deadline:
                    raise DeliveryError(f"{topic}: the local queue stays full") from error
                self._client.poll(0.01)
            except KafkaException as error:
                raise DeliveryError(f"{topic}: {error.args[0]}") from error

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        # Runs in the polling thread, or inside `send` where the queue is full.
        with self._lock:
            if error is not None and self._error is None:
                self._error = DeliveryError(f"{message.topic()}: {error.str()}")
            self._outstanding -= 1
            if self._outstanding:
                return
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            try:
                waiter.get_loop().call_soon_threadsafe(_wake, waiter)
            except RuntimeError:  # the loop has closed: nobody waits any more
                logger.debug("a delivery came after its event loop had closed")


class Producer:
    """An idempotent producer whose records are hashed as Java's clients hash them.

    `config` overrides librdkafka's settings. `start` and `stop` bound its polling thread.
    """

    def __init__(self, bootstrap_servers: str, **config: Any) -> None:
        self._client = Client(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,
                "acks": "all",
                # librdkafka's default hashes with CRC32: another partition than a Java client's.
                "partitioner": "murmur2_random",
                # An outage is waited for. A record given up after a while would stop its partition.
                "message.timeout.ms": 0,
                "message.max.bytes": 8 * 1024 * 1024,
                "queue.buffering.max.messages": 500_000,
                "linger.ms": 5,
                **{name.replace("_", "."): setting for name, setting in config.items()},
            },
            logger=logger,
        )
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def deliveries(self) -> Deliveries:
        """A new, empty group."""
        return Deliveries(self._client)

    async def start(self) -> None:
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._poll, name="deliveries", daemon=True)
            self._thread.start()

    async def stop(self, timeout: float = 10.0) -> int:
        """Wait up to `timeout` seconds for what is queued; return how many records remain unsent."""
        remaining: int = await asyncio.to_thread(self._client.flush, timeout)
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        return remaining

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._client.poll(0.1)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
