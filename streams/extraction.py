"""Extraction: a window in, its scenes and candidate memories out, by the strategy in force.

Windows of one scope run in order, of different scopes at once. The first candidates record of a
window wins downstream, so a model that answers differently after a crash does no harm.
"""

import asyncio
import time
from functools import partial
from typing import Any

from prompts.client import UnusableAnswer
from prompts.strategy import Extracted, Strategy
from schemas.candidates import Candidates, Extraction
from schemas.window import Window
from streams import metrics
from streams.delivery.ordered import OrderedExecution
from streams.delivery.stage import Assignment, Record
from streams.delivery.store import PartitionedStore
from streams.outage import outlast
from streams.processing import ProcessingStage
from streams.settings import Settings
from streams.strategies import strategy_for
from topics.catalogue import CANDIDATES, EXTRACTIONS, SCENES

BACKLOG = 2000
"""Windows a partition may hold unfinished before it stops reading."""


class ExtractionStage(ProcessingStage):
    name = "extraction"
    source = SCENES.name

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.strategy: Strategy = strategy_for(settings)
        self.ordered = OrderedExecution(settings.extraction.in_flight, BACKLOG)
        self.progress: PartitionedStore[Extraction] = PartitionedStore(
            EXTRACTIONS.name,
            settings.kafka.bootstrap_servers,
            encode=self.codec.encode,
            decode=lambda data: self.codec.decode(data, Extraction),
        )

    async def assigned(self, assignment: Assignment) -> None:
        await self.progress.restore(assignment.partition)
        await super().assigned(assignment)

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        self.ordered.drop(partition)
        self.progress.drop(partition)

    async def batch(self, assignment: Assignment, records: list[Record]) -> None:
        for record in records:
            work = partial(self._work, assignment, record)
            await self.ordered.submit(assignment, record.offset, record.key or b"", work)
        metrics.IN_FLIGHT.labels(self.name).set(self.ordered.running)

    async def _work(self, assignment: Assignment, record: Record) -> None:
        started = time.perf_counter()
        deliveries = self.producer.deliveries()
        try:
            window = self.codec.decode(record.value, Window)
            key = window.scope.session_key(window.session_id)
            known = self.progress.get(assignment.partition, key)
            if known is not None and known.window_id == window.window_id:
                metrics.RECORDS.labels(self.name, "redelivered").inc()
                return
            extracted = await self._extract(window, known.scene_name if known else "")
        except (ValueError, UnusableAnswer) as error:
            self.dead_letter(deliveries, record, error)
            await deliveries.confirmed()
            return
        if not await assignment.owns():
            raise asyncio.CancelledError
        deliveries.send(
            CANDIDATES.name,
            key=window.scope.key,
            value=self.codec.encode(self._candidates(window, extracted)),
            partition=assignment.partition,
            headers=list(record.headers),
        )
        await deliveries.confirmed()
        scene_name = extracted.scenes[-1].name if extracted.scenes else (known.scene_name if known else "")
        progress = Extraction(
            window.tenant, window.scope_kind, window.scope_id, window.session_id, window.ordinal, window.window_id,
            scene_name,
        )  # fmt: skip
        await self.progress.put(deliveries, assignment.partition, {key: progress})
        metrics.RECORDS.labels(self.name, "done").inc()
        metrics.WORK_SECONDS.labels(self.name).observe(time.perf_counter() - started)

    async def _extract(self, window: Window, scene_name: str) -> Extracted:
        if not window.turns:
            return Extracted([], {})
        return await outlast(lambda: self.strategy.extract(window, scene_name), self.name)

    def _candidates(self, window: Window, extracted: Extracted) -> Candidates:
        for scene in extracted.scenes:
            for candidate in scene.candidates:
                metrics.CANDIDATES.labels(self.strategy.name, candidate.type).inc()
        for reason, count in extracted.dropped.items():
            metrics.DROPPED.labels(self.strategy.name, reason).inc(count)
        return Candidates(
            tenant=window.tenant,
            scope_kind=window.scope_kind,
            scope_id=window.scope_id,
            session_id=window.session_id,
            window_id=window.window_id,
            ordinal=window.ordinal,
            strategy=self.strategy.name,
            model=self.strategy.model,
            prompt=self.strategy.prompt,
            scenes=extracted.scenes,
            dropped=extracted.dropped,
            extracted_at=int(time.time() * 1000),
        )


def __getattr__(name: str) -> Any:
    return ExtractionStage.lazily(name)
