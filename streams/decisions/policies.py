"""The decision policies: from what was found and what is known to one decision record."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from prompts import conflict
from prompts.client import ModelClient
from prompts.embedder import Embedder
from schemas.candidates import Candidates
from schemas.memory import DecisionRecord, Memory
from streams.decisions.draft import build_record
from streams.decisions.pool import unified
from streams.decisions.resolve import resolve_by_rules
from streams.decisions.resolve_model import texts
from streams.settings import Settings
from streams.strategies import model_client


class Policy(Protocol):
    """Decides one window. `known` are all memories of its scope by id; the next free `scope_seq` is given."""

    async def decide(
        self, candidates: Candidates, known: Mapping[str, Memory], next_seq: int, now: int
    ) -> DecisionRecord:
        """`now` is epoch milliseconds. Raises ModelOutage and UnusableAnswer where a model is asked."""


class RulesPolicy:
    """No model: slots, wording and vectors."""

    def __init__(self, embedder: Embedder, pool_size: int) -> None:
        self._embedder = embedder
        self._pool_size = pool_size

    async def decide(
        self, candidates: Candidates, known: Mapping[str, Memory], next_seq: int, now: int
    ) -> DecisionRecord:
        vectors = await asyncio.to_thread(self._embedder.embed, texts(candidates))
        return resolve_by_rules(candidates, known, vectors, next_seq, now, pool_size=self._pool_size)


class ConflictPolicy:
    """One model call a window, over one pool of the memories that are near any of its candidates."""

    def __init__(self, client: ModelClient, embedder: Embedder, pool_size: int) -> None:
        self._client = client
        self._embedder = embedder
        self._pool_size = pool_size

    async def decide(
        self, candidates: Candidates, known: Mapping[str, Memory], next_seq: int, now: int
    ) -> DecisionRecord:
        found = [(candidate, scene.name) for scene in candidates.scenes for candidate in scene.candidates]
        vectors = await asyncio.to_thread(self._embedder.embed, texts(candidates))
        pool = unified([candidate for candidate, _ in found], known.values(), vectors, self._pool_size)
        verdicts = await conflict.decide_conflicts(
            self._client, [candidate for candidate, _ in found], pool, [name for _, name in found]
        )
        # What is stored is the merged text, so its vector must be of that text.
        vectors = await asyncio.to_thread(self._embedder.embed, texts(candidates, verdicts))
        return build_record(
            candidates,
            verdicts,
            known,
            vectors,
            next_seq,
            now,
            policy="conflict",
            model=self._client.model,
            prompt=conflict.PROMPT,
        )


def policy_for(settings: Settings, embedder: Embedder) -> Policy:
    """The decision policy. Raises SettingsError where it needs a model and none is named."""
    size = settings.resolution.pool_size
    if settings.resolution.policy == "rules":
        return RulesPolicy(embedder, size)
    return ConflictPolicy(model_client(settings.model, "resolution policy conflict"), embedder, size)
