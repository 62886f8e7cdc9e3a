"""Verdicts into a decision record: the one place where memories are made, whatever policy decided.

A verdict is untrusted (a model may have written it). Ids, times, sources and sequence numbers are computed here,
and what event time forbids is not done.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from prompts.verdict import Verdict
from schemas import fold
from schemas.candidates import Candidate, Candidates, Source
from schemas.memory import ACTIVE, MERGE, SKIP, STORE, SUPERSEDED, UPDATE, Decision, DecisionRecord, Memory
from schemas.scope import Scope
from streams.decisions import chronology
from streams.decisions.pool import Vectors

ABSOLUTE = -1
"""The priority of an absolute rule: above every other, and it stays."""

HISTORY = "older than what is known: kept as history"


def memory_id(scope: Scope, window_id: str, index: int) -> str:
    """The id of the memory that a window's candidate `index` becomes: opaque, the same at every redelivery."""
    digest = hashlib.blake2b(scope.window_key(window_id) + f":{index}".encode(), digest_size=16)
    return "m" + digest.hexdigest()[:31]


class Draft:
    """A decision record in the making. `memories` is what the scope would know after the verdicts given so far.

    `vectors`, float32 (n, d), has the vector of the text that each candidate's memory shall have; d is 0 where
    there is no embedder. `next_seq` is the first free `scope_seq`, `now` the decision time in epoch ms.
    """

    def __init__(
        self,
        candidates: Candidates,
        scope_memories: Mapping[str, Memory],
        vectors: Vectors,
        next_seq: int,
        now: int,
        policy: str,
        model: str = "",
        prompt: str = "",
    ) -> None:
        self.memories = dict(scope_memories)
        self._items = [(scene.name, candidate) for scene in candidates.scenes for candidate in scene.candidates]
        if len(vectors) != len(self._items):
            raise ValueError(f"{len(vectors)} vectors for {len(self._items)} candidates")
        self._candidates = candidates
        self._vectors = vectors
        self._next_seq = next_seq
        self._replaced: set[str] = set()
        self._record = DecisionRecord(
            tenant=candidates.tenant,
            scope_kind=candidates.scope_kind,
            scope_id=candidates.scope_id,
            session_id=candidates.session_id,
            window_id=candidates.window_id,
            ordinal=candidates.ordinal,
            policy=policy,
            model=model,
            prompt=prompt,
            decided_at=now,
            decisions=[],
            memories=[],
        )

    @property
    def candidates(self) -> list[Candidate]:
        """In the order of their indices: scene by scene."""
        return [candidate for _, candidate in self._items]

    def settle(self, verdict: Verdict) -> list[Memory]:
        """Decide one candidate; return the memories that changed.

        An update, merge or skip without a memory to act upon becomes a store; an update or merge of a memory that
        is newer in event time becomes history.
        """
        _, candidate = self._items[verdict.index]
        targets = self._targets(verdict)
        if verdict.action == SKIP and targets:
            return self._skip(verdict, candidate, targets[0])
        if verdict.action in (UPDATE, MERGE) and targets:
            newer = [target for target in targets if chronology.is_older(candidate, target)]
            if newer:
                return self._history(verdict, candidate, newer)
            return self._replace(verdict, candidate, targets)
        return self._decide(STORE, verdict, [], self._alone(verdict, candidate))

    def record(self) -> DecisionRecord:
        """The record: images in order of `scope_seq`, so that its fold leaves exactly `memories`."""
        return self._record

    def _targets(self, verdict: Verdict) -> list[Memory]:
        known = [self.memories[id_] for id_ in dict.fromkeys(verdict.target_ids) if id_ in self.memories]
        if verdict.action == SKIP:
            return known
        # Two new facts may take the place of one old memory; one that lost its place earlier is out of reach
        return [memory for memory in known if memory.status == ACTIVE or memory.memory_id in self._replaced]

    def _skip(self, verdict: Verdict, candidate: Candidate, kept: Memory) -> list[Memory]:
        sources = _united([kept.sources, candidate.sources])
        image = None if len(sources) == len(kept.sources) else replace(kept, sources=sources, scope_seq=self._seq)
        return self._decide(SKIP, verdict, [kept], image, holder=kept.memory_id)

    def _replace(self, verdict: Verdict, candidate: Candidate, targets: Sequence[Memory]) -> list[Memory]:
        image = self._image(verdict, candidate, targets)
        self._replaced.update(image.supersedes)
        return self._decide(verdict.action, verdict, targets, image)

    def _history(self, verdict: Verdict, candidate: Candidate, newer: Sequence[Memory]) -> list[Memory]:
        slot = candidate.slot or newer[0].slot
        versions = [memory for memory in self.memories.values() if slot and memory.slot == slot]
        before, after = chronology.neighbours(candidate, versions, newer)
        until = chronology.end_of_history(candidate, after)
        overlaps = before is not None and (before.valid_until or until) > candidate.event_at
        image = replace(
            self._alone(verdict, candidate),
            slot=slot,
            status=SUPERSEDED,
            superseded_by=after.memory_id,
            valid_until=until,
            supersedes=[before.memory_id] if before is not None and overlaps else [],
        )
        return self._decide(STORE, replace(verdict, reason=HISTORY), newer, image)

    def _decide(
        self, action: str, verdict: Verdict, targets: Iterable[Memory], image: Memory | None, holder: str = ""
    ) -> list[Memory]:
        _, candidate = self._items[verdict.index]
        decision = Decision(
            scope_seq=self._seq,
            action=action,
            memory_id=image.memory_id if image else holder,
            target_ids=[target.memory_id for target in targets],
            text=candidate.text,
            reason=verdict.reason,
        )
        self._record.decisions.append(decision)
        if image is None:
            return []
        self._record.memories.append(image)
        return fold.apply(self.memories, replace(self._record, memories=[image]))

    @property
    def _seq(self) -> int:
        return self._next_seq + len(self._record.decisions)

    def _alone(self, verdict: Verdict, candidate: Candidate) -> Memory:
        # What a model made of a candidate and its targets says too much where no target is replaced
        image = self._image(Verdict(verdict.index, STORE, []), candidate, [])
        if verdict.action in (UPDATE, MERGE) and verdict.text not in ("", candidate.text):
            image.vector = b""  # the row is that of the text which was not taken
        return image

    def _image(self, verdict: Verdict, candidate: Candidate, targets: Sequence[Memory]) -> Memory:
        scene_name, _ = self._items[verdict.index]
        origin, record = self._candidates, self._record
        by_model = bool(verdict.text) and verdict.text != candidate.text
        heir = next((target for target in targets if target.memory_id not in self._replaced), None)
        return Memory(
            memory_id=memory_id(origin.scope, origin.window_id, verdict.index),
            tenant=origin.tenant,
            scope_kind=origin.scope_kind,
            scope_id=origin.scope_id,
            session_id=origin.session_id,
            key=candidate.key or next((target.key for target in targets if target.key), ""),
            text=verdict.text or candidate.text,
            type=verdict.type or candidate.type,
            tags=_distinct([*(tag for target in targets for tag in target.tags), *candidate.tags]),
            priority=_priority(verdict, candidate, targets),
            scene_name=scene_name,
            subject=candidate.subject or next((target.subject for target in targets if target.subject), ""),
            speaker=candidate.speaker,
            slot=candidate.slot or (heir.slot if heir else ""),
            language=candidate.language,
            activity_start=candidate.activity_start,
            activity_end=candidate.activity_end,
            valid_from=candidate.event_at,
            valid_until=None,
            created_at=min((target.created_at for target in targets), default=record.decided_at),
            decided_at=record.decided_at,
            status=ACTIVE,
            supersedes=[target.memory_id for target in targets],
            superseded_by=None,
            sources=_united([*(target.sources for target in targets), candidate.sources]),
            window_id=origin.window_id,
            strategy=origin.strategy,
            policy=record.policy,
            model=record.model if by_model else origin.model,
            prompt=record.prompt if by_model else origin.prompt,
            scope_seq=self._seq,
            vector=self._vectors[verdict.index].astype("<f4").tobytes(),
        )


