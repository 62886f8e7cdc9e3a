"""Reading `memory.changes.v1`: what applications subscribe with."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.codec import Codec, UndecodableError
from schemas.memory import MemoryChanged
from topics.catalogue import CHANGES

METADATA_SECONDS = 15.0

logger = logging.getLogger(__name__)


class SubscriptionError(RuntimeError):
    """The changes cannot be read; the message says why."""


async def changes(
    bootstrap_servers: str,
    *,
    from_beginning: bool = False,
    follow: bool = False,
    codec: Codec | None = None,
    topic: str = CHANGES.name,
) -> AsyncGenerator[MemoryChanged, None]:
    """The changes from the beginning of the topic, or those that come from now on.

    Without `follow` it ends once it has passed what was the topic's end at the start. It joins no group and commits
    nothing: every subscriber sees every change, in order within a scope. Events may come twice;
    drop those whose `scope_seq` you have seen. A record that cannot be decoded is logged and
    passed over. Raises SubscriptionError where no broker answers or there is no such topic.
    """
    codec = codec or Codec()
    async with _consumer(bootstrap_servers, "earliest" if from_beginning else "latest") as consumer:
        partitions = await _subscribe(consumer, topic, bootstrap_servers)
        ends = await consumer.end_offsets(partitions)
        unread = {partition for partition, end in ends.items() if from_beginning and end > 0}
        while follow or unread:
            for partition, records in (await consumer.getmany(timeout_ms=500)).items():
                for record in records:
                    try:
                        yield codec.decode(record.value, MemoryChanged)
                    except UndecodableError as error:
                        logger.warning("%s-%d@%d: %s", topic, partition.partition, record.offset, error)
            # By position, not by the last record's offset: retention may have emptied the partition.
            unread = {partition for partition in unread if await consumer.position(partition) < ends[partition]}


@asynccontextmanager
async def _consumer(bootstrap_servers: str, start: str) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap_servers, auto_offset_reset=start, enable_auto_commit=False, fetch_max_wait_ms=200
    )
    try:
        await consumer.start()
    except KafkaError as error:
        await consumer.stop()
        raise SubscriptionError(f"no Kafka broker answers at {bootstrap_servers}: {error}") from error
    try:
        yield consumer
    finally:
        await consumer.stop()


async def _subscribe(consumer: AIOKafkaConsumer, topic: str, bootstrap_servers: str) -> frozenset[TopicPartition]:
    # All topics are asked for first: subscribing to one that is missing creates it on some brokers.
    if topic not in await consumer.topics():
        raise SubscriptionError(f"{bootstrap_servers} has no topic {topic}: run `memweir topics apply` first")
    consumer.subscribe([topic])
    deadline = asyncio.get_running_loop().time() + METADATA_SECONDS
    # Without a group aiokafka assigns every partition by itself once it has the metadata, and says nothing.
    while not (assigned := consumer.assignment()):
        if asyncio.get_running_loop().time() > deadline:
            raise SubscriptionError(f"{bootstrap_servers} does not tell the partitions of {topic}")
        await asyncio.sleep(0.01)
    return frozenset(assigned)
