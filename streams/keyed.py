"""What extraction and resolution share: work on one record at a time, a scope in order, scopes at once."""

import time
from abc import abstractmethod
from functools import partial

from schemas.codec import RegistryUnavailableError
from streams import metrics
from streams.delivery.ordered import OrderedExecution
from streams.delivery.stage import Assignment, PartitionLostError, Record
from streams.processing import ProcessingStage
from streams.settings import Settings
from topics.producer import Deliveries, DeliveryError

BACKLOG = 2000
"""Windows a partition may hold unfinished before it stops reading."""

DONE, REDELIVERED, DEAD = "done", "redelivered", "dead"


class KeyedStage(ProcessingStage):
    """Calls `work` for each record; what fails because of the record itself becomes a dead letter."""

    def __init__(self, settings: Settings, in_flight: int) -> None:
        super().__init__(settings)
        self._ordered = OrderedExecution(in_flight, BACKLOG)

    @abstractmethod
    async def work(self, assignment: Assignment, record: Record, deliveries: Deliveries) -> str:
        """Do the record's work, with all it sends confirmed; return the outcome, for the metric."""

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        self._ordered.drop(partition)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        for record in records:
            await self._ordered.submit(
                assignment, record.offset, record.key or b"", partial(self._run, assignment, record)
            )
        metrics.IN_FLIGHT.labels(self.name).set(self._ordered.running)

    async def _run(self, assignment: Assignment, record: Record) -> None:
        started = time.perf_counter()
        deliveries = self.producer.deliveries()
        try:
            outcome = await self.work(assignment, record, deliveries)
        except (PartitionLostError, DeliveryError, RegistryUnavailableError):
            raise
        except Exception as error:
            if not assignment.alive():  # its state may be gone already: that is not the record's fault
                raise PartitionLostError(str(assignment.tp)) from error
            self.dead_letter(deliveries, record, error)
            await deliveries.confirmed()
            outcome = DEAD
        metrics.RECORDS.labels(self.name, outcome).inc()
        metrics.WORK_SECONDS.labels(self.name).observe(time.perf_counter() - started)