def build_record(
    candidates: Candidates,
    verdicts: Iterable[Verdict],
    scope_memories: Mapping[str, Memory],
    vectors: Vectors,
    next_seq: int,
    now: int,
    policy: str,
    model: str = "",
    prompt: str = "",
) -> DecisionRecord:
    """The record of a window whose verdicts are known (arguments: see Draft).

    Each candidate is decided once: the first verdict counts, an index out of range is ignored, and a candidate
    without a verdict is stored. Targets may be memories of the scope or earlier candidates of the window.
    """
    draft = Draft(candidates, scope_memories, vectors, next_seq, now, policy, model, prompt)
    first: dict[int, Verdict] = {}
    for verdict in verdicts:
        first.setdefault(verdict.index, verdict)
    for index in range(len(draft.candidates)):
        draft.settle(first.get(index) or Verdict(index, STORE, [], reason="no decision was given: stored"))
    return draft.record()


def _priority(verdict: Verdict, candidate: Candidate, targets: Sequence[Memory]) -> int:
    if candidate.priority == ABSOLUTE or any(target.priority == ABSOLUTE for target in targets):
        return ABSOLUTE
    own = candidate.priority if verdict.priority is None or verdict.priority < 0 else verdict.priority
    return max(0, min(100, own), *(target.priority for target in targets))


def _united(lists: Iterable[Sequence[Source]]) -> list[Source]:
    # A message that was published again has another offset, and is the same source
    found: dict[tuple[str, str], Source] = {}
    for sources in lists:
        for source in sources:
            found.setdefault((source.session_id, source.message_id), source)
    return list(found.values())


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
