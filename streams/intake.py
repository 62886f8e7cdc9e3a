"""Intake: what gateways publish, validated and keyed by scope. Stateless and fast.

`faust -A streams.intake worker --without-web` runs this stage alone.
"""

import time
from collections.abc import Callable
from typing import Any

import msgspec

from schemas.chat import ChatMessage
from schemas.codec import RegistryUnavailableError
from schemas.inbox import InboxCommand, InboxMessage
from streams import metrics
from streams.delivery.stage import Assignment, Record
from streams.messages.validate import validate
from streams.processing import ProcessingStage
from topics.catalogue import CHAT_MESSAGES, INBOX

Validate = Callable[..., InboxMessage | InboxCommand]


class Intake(ProcessingStage):
    """Decode, validate, key by scope; what cannot be accepted becomes a dead letter with its reason."""

    name = "intake"
    source = CHAT_MESSAGES.name
    max_records = 2000
    accepts: type[msgspec.Struct] = ChatMessage
    validate: Validate = staticmethod(validate)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        started = time.perf_counter()
        deliveries = self.producer.deliveries()
        now = int(time.time() * 1000)
        inbox: list[tuple[bytes, bytes]] = []
        for record in records:
            try:
                accepted = self._accept(record, now)
            except RegistryUnavailableError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a gateway sent, the worker must not die of it
                self.dead_letter(deliveries, record, error)
            else:
                inbox.append((accepted.scope.key, self.codec.encode(accepted)))
                for kind in accepted.stripped if isinstance(accepted, InboxMessage) else ():
                    metrics.STRIPPED.labels(kind).inc()
        await self.tails.room(assignment.partition)
        deliveries.send_all(INBOX.name, inbox)

        async def confirm() -> None:
            await deliveries.confirmed()
            self.done(assignment, records[-1].offset + 1, len(records), started)

        self.tails.start(assignment.partition, confirm())

    def _accept(self, record: Record, now: int) -> InboxMessage | InboxCommand:
        value: Any = self.codec.decode(record.value, self.accepts)
        return self.validate(
            value,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            record_time=record.timestamp,
            now=now,
        )


def __getattr__(name: str) -> Any:
    return Intake.lazily(name)
