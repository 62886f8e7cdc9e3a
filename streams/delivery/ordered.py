"""Ordered by key, concurrent across keys, acknowledged in offset order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from streams.delivery.stage import Assignment, PartitionLostError

Work = Callable[[], Awaitable[None]]


class WorkCancelledError(Exception):
    """A work ended in a cancellation that nobody asked for; its partition stops."""


class _Entry:
    __slots__ = ("done", "offset", "work")

    def __init__(self, offset: int, work: Work) -> None:
        self.offset = offset
        self.work = work
        self.done = False


class _Partition:
    """What was submitted for one assignment and is not marked yet."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.entries: deque[_Entry] = deque()
        self.queues: dict[bytes, deque[_Entry]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.room = asyncio.Event()
        self.last_offset = -1

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.entries.clear()
        self.queues.clear()
        self.room.set()


class OrderedExecution:
    """Runs at most `in_flight` works at once, over all partitions of a stage.

    Works of one key run in the order of their submission; one that waits for its predecessor holds
    no slot, and a key that has had a turn goes to the back of the line, so a busy key cannot starve
    the others. A partition holds at most `backlog` unmarked offsets: then `submit` waits, for that
    partition alone.
    """

    def __init__(self, in_flight: int, backlog: int) -> None:
        self._slots = asyncio.Semaphore(in_flight)
        self._backlog = backlog
        self._partitions: dict[int, _Partition] = {}
        self.running = 0
        """How many works run now: for a gauge."""

    async def submit(self, assignment: Assignment, offset: int, key: bytes, work: Work) -> None:
        """Run `work` after everything submitted before under `key`; then mark `offset` in its turn.

        Offsets of an assignment must rise; those never submitted count as done. Where a work
        raises, the assignment fails: its other works are cancelled, nothing more of it is marked,
        and this raises the same error. Work for a partition that is gone is dropped.
        """
        partition = self._partition(assignment)
        while partition is not None and len(partition.entries) >= self._backlog and assignment.alive():
            partition.room.clear()
            await partition.room.wait()
        if assignment.failure is not None:
            raise assignment.failure
        if partition is None or not self._holds(partition) or not assignment.alive():
            return
        if offset <= partition.last_offset:
            raise ValueError(f"offset {offset} of {assignment.tp} after {partition.last_offset}")
        partition.last_offset = offset
        entry = _Entry(offset, work)
        partition.entries.append(entry)
        queue = partition.queues.get(key)
        if queue is not None:
            queue.append(entry)
            return
        partition.queues[key] = deque([entry])
        task = asyncio.create_task(self._run_key(partition, key))
        partition.tasks.add(task)
        task.add_done_callback(partition.tasks.discard)

    def pending(self, partition: int) -> int:
        """How many submitted offsets of the partition are not marked yet."""
        held = self._partitions.get(partition)
        return 0 if held is None else len(held.entries)

    def drop(self, partition: int) -> None:
        """Cancel and forget whatever belongs to the partition; late results go nowhere."""
        held = self._partitions.pop(partition, None)
        if held is not None:
            held.close()

    def _partition(self, assignment: Assignment) -> _Partition | None:
        held = self._partitions.get(assignment.partition)
        if held is not None and held.assignment is assignment:
            return held
        if not assignment.alive():
            return None
        self.drop(assignment.partition)
        held = self._partitions[assignment.partition] = _Partition(assignment)
        return held

    async def _run_key(self, partition: _Partition, key: bytes) -> None:
        queue = partition.queues[key]
        try:
            # A work may swallow its cancellation: what comes after it must not run all the same.
            while queue and self._holds(partition):
                async with self._slots:
                    self.running += 1
                    try:
                        await queue[0].work()
                    finally:
                        self.running -= 1
                self._finish(partition, queue.popleft())
        except asyncio.CancelledError:
            # `drop` forgets a partition before it cancels. Cancelled while still held means that the
            # work was cancelled from within: left alone, its partition would wait for it for ever.
            if self._holds(partition):
                self._stop(partition, WorkCancelledError(f"the work at {queue[0].offset} was cancelled"))
            raise
        except PartitionLostError:
            partition.close()  # nothing of it can be marked any more; `drop` follows
        except Exception as error:  # noqa: BLE001 - whatever it is, it stops the partition
            self._stop(partition, error)
        finally:
            if partition.queues.get(key) is queue:
                del partition.queues[key]

    def _finish(self, partition: _Partition, entry: _Entry) -> None:
        entry.done = True
        if not self._holds(partition):
            return
        entries = partition.entries
        next_offset = None
        while entries and entries[0].done:
            next_offset = entries.popleft().offset + 1
        if next_offset is not None:
            partition.assignment.mark(next_offset)
            partition.room.set()

    def _stop(self, partition: _Partition, error: Exception) -> None:
        partition.assignment.fail(error)
        if self._holds(partition):
            del self._partitions[partition.assignment.partition]
        partition.close()

    def _holds(self, partition: _Partition) -> bool:
        return self._partitions.get(partition.assignment.partition) is partition
