"""Reading `memory.changes.v1`: what applications subscribe with."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.codec import Codec, UndecodableError
from schemas.memory import MemoryChanged
from topics.catalogue import CHANGES

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
) -> AsyncIterator[MemoryChanged]:
    """The changes from the beginning of the topic, or those that come from now on.

    Without `follow` it ends where the topic ended when it was asked. It joins no group and commits
    nothing: every subscriber sees every change, in order within a scope. Events may come twice;
    drop those whose `scope_seq` you have seen. A record that cannot be decoded is logged and
    passed over. Raises SubscriptionError where no broker answers or there is no such topic.
    """
    codec = codec or Codec()
    async with _consumer(bootstrap_servers) as consumer:
        partitions = await _partitions(consumer, topic, bootstrap_servers)
        ends = await consumer.end_offsets(partitions)
        starts = await consumer.beginning_offsets(partitions) if from_beginning else ends
        # No await between these two: the fetcher would reset positions that it finds unset, and its
        # answer, coming late, would undo the seek.
        consumer.assign(partitions)
        for partition, offset in starts.items():
            consumer.seek(partition, offset)
        unread = {partition for partition in partitions if starts[partition] < ends[partition]}
        while follow or unread:
            batches = await consumer.getmany(timeout_ms=500)
            for partition, records in batches.items():
                for record in records:
                    if not follow and record.offset >= ends[partition]:
                        break
                    try:
                        yield codec.decode(record.value, MemoryChanged)
                    except UndecodableError as error:
                        logger.warning("%s-%d@%d: %s", topic, record.partition, record.offset, error)
            unread = {partition for partition in unread if await consumer.position(partition) < ends[partition]}


@asynccontextmanager
async def _consumer(bootstrap_servers: str) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap_servers, enable_auto_commit=False, fetch_max_wait_ms=200)
    try:
        await consumer.start()
    except KafkaError as error:
        await consumer.stop()
        raise SubscriptionError(f"no Kafka broker answers at {bootstrap_servers}: {error}") from error
    try:
        yield consumer
    finally:
        await consumer.stop()


async def _partitions(consumer: AIOKafkaConsumer, topic: str, bootstrap_servers: str) -> list[TopicPartition]:
    # Asked of the whole cluster: asking for one topic would create it on brokers that do so.
    if topic not in await consumer.topics():
        raise SubscriptionError(f"{bootstrap_servers} has no topic {topic}: run `memweir topics apply` first")
    return [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
