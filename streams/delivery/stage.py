"""What a stage is, and what it knows of a partition that it was given."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from faust.types import TP


class Record(Protocol):
    """A record as aiokafka's ConsumerRecord has it; `timestamp` is in epoch milliseconds."""

    @property
    def topic(self) -> str: ...

    @property
    def partition(self) -> int: ...

    @property
    def offset(self) -> int: ...

    @property
    def timestamp(self) -> int: ...

    @property
    def timestamp_type(self) -> int:
        """0: the producer's clock; 1: the broker's (LogAppendTime)."""

    @property
    def key(self) -> bytes | None: ...

    @property
    def value(self) -> bytes | None: ...

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]: ...


class Ledger(Protocol):
    """The consumer's side of an assignment; `BatchConsumer` is the real one."""

    def holds(self, tp: TP, generation: int) -> bool: ...

    def mark(self, tp: TP, next_offset: int, generation: int) -> bool: ...

    async def owns(self, tp: TP, generation: int) -> bool: ...

    def end_of(self, tp: TP) -> int | None: ...


class PartitionLostError(Exception):
    """The partition went to somebody else while something was being done for it: the result is dropped, quietly."""


class Assignment:
    """One partition for as long as one generation of the consumer group lasts.

    `committed` is the group's committed offset when the partition came (None: none yet).
    `position` is the watermark: every offset below it is done. `read` is the offset after the last
    record that the stage was handed; between the two lies what is open. `restored` is set once the
    stage has its state of the partition.
    """

    def __init__(
        self,
        tp: TP,
        generation: int,
        ledger: Ledger,
        *,
        committed: int | None,
        start: int,
        on_failure: Callable[[BaseException], object] = lambda _: None,
    ) -> None:
        self.tp = tp
        self.generation = generation
        self.committed = committed
        self.position = start
        self.read = start
        self.failure: BaseException | None = None
        self.restored = False
        self._ledger = ledger
        self._on_failure = on_failure

    @property
    def partition(self) -> int:
        return self.tp.partition

    def alive(self) -> bool:
        """Whether the partition is still ours, as far as this process knows. Costs nothing."""
        return self.failure is None and self._ledger.holds(self.tp, self.generation)

    async def owns(self) -> bool:
        """Whether the broker has confirmed lately that the partition is ours; waits for a heartbeat.

        Ask before a write: a process that was stopped beyond its session still believes `alive`.
        """
        return self.failure is None and await self._ledger.owns(self.tp, self.generation)

    async def require(self) -> None:
        """`owns`, for whoever is about to write. Raises PartitionLostError, which only ends that work."""
        if not await self.owns():
            raise PartitionLostError(f"{self.tp}, generation {self.generation}")

    def mark(self, next_offset: int) -> bool:
        """Everything below `next_offset` is done: it may be committed. False: revoked since, ignored."""
        if self.failure is not None or not self._ledger.mark(self.tp, next_offset, self.generation):
            return False
        self.position = max(self.position, next_offset)
        return True

    def fail(self, error: BaseException) -> None:
        """Stop this partition for good: nothing of it is marked any more, and its app goes down."""
        if self.failure is None:
            self.failure = error
            self._on_failure(error)

    @property
    def highwater(self) -> int:
        """The offset after the partition's last record, as of the latest answer to a fetch.

        `read` until the first answer has come.
        """
        end = self._ledger.end_of(self.tp)
        return self.read if end is None else end

    @property
    def caught_up(self) -> bool:
        """Whether the stage was handed all there is. False until the broker has been heard."""
        end = self._ledger.end_of(self.tp)
        return end is not None and self.read >= end

    @property
    def lag(self) -> int:
        """Records that are not done yet."""
        return max(self.highwater - self.position, 0)


class Stage(ABC):
    """One step of the flow. All calls for one partition come one after another, never at once.

    An exception from `assigned`, `batch` or `tick` stops the partition and takes the app down:
    nothing is skipped, a restart replays from the committed offset. Cancellation means that the
    partition was revoked or the worker stops: let it through.
    """

    name: str
    source: str
    max_records: ClassVar[int] = 500
    """The most records that `batch` is given at once."""

    async def start(self) -> None:
        """Before the first assignment: open what every partition shares."""

    async def stop(self) -> None:
        """After the last partition is gone."""

    async def assigned(self, assignment: Assignment) -> None:
        """A partition came: restore its state. Its first batch waits for this to return."""

    @abstractmethod
    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        """Take records in offset order, and mark when they, and all they caused, are done.

        Marking may come later than the return: what is not marked is delivered again.
        """

    async def tick(self, assignment: Assignment) -> None:
        """About once a second between batches, also where nothing arrives."""

    async def revoked(self, partition: int) -> None:
        """The partition is gone and its call in progress was cancelled: drop its state."""
