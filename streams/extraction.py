"""Extraction: a window in, its scenes and candidate memories out, by the strategy in force.

Windows of one scope run in order, of different scopes at once. The first candidates record of a
window wins downstream, so a model that answers differently after a crash does no harm.
"""

import time
from typing import Any

from prompts.strategy import Extracted, Strategy
from schemas.candidates import Candidates, Extraction
from schemas.window import Window
from streams import metrics
from streams.delivery.stage import Assignment, Record
from streams.delivery.store import PartitionedStore
from streams.headers import APPENDED_AT, millis
from streams.keyed import DONE, REDELIVERED, KeyedStage
from streams.outage import outlast
from streams.settings import Settings
from streams.strategies import strategy_for
from topics.catalogue import CANDIDATES, EXTRACTIONS, SCENES
from topics.producer import Deliveries


class ExtractionStage(KeyedStage):
    name = "extraction"
    source = SCENES.name

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, settings.extraction.in_flight)
        self.strategy: Strategy = strategy_for(settings)
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
        self.progress.drop(partition)

    async def work(self, assignment: Assignment, record: Record, deliveries: Deliveries) -> str:
        window: Window = self.codec.decode(record.value, Window)
        key = window.scope.session_key(window.session_id)
        known = self.progress.get(assignment.partition, key)
        if known is not None and known.window_id == window.window_id:
            return REDELIVERED
        last_scene = known.scene_name if known else ""
        extracted = await self._extract(window, last_scene)
        self._count(extracted)
        candidates = candidates_of(window, self.strategy, extracted, int(time.time() * 1000))
        await assignment.require()
        deliveries.send(
            CANDIDATES.name,
            key=window.scope.key,
            value=self.codec.encode(candidates),
            partition=assignment.partition,
            headers=[(APPENDED_AT, millis(window.appended_at))],
        )
        await deliveries.confirmed()
        progress = Extraction(
            tenant=window.tenant,
            scope_kind=window.scope_kind,
            scope_id=window.scope_id,
            session_id=window.session_id,
            last_ordinal=window.ordinal,
            window_id=window.window_id,
            scene_name=extracted.scenes[-1].name if extracted.scenes else last_scene,
        )
        await self.progress.put(deliveries, assignment.partition, {key: progress})
        return DONE

    async def _extract(self, window: Window, scene_name: str) -> Extracted:
        if not window.turns:
            return Extracted([], {})
        return await outlast(lambda: self.strategy.extract(window, scene_name), self.name)

    def _count(self, extracted: Extracted) -> None:
        for scene in extracted.scenes:
            for candidate in scene.candidates:
                metrics.CANDIDATES.labels(self.strategy.name, candidate.type).inc()
        for reason, count in extracted.dropped.items():
            metrics.DROPPED.labels(self.strategy.name, reason).inc(count)


def candidates_of(window: Window, strategy: Strategy, extracted: Extracted, at: int) -> Candidates:
    """The record of what `strategy` found in a window at `at` (epoch ms). Pure."""
    return Candidates(
        tenant=window.tenant,
        scope_kind=window.scope_kind,
        scope_id=window.scope_id,
        session_id=window.session_id,
        window_id=window.window_id,
        ordinal=window.ordinal,
        strategy=strategy.name,
        model=strategy.model,
        prompt=strategy.prompt,
        scenes=extracted.scenes,
        dropped=extracted.dropped,
        extracted_at=at,
    )


def __getattr__(name: str) -> Any:
    return ExtractionStage.lazily(name)
