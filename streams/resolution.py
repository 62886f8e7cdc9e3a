"""Resolution: candidates against what their scope is known to hold; one decision record a window.

What is known is the fold of the decisions topic itself, never the sink, which lags. A window that
has its record is decided: whatever comes for it again is dropped.
"""

import time
from typing import Any

from prompts.embedder import UniversalSentenceEmbedder
from schemas.candidates import Candidates
from schemas.memory import DecisionRecord
from streams import metrics
from streams.decisions.knowledge import Knowledge
from streams.decisions.policies import policy_for
from streams.delivery.stage import Assignment, Record
from streams.delivery.store import PartitionedStore
from streams.keyed import DONE, REDELIVERED, KeyedStage
from streams.outage import outlast
from streams.settings import Settings
from topics.catalogue import CANDIDATES, DECISIONS
from topics.producer import Deliveries


class Resolution(KeyedStage):
    name = "resolution"
    source = CANDIDATES.name

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, settings.resolution.in_flight)
        self.policy = policy_for(settings, UniversalSentenceEmbedder())
        self.decisions: PartitionedStore[DecisionRecord] = PartitionedStore(
            DECISIONS.name,
            settings.kafka.bootstrap_servers,
            encode=self.codec.encode,
            decode=lambda data: self.codec.decode(data, DecisionRecord),
        )
        self._knowledge: dict[int, Knowledge] = {}

    async def assigned(self, assignment: Assignment) -> None:
        records = await self.decisions.restore(assignment.partition)
        self._knowledge[assignment.partition] = Knowledge.of(records.values())
        self.decisions.drop(assignment.partition)  # the fold holds them from here on
        await super().assigned(assignment)

    async def revoked(self, partition: int) -> None:
        await super().revoked(partition)
        self._knowledge.pop(partition, None)

    async def work(self, assignment: Assignment, record: Record, deliveries: Deliveries) -> str:
        knowledge = self._knowledge[assignment.partition]
        candidates: Candidates = self.codec.decode(record.value, Candidates)
        if knowledge.decided(candidates.window_id):
            return REDELIVERED
        decided = await self._decide(candidates, knowledge)
        await assignment.require()
        deliveries.send(
            DECISIONS.name,
            key=decided.scope.window_key(decided.window_id),
            value=self.codec.encode(decided),
            partition=assignment.partition,
            headers=list(record.headers),
        )
        await deliveries.confirmed()
        knowledge.apply(decided)
        for decision in decided.decisions:
            metrics.DECISIONS.labels(decided.policy, decision.action).inc()
        return DONE

    async def _decide(self, candidates: Candidates, knowledge: Knowledge) -> DecisionRecord:
        known = knowledge.memories(candidates.scope)
        next_seq = knowledge.next_seq(candidates.scope)
        now = int(time.time() * 1000)
        return await outlast(lambda: self.policy.decide(candidates, known, next_seq, now), self.name)


def __getattr__(name: str) -> Any:
    return Resolution.lazily(name)
