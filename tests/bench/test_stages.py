"""Intake and windowing beside a bare consumer of the same messages, in one run on one broker."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from schemas.codec import Codec
from schemas.inbox import InboxCommand, InboxMessage
from schemas.scope import Scope
from schemas.window import Window
from tests.bench.load import PARTITIONS, messages
from tests.brokers import KafkaServer
from topics.catalogue import CHAT_MESSAGES, INBOX, SCENES, SESSIONS
from topics.partitioning import partition_of
from topics.producer import Producer
from topics.provisioning import apply
from topics.reader import read_topic

MESSAGES = int(os.environ.get("BENCH_MESSAGES", "200000"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.kafka


async def test_stages_are_measured_beside_a_bare_consumer(kafka_server: KafkaServer) -> None:
    bootstrap = kafka_server.bootstrap
    apply(bootstrap, partitions=PARTITIONS)
    await _publish(bootstrap)
    _measure("floor", bootstrap)  # the broker's first reads are its slowest
    rounds = []
    for _ in range(ROUNDS):
        _empty_what_stages_write(bootstrap)
        before = _measure("floor", bootstrap)
        intake = _measure("intake", bootstrap)
        between = _measure("floor", bootstrap)
        await _end_sessions(bootstrap)
        windowing = _measure("windowing", bootstrap)
        after = _measure("floor", bootstrap)
        _assert_every_message_is_in_one_window(bootstrap)
        rounds.append(Round((before, between, after), intake, windowing))
    _report(rounds)


class Cost(NamedTuple):
    """Microseconds a chat message: of time, and of this process's processors."""

    wall: float
    cpu: float


class Round(NamedTuple):
    floors: tuple[Cost, Cost, Cost]
    intake: Cost
    windowing: Cost

    def ratios(self, stage: str) -> Cost:
        """Floor ÷ stage: how much of the bare consumer's speed is left. The floor is that of before and after."""
        around = self.floors[:2] if stage == "intake" else self.floors[1:]
        measured: Cost = getattr(self, stage)
        return Cost(
            statistics.mean(floor.wall for floor in around) / measured.wall,
            statistics.mean(floor.cpu for floor in around) / measured.cpu,
        )


async def _publish(bootstrap: str) -> None:
    producer = Producer(bootstrap)
    await producer.start()
    deliveries = producer.deliveries()
    for key, value in messages(MESSAGES):
        deliveries.send(CHAT_MESSAGES.name, key=key, value=value)
    await deliveries.confirmed()
    await producer.stop()


def _measure(what: str, bootstrap: str) -> Cost:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.measure", what, bootstrap],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    measured = told["share"] * MESSAGES
    return Cost(1e6 * told["seconds"] / measured, 1e6 * told["cpu_seconds"] / measured)


def _empty_what_stages_write(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = {INBOX.name, SESSIONS.name, SCENES.name}
    for deleted in admin.delete_topics(list(names)).values():
        deleted.result(timeout=30)
    while names & admin.list_topics(timeout=10).topics.keys():
        time.sleep(0.1)
    apply(bootstrap, partitions=PARTITIONS)


async def _end_sessions(bootstrap: str) -> None:
    """Close every session, so that no window is left that would hold the last offsets."""
    codec = Codec()
    last: dict[tuple[Scope, str], int] = {}
    for record in read_topic(bootstrap, INBOX.name):
        message = codec.decode(record.value(), InboxMessage)
        last[message.scope, message.session_id] = message.received_at
    assert len(last) >= MESSAGES // 100
    producer = Producer(bootstrap)
    await producer.start()
    deliveries = producer.deliveries()
    for number, ((scope, session_id), received_at) in enumerate(last.items()):
        command = InboxCommand(
            tenant=scope.tenant,
            scope_kind=scope.kind,
            scope_id=scope.id,
            session_id=session_id,
            command_id=f"end-{number}",
            type="end-session",
            received_at=received_at,
            origin_topic="bench",
            origin_partition=0,
            origin_offset=number,
        )
        where = partition_of(scope, PARTITIONS)
        deliveries.send(INBOX.name, key=scope.key, value=codec.encode(command), partition=where)
    await deliveries.confirmed()
    await producer.stop()


def _assert_every_message_is_in_one_window(bootstrap: str) -> None:
    codec = Codec()
    accounted: list[tuple[int, int]] = []
    for record in read_topic(bootstrap, SCENES.name):
        window = codec.decode(record.value(), Window)
        offsets = [turn.offset for turn in window.turns] + [filtered.offset for filtered in window.filtered]
        accounted += [(window.partition, offset) for offset in offsets]
    assert len(accounted) == len(set(accounted)) == MESSAGES


def _report(rounds: list[Round]) -> None:
    floors = [floor for each in rounds for floor in each.floors]
    print(f"\n\n{MESSAGES:,} messages, {PARTITIONS} partitions, {ROUNDS} rounds, Apache Kafka\n")
    print(f"{'':11}{'messages/s':>11}{'µs CPU each':>13}{'÷ floor':>9}{'÷ floor, CPU':>14}   ÷ floor, a round")
    print(f"{'floor':11}{_rate(floors):>11,.0f}{_cpu(floors):>13.1f}")
    summary: dict[str, object] = {"messages": MESSAGES, "floor": _rate(floors)}
    for stage in ("intake", "windowing"):
        costs = [getattr(each, stage) for each in rounds]
        ratios = [each.ratios(stage) for each in rounds]
        wall, cpu = (statistics.median(ratio[i] for ratio in ratios) for i in (0, 1))
        each = " ".join(f"{ratio.wall:.2f}" for ratio in ratios)
        print(f"{stage:11}{_rate(costs):>11,.0f}{_cpu(costs):>13.1f}{wall:>9.2f}{cpu:>14.2f}   {each}")
        summary |= {stage: _rate(costs), f"{stage}_ratio": wall, f"{stage}_cpu_ratio": cpu}
    print("\n" + json.dumps(summary | {"rounds": [each._asdict() for each in rounds]}))


def _rate(costs: list[Cost]) -> float:
    return 1e6 / statistics.median(cost.wall for cost in costs)


def _cpu(costs: list[Cost]) -> float:
    return statistics.median(cost.cpu for cost in costs)
