"""A produce is done when the broker says so; a failed one is never silent."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from tests.brokers import KafkaServer, create_topic
from topics.partitioning import partition_of
from topics.producer import DeliveryError, Producer


@pytest.fixture
async def producer(broker: str) -> AsyncIterator[Producer]:
    made = Producer(broker)
    await made.start()
    yield made
    await made.stop()


def read(bootstrap: str, topic: str, partition: int, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, partition, 0)])
    try:
        return consumer.consume(count, timeout=30)
    finally:
        consumer.close()


async def test_confirmed_records_are_on_the_topic_in_order(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "out", partitions=2)
    deliveries = producer.deliveries()
    for number in range(3000):
        deliveries.send(topic, key=b"k", value=b"%d" % number, partition=1)
    await deliveries.confirmed()
    assert [m.value() for m in read(broker, topic, 1, 3000)] == [b"%d" % n for n in range(3000)]


async def test_tombstones_and_headers_arrive_as_they_were_sent(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "out")
    deliveries = producer.deliveries()
    deliveries.send(topic, key=b"gone", value=None)
    deliveries.send(topic, key=None, value=b"v", headers=[("why", b"\xff\x00")])
    await deliveries.confirmed()
    tombstone, plain = read(broker, topic, 0, 2)
    assert (tombstone.key(), tombstone.value()) == (b"gone", None)
    assert (plain.key(), plain.value(), plain.headers()) == (None, b"v", [("why", b"\xff\x00")])


async def test_keys_go_where_java_clients_send_them(broker: str, producer: Producer) -> None:
    # Apache Kafka's own test values of murmur2 (UtilsTest): "21", "foobar", "a-little-bit-long-string".
    hashes = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536}
    topic = create_topic(broker, "out", partitions=12)
    deliveries = producer.deliveries()
    for key in hashes:
        deliveries.send(topic, key=key, value=b"")
    await deliveries.confirmed()
    for key, number in hashes.items():
        found = read(broker, topic, (number & 0x7FFFFFFF) % 12, 1)
        assert [message.key() for message in found] == [key]


async def test_many_at_once_arrive_in_order_where_their_keys_belong(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "out", partitions=2)
    deliveries = producer.deliveries()
    records = [(b"%d" % (number % 7), b"%d" % number) for number in range(3000)]
    deliveries.send_all(topic, records)
    deliveries.send_all(topic, [(b"gone", None)], partition=1)
    await deliveries.confirmed()
    expected: dict[int, list[tuple[bytes, bytes | None]]] = {0: [], 1: []}
    for key, value in records:
        expected[partition_of(key, 2)].append((key, value))
    expected[1].append((b"gone", None))
    for partition, wanted in expected.items():
        assert [(m.key(), m.value()) for m in read(broker, topic, partition, len(wanted))] == wanted


async def test_many_at_once_wait_for_room_in_a_small_queue_and_keep_their_order(broker: str) -> None:
    topic = create_topic(broker, "out")
    producer = Producer(broker, queue_buffering_max_messages=100)
    await producer.start()
    deliveries = producer.deliveries()
    deliveries.send_all(topic, [(b"k", b"%d" % number) for number in range(1000)])
    await deliveries.confirmed()
    assert [m.value() for m in read(broker, topic, 0, 1000)] == [b"%d" % n for n in range(1000)]
    await producer.stop()


async def test_one_too_large_among_many_is_refused_by_name(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "out")
    deliveries = producer.deliveries()
    with pytest.raises(DeliveryError, match=f"{topic}: .*too large"):
        deliveries.send_all(topic, [(None, b"small"), (None, b"x" * (9 * 1024 * 1024)), (None, b"small")])
    await deliveries.confirmed()


async def test_an_empty_group_is_confirmed_at_once(producer: Producer) -> None:
    await producer.deliveries().confirmed()


async def test_a_record_that_is_too_large_is_refused_by_name(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "out")
    deliveries = producer.deliveries()
    with pytest.raises(DeliveryError, match=f"{topic}: .*too large"):
        deliveries.send(topic, key=None, value=b"x" * (9 * 1024 * 1024))
    await deliveries.confirmed()


async def test_a_refusal_by_the_broker_fails_its_group_and_no_other(kafka: str) -> None:
    narrow = create_topic(kafka, "narrow", max_message_bytes="1000")
    wide = create_topic(kafka, "wide")
    producer = Producer(kafka)
    await producer.start()
    refused, fine = producer.deliveries(), producer.deliveries()
    refused.send(narrow, key=None, value=b"x" * 5000)
    refused.send(wide, key=None, value=b"small")
    fine.send(wide, key=None, value=b"small")
    await fine.confirmed()
    with pytest.raises(DeliveryError, match=narrow):
        await refused.confirmed()
    await producer.stop()


async def test_an_outage_is_waited_for(kafka_server: KafkaServer) -> None:
    topic = create_topic(kafka_server.bootstrap, "out")
    producer = Producer(kafka_server.bootstrap)
    await producer.start()
    warm = producer.deliveries()
    warm.send(topic, key=None, value=b"before")
    await warm.confirmed()
    kafka_server.freeze()
    deliveries = producer.deliveries()
    deliveries.send(topic, key=None, value=b"during")
    confirmed = asyncio.create_task(deliveries.confirmed())
    done, _ = await asyncio.wait([confirmed], timeout=3)
    assert not done
    kafka_server.thaw()
    await confirmed
    assert [m.value() for m in read(kafka_server.bootstrap, topic, 0, 2)] == [b"before", b"during"]
    await producer.stop()
