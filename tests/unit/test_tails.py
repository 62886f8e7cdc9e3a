"""What overlaps: the tail of one batch and the computing of the next."""

import asyncio

import pytest

from streams.delivery.tails import DEPTH, Tails


class Gate:
    """Work that ends when it is told to, and notes that it did."""

    def __init__(self, done: list[str], name: str, error: Exception | None = None) -> None:
        self.open = asyncio.Event()
        self._done, self._name, self._error = done, name, error

    async def work(self) -> None:
        await self.open.wait()
        if self._error is not None:
            raise self._error
        self._done.append(self._name)


async def test_tails_of_a_partition_end_in_order_and_those_of_another_do_not_wait() -> None:
    tails, done = Tails(), list[str]()
    first, second, other = (Gate(done, name) for name in ("first", "second", "other"))
    tails.start(0, first.work())
    tails.start(0, second.work())
    tails.start(1, other.work())
    second.open.set()
    other.open.set()
    await tails.settle(1)
    assert done == ["other"]
    first.open.set()
    await tails.settle(0)
    assert done == ["other", "first", "second"]


async def test_room_waits_while_as_many_as_may_be_are_outstanding() -> None:
    tails, done = Tails(), list[str]()
    gates = [Gate(done, str(number)) for number in range(DEPTH)]
    for gate in gates:
        await tails.room(0)
        tails.start(0, gate.work())
    waiting = asyncio.create_task(tails.room(0))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    gates[0].open.set()
    await waiting
    assert done == ["0"]
    await tails.end(0)


async def test_a_failure_is_raised_to_who_asks_next_and_ends_those_that_follow() -> None:
    tails, done = Tails(), list[str]()
    failing, follower = Gate(done, "failing", ValueError("no broker")), Gate(done, "follower")
    tails.start(0, failing.work())
    tails.start(0, follower.work())
    failing.open.set()
    follower.open.set()
    with pytest.raises(ValueError, match="no broker"):
        await tails.settle(0)
    await tails.end(0)
    assert done == []


async def test_room_tells_of_a_failure_before_it_is_full() -> None:
    tails = Tails()
    failing = Gate([], "failing", ValueError("no broker"))
    tails.start(0, failing.work())
    failing.open.set()
    await asyncio.sleep(0.01)
    with pytest.raises(ValueError, match="no broker"):
        await tails.room(0)


async def test_who_waits_may_be_cancelled_and_the_tail_still_ends() -> None:
    # A revocation cancels the batch that waits for room; what was sent shall be marked all the same.
    tails, done = Tails(), list[str]()
    gate = Gate(done, "marked")
    tails.start(0, gate.work())
    waiting = asyncio.create_task(tails.settle(0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.open.set()
    await tails.end(0)
    assert done == ["marked"]


async def test_the_end_lets_a_tail_finish_that_only_needs_a_moment() -> None:
    tails, done = Tails(), list[str]()
    gate = Gate(done, "marked")
    tails.start(0, gate.work())
    asyncio.get_running_loop().call_later(0.01, gate.open.set)
    await tails.end(0)
    assert done == ["marked"]


async def test_after_the_end_nothing_runs_and_the_partition_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.delivery.tails.PATIENCE_SECONDS", 0.01)
    tails, done = Tails(), list[str]()
    stuck, behind = Gate(done, "stuck"), Gate(done, "behind")
    tails.start(0, stuck.work())
    tails.start(0, behind.work())
    await tails.end(0)
    stuck.open.set()
    behind.open.set()
    await asyncio.sleep(0.01)
    assert done == []
    await tails.settle(0)
