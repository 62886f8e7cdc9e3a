"""The policy `rules`: what becomes of each candidate, without a model. And the builder that all policies share."""

from collections.abc import Iterable, Mapping

from prompts.verdict import Verdict
from schemas.candidates import Candidate, Candidates
from schemas.memory import ACTIVE, SKIP, STORE, UPDATE, DecisionRecord, Memory
from streams.decisions import chronology, facts
from streams.decisions.draft import Draft, build_record, memory_id
from streams.decisions.pool import POOL_SIZE, Neighbour, Pool, Vectors
from streams.decisions.words import normalised

__all__ = ["RULES", "build_record", "memory_id", "resolve_by_rules"]

RULES = "rules"

_DAY = 86_400_000
_QUOTED = 60  # characters of a memory in a reason


def resolve_by_rules(
    candidates: Candidates,
    scope_memories: Mapping[str, Memory],
    vectors: Vectors,
    next_seq: int,
    now: int,
    *,
    pool_size: int = POOL_SIZE,
) -> DecisionRecord:
    """Decide a window's candidates one after the other, each against the scope and those before it.

    `scope_memories` (id to memory) holds superseded ones too and is left as it is. `vectors` is float32 (n, d), a
    row a candidate in the order of the scenes; d is 0 without an embedder. `next_seq` is the scope's first free
    `scope_seq`, `now` the decision time in epoch ms. Deterministic. Raises ValueError where n is another number.
    """
    draft = Draft(candidates, scope_memories, vectors, next_seq, now, RULES)
    pool = Pool(draft.memories.values(), vectors.shape[1])
    for index, candidate in enumerate(draft.candidates):
        versions = [memory for memory in draft.memories.values() if candidate.slot and memory.slot == candidate.slot]
        in_place = [memory for memory in versions if memory.status == ACTIVE]
        decided = _decided_before(candidate, draft.memories.values())
        if decided:
            verdict = _known(index, decided)
        elif in_place:
            verdict = _of_slot(index, candidate, versions, in_place)
        else:
            verdict = _by_likeness(index, candidate, pool.nearest(candidate, vectors[index], pool_size))
        for memory in draft.settle(verdict):
            pool.put(memory)
    return draft.record()


def _decided_before(candidate: Candidate, memories: Iterable[Memory]) -> Memory | None:
    """The memory that this very statement became, also where it was superseded since: a replay must not revive it."""
    for memory in memories:
        if memory.text == candidate.text and _about(memory) == _about(candidate):
            messages = {(source.session_id, source.message_id) for source in memory.sources}
            if all((source.session_id, source.message_id) in messages for source in candidate.sources):
                return memory
    return None


def _about(fact: Candidate | Memory) -> tuple[str, str, int | None, int]:
    said_at = fact.event_at if isinstance(fact, Candidate) else fact.valid_from
    return fact.subject, fact.slot, fact.activity_start, said_at


def _known(index: int, memory: Memory) -> Verdict:
    return Verdict(index, SKIP, [memory.memory_id], reason=f"same fact as {_quoted(memory.text)}")


def _of_slot(index: int, candidate: Candidate, versions: Iterable[Memory], in_place: list[Memory]) -> Verdict:
    newer = [memory for memory in in_place if chronology.is_older(candidate, memory)]
    beside = [memory for memory in chronology.neighbours(candidate, versions, newer) if memory] if newer else in_place
    for memory in beside:
        if _same_value(candidate, memory):
            return _known(index, memory)
    target_ids = [memory.memory_id for memory in in_place]
    return Verdict(index, UPDATE, target_ids, reason=_change(candidate, in_place[0]))


def _by_likeness(index: int, candidate: Candidate, near: Iterable[Neighbour]) -> Verdict:
    closest = ""
    for memory, cosine in near:
        if _same_fact(candidate, memory, cosine):
            return _known(index, memory)
        if not closest and cosine is not None and cosine >= facts.NEAR_VECTORS:
            kind = facts.difference(candidate.text, memory.text)
            closest = f"like {_quoted(memory.text)}, but another {kind}" if kind in _OTHER else ""
    return Verdict(index, STORE, [], reason=closest or "new")


_OTHER = (facts.NUMBER, facts.DATE, facts.NAME)


def _same_value(candidate: Candidate, memory: Memory) -> bool:
    return _same_time(candidate, memory) and facts.same_value(candidate.text, memory.text, candidate.subject)


def _same_fact(candidate: Candidate, memory: Memory, cosine: float | None) -> bool:
    if candidate.subject and memory.subject and normalised(candidate.subject) != normalised(memory.subject):
        return False
    if not _same_time(candidate, memory):
        return False
    if normalised(candidate.text) == normalised(memory.text):
        return True
    two_slots = candidate.slot and memory.slot and candidate.slot != memory.slot
    return not two_slots and facts.same_statement(candidate.text, memory.text, cosine)


def _same_time(candidate: Candidate, memory: Memory) -> bool:
    starts = (candidate.activity_start, memory.activity_start)
    if None not in starts:
        return starts[0] == starts[1] and candidate.activity_end == memory.activity_end
    return not facts.tied_to_a_day(candidate.text) or abs(candidate.event_at - memory.valid_from) < _DAY


def _change(candidate: Candidate, memory: Memory) -> str:
    name = candidate.slot.partition("|")[2].replace("|", " ").replace("_", " ") or candidate.slot
    old, new = facts.change(memory.text, candidate.text, candidate.subject)
    kind = facts.value_difference(candidate.text, memory.text, candidate.subject)
    if kind == facts.NEGATION:
        return f"the opposite of {_quoted(memory.text)}"
    if facts.same_value(memory.text, candidate.text, candidate.subject):
        return f"says more than {_quoted(memory.text)}"
    if old and new:
        return f"{name} changed: {_cut(old)} → {_cut(new)}"
    return f"{name} changed: {_quoted(memory.text)} no longer holds"


def _quoted(text: str) -> str:
    return f'"{_cut(text)}"'


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1].rstrip() + "…"
