"""A store is what the latest record of each key on its topic says."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from streams.delivery.store import PartitionedStore, RestoreError
from tests.brokers import KafkaServer, create_topic
from topics.producer import Producer


def make(topic: str, bootstrap: str) -> PartitionedStore[str]:
    return PartitionedStore(topic, bootstrap, encode=str.encode, decode=bytes.decode)


@pytest.fixture
async def producer(broker: str) -> AsyncIterator[Producer]:
    made = Producer(broker)
    await made.start()
    yield made
    await made.stop()


async def test_a_restored_partition_equals_what_was_put(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "state", partitions=3, cleanup_policy="compact")
    first = make(topic, broker)
    assert await first.restore(1) == {}
    await first.restore(2)
    await first.put(producer.deliveries(), 1, {b"%d" % key: "old" for key in range(5000)})
    await first.put(producer.deliveries(), 1, {b"7": "new", b"8": None})
    await first.put(producer.deliveries(), 2, {b"7": "another partition's"})

    second = make(topic, broker)
    rows = await second.restore(1)
    assert rows == first.rows(1)
    assert len(rows) == 4999
    assert second.get(1, b"7") == "new"
    assert second.get(1, b"8") is None


async def test_restoring_again_forgets_what_was_in_memory_alone(broker: str) -> None:
    store = make(create_topic(broker, "state", cleanup_policy="compact"), broker)
    await store.restore(0)
    store.set(0, {b"never-sent": "x"})
    assert await store.restore(0) == {}


async def test_a_row_that_cannot_be_decoded_is_named(broker: str, producer: Producer) -> None:
    topic = create_topic(broker, "state", cleanup_policy="compact")
    deliveries = producer.deliveries()
    deliveries.send(topic, key=b"bad", value=b"\xff", partition=0)
    await deliveries.confirmed()
    store = make(topic, broker)
    with pytest.raises(RestoreError, match=f"{topic}.0. key b'bad'"):
        await store.restore(0)
    assert 0 not in store


async def test_a_restore_waits_for_a_broker_and_can_be_cancelled(kafka_server: KafkaServer) -> None:
    store = make(create_topic(kafka_server.bootstrap, "state"), kafka_server.bootstrap)
    kafka_server.freeze()
    waiting = asyncio.create_task(store.restore(0))
    done, _ = await asyncio.wait([waiting], timeout=2)
    assert not done
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert 0 not in store
    again = asyncio.create_task(store.restore(0))
    await asyncio.sleep(0.5)
    kafka_server.thaw()
    assert await again == {}
