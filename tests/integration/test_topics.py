"""Provisioning, partition numbers, publishing and subscribing, on both brokers."""

import asyncio
import json
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from schemas.codec import Codec
from schemas.memory import MemoryChanged
from schemas.scope import Scope
from tests.brokers import create_topic, free_ports, unique
from topics.catalogue import CATALOGUE, Topic
from topics.partitioning import partition_of
from topics.producer import Producer
from topics.provisioning import ProvisioningError, apply, check
from topics.publisher import InvalidLineError, publish_file
from topics.subscriber import SubscriptionError, changes

KEYS = [
    Scope(tenant, "user", f"{name}-{n}").key for tenant in ("acme", "雪") for name in ("lin", "a/b") for n in range(9)
]


def own_catalogue() -> tuple[Topic, ...]:
    return tuple(replace(topic, name=unique(topic.name)) for topic in CATALOGUE)


def changed(text: str, seq: int = 1) -> MemoryChanged:
    return MemoryChanged(
        "acme",
        "user",
        "lin",
        event_id=f"e{seq}",
        session_id="s",
        scope_seq=seq,
        action="store",
        memory_id="m",
        key="k",
        text=text,
        type="persona",
        tags=[],
        priority=60,
        subject="lin",
        speaker="lin",
        status="active",
        supersedes=[],
        valid_from=0,
        source_message_ids=[],
        window_id="w",
        reason="new",
        policy="rules",
        decided_at=0,
    )


async def send(bootstrap: str, topic: str, *values: bytes) -> None:
    producer = Producer(bootstrap)
    await producer.start()
    deliveries = producer.deliveries()
    for value in values:
        deliveries.send(topic, key=b"k", value=value)
    await deliveries.confirmed()
    await producer.stop()


