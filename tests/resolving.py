"""Candidates and windows as resolution meets them, for its tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prompts.verdict import Verdict
from schemas import fold
from schemas.candidates import Candidate, Candidates, Scene, Source
from schemas.memory import ACTIVE, DecisionRecord, Memory
from streams.decisions.pool import Vectors
from streams.decisions.resolve import build_record, resolve_by_rules

YEAR = 365 * 86_400_000
NOW = 60 * YEAR


def year(number: int) -> int:
    """Some moment of that year, epoch ms."""
    return (number - 1970) * YEAR


def said(text: str, slot: str = "", at: int = year(2024), message_id: str = "", **fields: Any) -> Candidate:
    """A candidate stated in one message at `at`; its subject is that of its slot."""
    source = Source("s", message_id or f"{text}@{at}", 0, at, "w")
    subject = slot.partition("|")[0]
    return Candidate(**{"text": text, "type": "persona", "event_at": at, "sources": [source], "slot": slot,
                        "subject": subject, **fields})  # fmt: skip


def window(window_id: str, candidates: Sequence[Candidate], session_id: str = "s", tenant: str = "t") -> Candidates:
    """The candidates record of a window with one scene."""
    return Candidates(
        tenant=tenant,
        scope_kind="user",
        scope_id="lin",
        session_id=session_id,
        window_id=window_id,
        ordinal=0,
        strategy="rules",
        model="rules",
        prompt="rules@1",
        scenes=[Scene("talk", [], list(candidates))],
        extracted_at=0,
    )


def no_vectors(count: int) -> Vectors:
    return np.zeros((count, 0), dtype=np.float32)


class Scope:
    """One scope as a worker holds it: each window decided by the rules, its record folded in."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.records: list[DecisionRecord] = []
        self.next_seq = 1

    def hear(self, *candidates: Candidate, session_id: str = "s") -> DecisionRecord:
        """A new window with these candidates, decided by the rules."""
        heard = window(f"w{len(self.records)}", candidates, session_id)
        vectors = no_vectors(len(candidates))
        return self._fold(resolve_by_rules(heard, self.memories, vectors, self.next_seq, NOW + len(self.records)))

    def judge(self, candidates: Sequence[Candidate], *verdicts: Verdict) -> DecisionRecord:
        """A new window with these candidates, decided by these verdicts."""
        heard = window(f"w{len(self.records)}", candidates)
        now = NOW + len(self.records)
        vectors = no_vectors(len(candidates))
        return self._fold(
            build_record(heard, verdicts, self.memories, vectors, self.next_seq, now, "conflict", "m", "decide@1")
        )

    def active(self) -> list[str]:
        return [memory.text for memory in self.memories.values() if memory.status == ACTIVE]

    def named(self, text: str) -> Memory:
        """The memory with this text."""
        (found,) = [memory for memory in self.memories.values() if memory.text == text]
        return found

    def _fold(self, record: DecisionRecord) -> DecisionRecord:
        self.records.append(record)
        self.next_seq += len(record.decisions)
        fold.apply(self.memories, record)
        return record
