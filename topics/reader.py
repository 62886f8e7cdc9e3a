"""Reading a topic from its beginning to the end it has now, and how far a group has come."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

T = TypeVar("T")

SECONDS = 15.0
SILENCE_SECONDS = 60.0
TRANSIENT = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}
"""A topic or broker that came a moment ago. librdkafka asks once only and calls none of them retriable."""

PERMANENT = {
    KafkaError._FATAL,  # noqa: SLF001 - so librdkafka names its own errors; the same below
    KafkaError._AUTHENTICATION,  # noqa: SLF001
    KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
    KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
}
"""What no waiting mends. librdkafka goes on by itself after any other error that a consumer is handed."""


class ReadError(RuntimeError):
    """A topic cannot be read; the message names it and says why."""


def read_topic(bootstrap_servers: str, topic: str) -> Iterator[Message]:
    """Every record that is on `topic` now, partition by partition as they come. Raises ReadError."""
    consumer = _consumer(bootstrap_servers, "memweir-reader")
    try:
        starts = [TopicPartition(topic, number, OFFSET_BEGINNING) for number in _partitions(consumer, topic)]
        for message in _to_the_end(consumer, starts):
            if message.error() is None:
                yield message
    finally:
        consumer.close()


def require_topic(bootstrap_servers: str, topic: str) -> None:
    """Return where a broker answers and has `topic`. Raises ReadError otherwise."""
    consumer = _consumer(bootstrap_servers, "memweir-reader")
    try:
        _partitions(consumer, topic)
    finally:
        consumer.close()


def committed(bootstrap_servers: str, group: str, topic: str) -> dict[int, int]:
    """The group's committed offset a partition; 0 where it has committed nothing."""
    consumer = _consumer(bootstrap_servers, group)
    try:
        places = [TopicPartition(topic, number) for number in _partitions(consumer, topic)]
        found = _patiently(partial(consumer.committed, places, timeout=SECONDS))
        return {place.partition: max(place.offset, 0) for place in found}
    except KafkaException as error:
        raise ReadError(f"{group}: {error.args[0].str()}") from error
    finally:
        consumer.close()


def ends(bootstrap_servers: str, topic: str) -> dict[int, int]:
    """The offset after the last record, a partition. Raises ReadError.

    Read from the log, not asked for: the embedded broker answers ListOffsets with the first offset
    of its last batch plus one.
    """
    consumer = _consumer(bootstrap_servers, "memweir-reader")
    try:
        starts = []
        for number in _partitions(consumer, topic):
            ask = partial(consumer.get_watermark_offsets, TopicPartition(topic, number), timeout=SECONDS)
            low, high = _patiently(ask)
            starts.append(TopicPartition(topic, number, max(low, high - 1)))
        return dict(place_of(message) for message in _to_the_end(consumer, starts) if message.error() is not None)
    except KafkaException as error:
        raise ReadError(f"{topic}: {error.args[0].str()}") from error
    finally:
        consumer.close()


def lag(bootstrap_servers: str, group: str, topic: str) -> int:
    """Records of `topic` that `group` has not committed."""
    done = committed(bootstrap_servers, group, topic)
    return sum(max(end - done[number], 0) for number, end in ends(bootstrap_servers, topic).items())


def place_of(message: Message) -> tuple[int, int]:
    """Partition and offset of a consumed record."""
    partition, offset = message.partition(), message.offset()
    if partition is None or offset is None:
        raise ReadError("a record without a place")
    return partition, offset


def _to_the_end(consumer: Consumer, starts: list[TopicPartition]) -> Iterator[Message]:
    """Records from `starts` on, and last of each partition the mark of its end, whose offset is that end.

    Raises ReadError where nothing comes for `SILENCE_SECONDS`.
    """
    consumer.assign(starts)
    unread = {start.partition for start in starts}
    heard = time.monotonic()
    while unread:
        for message in consumer.consume(2000, 0.05):
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                unread.discard(place_of(message)[0])
            elif error is not None:
                if error.code() in PERMANENT:
                    raise ReadError(f"{message.topic()}: {error.str()}")
                continue
            heard = time.monotonic()
            yield message
        if time.monotonic() - heard > SILENCE_SECONDS:
            raise ReadError(f"{starts[0].topic}: the broker has been silent for {SILENCE_SECONDS:g} s")


def _patiently(ask: Callable[[], T]) -> T:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in TRANSIENT or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _consumer(bootstrap_servers: str, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    try:
        found = consumer.list_topics(timeout=SECONDS).topics.get(topic)
    except KafkaException as error:
        raise ReadError(f"no Kafka broker answers: {error.args[0].str()}") from error
    if found is None:
        raise ReadError(f"there is no topic {topic}: run `memweir topics apply` first")
    return sorted(found.partitions)