async def places(bootstrap: str, topic: str, partitions: int) -> dict[bytes, int]:
    """Where each key of a topic is, read to the end."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap)
    await consumer.start()
    try:
        everything = [TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(everything)
        await consumer.seek_to_beginning()
        ends = await consumer.end_offsets(everything)
        found: dict[bytes, int] = {}
        while any([await consumer.position(tp) < ends[tp] for tp in everything]):
            for tp, records in (await consumer.getmany(timeout_ms=200)).items():
                found |= {record.key: tp.partition for record in records}
        return found
    finally:
        await consumer.stop()


def test_what_is_missing_is_created_once_and_then_fits(broker: str) -> None:
    catalogue = own_catalogue()
    assert check(broker, partitions=3, catalogue=catalogue).missing == catalogue
    assert apply(broker, partitions=3, catalogue=catalogue).created == catalogue
    again = apply(broker, partitions=3, catalogue=catalogue)
    assert (again.created, again.differences) == ((), ())
    assert check(broker, partitions=3, catalogue=catalogue).fits


def test_a_topic_that_somebody_else_made_is_reported_and_left_alone(broker: str) -> None:
    name = create_topic(broker, "other", partitions=2)
    catalogue = (replace(CATALOGUE[2], name=name),)
    result = apply(broker, partitions=3, catalogue=catalogue)
    assert result.created == ()
    found = {difference.setting: difference.wanted for difference in result.differences}
    assert found["partitions"] == "3"
    assert found["message.timestamp.type"] == "LogAppendTime"
    assert len(AdminClient({"bootstrap.servers": broker}).list_topics(timeout=10).topics[name].partitions) == 2


def test_a_setting_changed_on_apache_kafka_is_noticed(kafka: str) -> None:
    catalogue = own_catalogue()
    apply(kafka, partitions=1, catalogue=catalogue)
    inbox = catalogue[2]
    entry = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, inbox.name, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.incremental_alter_configs([resource])[resource].result(timeout=10)
    while not (found := check(kafka, partitions=1, catalogue=catalogue).differences):
        time.sleep(0.05)  # the broker learns of it from the controller
    (difference,) = found
    assert (difference.topic, difference.setting, difference.actual) == (inbox.name, "retention.ms", "1000")


def test_a_topic_that_the_cluster_refuses_is_named_with_the_reason(kafka: str) -> None:
    (topic, *_) = own_catalogue()
    with pytest.raises(ProvisioningError, match=f"{topic.name} could not be created: .*[Rr]eplication factor"):
        apply(kafka, partitions=1, replication_factor=3, catalogue=(topic,))


async def test_our_producer_aiokafka_and_partition_of_agree(broker: str) -> None:
    ours = create_topic(broker, "librdkafka", partitions=12)
    theirs = create_topic(broker, "aiokafka", partitions=12)
    producer = Producer(broker)
    await producer.start()
    deliveries = producer.deliveries()
    for key in KEYS:
        deliveries.send(ours, key=key, value=b"v")
    await deliveries.confirmed()
    await producer.stop()
    async with AIOKafkaProducer(bootstrap_servers=broker) as other:
        for key in KEYS:
            await other.send_and_wait(theirs, key=key, value=b"v")
    expected = {key: partition_of(key, 12) for key in KEYS}
    assert await places(broker, ours, 12) == expected
    assert await places(broker, theirs, 12) == expected


async def test_a_file_is_published_confirmed_and_told_of(broker: str, tmp_path: Path) -> None:
    topic = create_topic(broker, "chat", partitions=2)
    path = tmp_path / "chat.jsonl"
    lines = [json.dumps({"scope_id": f"u{n % 7}", "content": f"message {n}"}) for n in range(2500)]
    path.write_text("\n".join(lines), "utf-8")
    progress: list[int] = []
    producer = Producer(broker)
    await producer.start()
    assert await publish_file(path, producer, topic=topic, progress=progress.append) == 2500
    await producer.stop()
    assert progress == [1000, 2000, 2500]
    assert await places(broker, topic, 2) == {
        (key := Scope("default", "user", f"u{n}").key): partition_of(key, 2) for n in range(7)
    }


async def test_of_a_file_with_a_bad_line_nothing_is_published(embedded_broker: str, tmp_path: Path) -> None:
    topic = create_topic(embedded_broker, "chat")
    path = tmp_path / "chat.jsonl"
    path.write_text('{"scope_id": "a", "content": "x"}\n{"scope_id": "a"}\n', "utf-8")
    producer = Producer(embedded_broker)
    with pytest.raises(InvalidLineError, match="line 2"):
        await publish_file(path, producer, topic=topic)
    assert await places(embedded_broker, topic, 1) == {}


async def test_changes_from_the_beginning_end_where_the_topic_ends(broker: str) -> None:
    topic = create_topic(broker, "changes", partitions=3)
    encode = Codec().encode
    await send(broker, topic, encode(changed("one", 1)), b"not an event", encode(changed("two", 2)))
    texts = [event.text async for event in changes(broker, topic=topic, from_beginning=True)]
    assert texts == ["one", "two"]


async def test_without_following_and_not_from_the_beginning_there_is_nothing_to_wait_for(broker: str) -> None:
    topic = create_topic(broker, "changes")
    await send(broker, topic, Codec().encode(changed("old")))
    assert [event async for event in changes(broker, topic=topic)] == []


async def test_a_follower_gets_what_comes_later(broker: str) -> None:
    topic = create_topic(broker, "changes", partitions=3)
    encode = Codec().encode
    await send(broker, topic, encode(changed("old", 1)))
    async with aclosing(changes(broker, topic=topic, from_beginning=True, follow=True)) as events:
        assert (await anext(events)).text == "old"
        later = asyncio.ensure_future(anext(events))
        await send(broker, topic, encode(changed("new", 2)))
        assert (await later).text == "new"


async def test_a_missing_topic_and_a_missing_broker_are_said_clearly(broker: str) -> None:
    absent = unique("absent")
    with pytest.raises(SubscriptionError, match=f"has no topic {absent}"):
        await anext(changes(broker, topic=absent))
    assert absent not in AdminClient({"bootstrap.servers": broker}).list_topics(timeout=10).topics
    (port,) = free_ports(1)
    with pytest.raises(SubscriptionError, match=f"no Kafka broker answers at 127.0.0.1:{port}"):
        await anext(changes(f"127.0.0.1:{port}", topic=absent))
