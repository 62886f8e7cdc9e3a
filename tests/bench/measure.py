"""One measurement in a process of its own: `python -m tests.bench.measure floor|intake|windowing BOOTSTRAP`.

Prints one line of JSON: how many records were read, in how many seconds, and with how many seconds
of processor time, all threads of the process included.
"""

import asyncio
import json
import sys
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer

from streams.delivery.stage import Assignment, Record
from streams.intake import Intake
from streams.processing import ProcessingStage
from streams.settings import Kafka, Metrics, Settings
from streams.windowing import Windowing
from streams.worker import run_stages
from tests.bench.load import PARTITIONS
from topics.catalogue import CHAT_MESSAGES
from topics.reader import ends


class Measured(NamedTuple):
    """`share` is the part of the topic's records that the clock saw."""

    share: float
    seconds: float
    cpu_seconds: float


class Stopwatch:
    def __init__(self) -> None:
        self._started: tuple[float, float] | None = None
        self._before = 0

    def start(self, records: int = 0) -> None:
        """Only the first call counts. `records` were read before."""
        if self._started is None:
            self._started = time.perf_counter(), time.process_time()
            self._before = records

    def stop(self, records: int) -> Measured:
        wall, cpu = self._started or (0.0, 0.0)
        share = (records - self._before) / records
        return Measured(share, time.perf_counter() - wall, time.process_time() - cpu)


async def floor(bootstrap: str) -> Measured:
    """Consume and json-decode, and nothing else: what no stage in Python can beat."""
    total = sum(ends(bootstrap, CHAT_MESSAGES.name).values())
    consumer = AIOKafkaConsumer(
        CHAT_MESSAGES.name,
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=10 * 1024 * 1024,
    )
    await consumer.start()
    try:
        watch = Stopwatch()
        read = 0
        while read < total:
            fetched = await consumer.getmany(timeout_ms=1000, max_records=2000)
            watch.start()
            for records in fetched.values():
                for record in records:
                    json.loads(record.value)
                read += len(records)
        return watch.stop(read)
    finally:
        await consumer.stop()


async def stage(make: Callable[[Settings], ProcessingStage], bootstrap: str) -> Measured:
    """A warm stage until the mark of its last record, under a group of its own.

    It is warm when its first mark has come: the producer has its id and knows its topics then, which
    a worker waits for once. A mark comes only when every record that was produced is confirmed.
    """
    settings = Settings(
        kafka=Kafka(bootstrap_servers=bootstrap, partitions=PARTITIONS, group_prefix=f"bench-{uuid.uuid4().hex[:8]}"),
        metrics=Metrics(port=0),
    )
    measured = make(settings)
    total = sum(ends(bootstrap, measured.source).values())
    watch = Stopwatch()
    assignments: list[Assignment] = []
    read = 0
    assigned, batch = measured.assigned, measured.batch

    async def remember(assignment: Assignment) -> None:
        assignments.append(assignment)
        await assigned(assignment)

    async def clocked(assignment: Assignment, records: list[Record]) -> None:
        nonlocal read
        if any(each.position for each in assignments):
            watch.start(read)
        read += len(records)
        await batch(assignment, records)

    measured.assigned, measured.batch = remember, clocked  # type: ignore[method-assign]
    stopping = asyncio.Event()
    worker = asyncio.create_task(run_stages([measured], settings, stopping))
    # Marks have no event, and the stage is not to pay for one.
    while sum(assignment.position for assignment in assignments) < total and not worker.done():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    result = watch.stop(total)
    stopping.set()
    await worker
    return result


MEASURES: dict[str, Callable[[str], Coroutine[Any, Any, Measured]]] = {
    "floor": floor,
    "intake": lambda bootstrap: stage(Intake, bootstrap),
    "windowing": lambda bootstrap: stage(Windowing, bootstrap),
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(MEASURES[sys.argv[1]](sys.argv[2]))._asdict()))
