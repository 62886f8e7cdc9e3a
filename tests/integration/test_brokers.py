"""The brokers that the other tests stand on."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from streams.embedded import EmbeddedBroker, EmbeddedBrokerError
from tests.brokers import KafkaServer, create_topic, listens

OWNER = """
import time
from streams.embedded import EmbeddedBroker
print(EmbeddedBroker().start().port, flush=True)
time.sleep(600)
"""


def produce(bootstrap: str, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for value in values:
        producer.produce(topic, value=value)
    assert producer.flush(30) == 0


def read(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [message.value() for message in consumer.consume(count, timeout=30)]
    finally:
        consumer.close()


def test_both_brokers_give_back_what_was_produced(broker: str) -> None:
    topic = create_topic(broker, "round-trip")
    produce(broker, topic, [b"1", b"2", b"3"])
    assert read(broker, topic, 3) == [b"1", b"2", b"3"]


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(EmbeddedBrokerError, match=f"port {port} .* is taken"):
            EmbeddedBroker(port).start()


def test_an_embedded_broker_that_died_says_so() -> None:
    with EmbeddedBroker() as broker:
        broker.check()
        assert broker._process is not None
        broker._process.kill()
        broker._process.wait()
        with pytest.raises(EmbeddedBrokerError, match="ended with status -9"):
            broker.check()


def test_an_embedded_broker_does_not_outlive_a_killed_owner() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    assert owner.stdout is not None
    port = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    while listens(port):
        time.sleep(0.05)


@pytest.mark.kafka
def test_a_killed_kafka_comes_back_with_its_data(kafka_server: KafkaServer) -> None:
    topic = create_topic(kafka_server.bootstrap, "kept")
    produce(kafka_server.bootstrap, topic, [b"kept"])
    kafka_server.kill()
    kafka_server.restart()
    assert read(kafka_server.bootstrap, topic, 1) == [b"kept"]


@pytest.mark.kafka
def test_a_frozen_kafka_answers_again_once_thawed(kafka_server: KafkaServer) -> None:
    topic = create_topic(kafka_server.bootstrap, "frozen")
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap})
    kafka_server.freeze()
    producer.produce(topic, value=b"late")
    assert producer.flush(1) == 1
    kafka_server.thaw()
    assert producer.flush(30) == 0
