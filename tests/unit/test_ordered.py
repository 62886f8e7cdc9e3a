"""Ordered execution by itself: slots, fairness, backlog."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest
from faust.types import TP

from streams.delivery.ordered import OrderedExecution
from streams.delivery.stage import Assignment, PartitionLostError


class Ours:
    """A ledger of a partition that stays."""

    def holds(self, tp: TP, generation: int) -> bool:
        return True

    def mark(self, tp: TP, next_offset: int, generation: int) -> bool:
        return True

    async def owns(self, tp: TP, generation: int) -> bool:
        return True

    def end_of(self, tp: TP) -> int | None:
        return None


async def at_once() -> None:
    return None


async def position(assignment: Assignment, wanted: int) -> None:
    async with asyncio.timeout(5):
        while assignment.position < wanted:  # noqa: ASYNC110 - nobody is told of a mark
            await asyncio.sleep(0)


def ours() -> Assignment:
    return Assignment(TP("source", 0), 1, Ours(), committed=None, start=0)


async def test_a_busy_key_does_not_starve_a_quiet_one() -> None:
    ordered, assignment, order = OrderedExecution(1, 100), ours(), list[bytes]()

    def work(key: bytes) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await asyncio.sleep(0)
            order.append(key)

        return run

    for offset in range(20):
        await ordered.submit(assignment, offset, b"busy", work(b"busy"))
    await ordered.submit(assignment, 20, b"quiet", work(b"quiet"))
    await position(assignment, 21)
    assert order.index(b"quiet") <= 2


async def test_a_key_that_waits_for_its_predecessor_holds_no_slot() -> None:
    ordered, assignment, gate, done = OrderedExecution(2, 100), ours(), asyncio.Event(), asyncio.Event()

    async def blocked() -> None:
        await gate.wait()

    async def other() -> None:
        done.set()

    for offset in range(10):
        await ordered.submit(assignment, offset, b"blocked", blocked)
    await ordered.submit(assignment, 10, b"other", other)
    await asyncio.wait_for(done.wait(), 5)
    assert assignment.position == 0
    gate.set()
    await position(assignment, 11)


async def test_a_full_backlog_waits_and_a_drop_frees_the_waiter() -> None:
    ordered, assignment, gate = OrderedExecution(1, 2), ours(), asyncio.Event()

    async def blocked() -> None:
        await gate.wait()

    await ordered.submit(assignment, 0, b"a", blocked)
    await ordered.submit(assignment, 1, b"b", blocked)
    waiting = asyncio.create_task(ordered.submit(assignment, 2, b"c", blocked))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    ordered.drop(0)
    await waiting
    assert ordered.pending(0) == 0


async def test_offsets_that_do_not_rise_are_an_error() -> None:
    ordered, assignment = OrderedExecution(1, 2), ours()
    await ordered.submit(assignment, 5, b"a", at_once)
    with pytest.raises(ValueError, match="offset 5"):
        await ordered.submit(assignment, 5, b"a", at_once)


async def test_a_work_that_swallows_its_cancellation_is_followed_by_nothing() -> None:
    ordered, assignment, gate, later = OrderedExecution(1, 10), ours(), asyncio.Event(), list[int]()

    async def stubborn() -> None:
        while not gate.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await gate.wait()

    async def next_of_its_key() -> None:
        later.append(1)

    await ordered.submit(assignment, 0, b"key", stubborn)
    await ordered.submit(assignment, 1, b"key", next_of_its_key)
    await asyncio.sleep(0)
    ordered.drop(0)
    gate.set()
    await asyncio.sleep(0.01)
    assert later == []
    assert assignment.position == 0, "a late result marks nothing"


async def test_a_work_that_finds_its_partition_lost_marks_nothing_and_crashes_nothing() -> None:
    # It used to end in CancelledError, which counted as a failure: a rebalance took the worker down.
    ordered, assignment = OrderedExecution(2, 10), ours()

    async def lost() -> None:
        raise PartitionLostError

    await ordered.submit(assignment, 0, b"a", lost)
    await ordered.submit(assignment, 1, b"b", at_once)
    await asyncio.sleep(0.01)
    assert assignment.position == 0
    assert assignment.failure is None
