"""Reading a topic from its beginning to the end it has now, and how far a group has come."""

import time
from collections.abc import Iterator

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

SECONDS = 15.0
LEADERLESS = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE}


class ReadError(RuntimeError):
    """A topic cannot be read; the message names it and says why."""


def read_topic(bootstrap_servers: str, topic: str) -> Iterator[Message]:
    """Every record that is on `topic` now, partition by partition as they come. Raises ReadError."""
    consumer = _consumer(bootstrap_servers, "memweir-reader")
    try:
        unread = set(_partitions(consumer, topic))
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in unread])
        while unread:
            for message in consumer.consume(2000, 0.05):
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    unread.discard(int(message.partition() or 0))
                elif not error.retriable():
                    raise ReadError(f"{topic}: {error.str()}")
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
        return {place.partition: max(place.offset, 0) for place in consumer.committed(places, timeout=SECONDS)}
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
        found: dict[int, int] = {}
        listed = {
            number: _watermarks(consumer, TopicPartition(topic, number))
            for number in _partitions(consumer, topic)
        }
        consumer.assign([TopicPartition(topic, number, max(low, high - 1)) for number, (low, high) in listed.items()])
        while len(found) < len(listed):
            for message in consumer.consume(2000, 0.05):
                error, partition, offset = message.error(), message.partition(), message.offset()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:
                    assert partition is not None and offset is not None, "librdkafka tells where a partition ends"
                    found[partition] = offset
                elif error is not None and not error.retriable():
                    raise ReadError(f"{topic}: {error.str()}")
        return found
    except KafkaException as error:
        raise ReadError(f"{topic}: {error.args[0].str()}") from error
    finally:
        consumer.close()


def lag(bootstrap_servers: str, group: str, topic: str) -> int:
    """Records of `topic` that `group` has not committed."""
    done = committed(bootstrap_servers, group, topic)
    return sum(max(end - done[number], 0) for number, end in ends(bootstrap_servers, topic).items())


def _watermarks(consumer: Consumer, place: TopicPartition) -> tuple[int, int]:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return consumer.get_watermark_offsets(place, timeout=SECONDS)
        except KafkaException as error:
            # A partition that was created, or changed its leader, a moment ago: librdkafka asks once only.
            if error.args[0].code() not in LEADERLESS or time.monotonic() > deadline:
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
