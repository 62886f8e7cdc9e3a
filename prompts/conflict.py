"""The model call of policy `conflict`: a window's new records set against one pool of what is known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from prompts.answers import ids_of, parse_records, text_of
from prompts.client import ModelClient
from prompts.fields import ABSOLUTE, INSTRUCTION, SCENE_TYPES, priority_of, shown_time, type_of
from prompts.templates import Prompt, load
from prompts.verdict import Verdict
from schemas.candidates import Candidate
from schemas.memory import MERGE, SKIP, STORE, UPDATE, Memory

TEMPLATE = "decide.conflict"
PROMPT = load(TEMPLATE, "en").label
"""`id@version`, for the decision record."""

_FIELDS = ("record_id", "action", "target_ids", "merged_content")


async def decide_conflicts(
    client: ModelClient,
    candidates: Sequence[Candidate],
    pool: Sequence[Memory],
    scene_names: Sequence[str] = (),
) -> list[Verdict]:
    """One verdict a candidate, in their order, by one call; with an empty pool all are stored without asking.

    Target ids are of the pool: none for a store, the memory that is kept for a skip, those that lose their
    place for an update or merge. `scene_names`: the scene of each candidate, where the caller has it.
    Event-time order is not judged here: whoever applies a verdict must not let an older candidate replace a
    younger memory.
    Raises ModelOutage and UnusableAnswer (`prompts/client.py`).
    """
    if not candidates or not pool:
        return [_store(index, "nothing to compare with") for index in range(len(candidates))]
    reply = await client.ask(
        render(candidates, pool, scene_names),
        lambda text, truncated: read(text, truncated, candidates, pool),
    )
    return reply.value


def render(candidates: Sequence[Candidate], pool: Sequence[Memory], scene_names: Sequence[str] = ()) -> Prompt:
    """The prompt, in the language that most candidates have."""
    chinese = sum(candidate.language == "zh" for candidate in candidates)
    names = [*scene_names, *[""] * len(candidates)]
    return load(TEMPLATE, "zh" if chinese * 2 > len(candidates) else "en").render(
        pool=[_shown(memory.memory_id, memory, memory.scene_name, memory.valid_from) for memory in pool],
        new=[
            _shown(_record_id(index), candidate, names[index], candidate.event_at)
            for index, candidate in enumerate(candidates)
        ],
    )


def read(text: str, truncated: bool, candidates: Sequence[Candidate], pool: Sequence[Memory]) -> list[Verdict]:
    """A model's answer under our contract: the first decision of a record counts, one without is stored.

    Raises UnparsableError where there is no record in it at all.
    """
    records = parse_records(text, _FIELDS, truncated=truncated)
    known = {memory.memory_id: memory for memory in pool}
    first: dict[str, dict[str, Any]] = {}
    for item in records.items:
        for record_id in ids_of(item.get("record_id"))[:1]:
            first.setdefault(record_id, item)
    return [
        _verdict(index, candidate, first.get(_record_id(index), {}), known)
        for index, candidate in enumerate(candidates)
    ]


def _record_id(index: int) -> str:
    return f"new-{index + 1}"


def _shown(record_id: str, record: Candidate | Memory, scene_name: str, said_at: int) -> dict[str, object]:
    shown: dict[str, object] = {
        "record_id": record_id,
        "content": record.text,
        "type": record.type,
        "priority": record.priority,
        "scene_name": scene_name,
        "said_at": shown_time(said_at, UTC),
    }
    for field, at in (("activity_start_time", record.activity_start), ("activity_end_time", record.activity_end)):
        if at is not None:
            shown[field] = shown_time(at, UTC)
    return shown


def _verdict(index: int, candidate: Candidate, item: Mapping[str, Any], known: Mapping[str, Memory]) -> Verdict:
    if not item:
        return _store(index, "the model gave no decision")
    action = str(item.get("action")).strip().lower()
    targets = [known[id_] for id_ in ids_of(item.get("target_ids")) if id_ in known]
    if action == STORE:
        return _store(index, "the model found nothing like it")
    if action not in (UPDATE, SKIP, MERGE):
        return _store(index, "the model named no action that there is")
    if not targets:
        return _store(index, f"the model said {action}, with no memory that it was shown")
    ids = [target.memory_id for target in targets]
    if action == SKIP:
        return Verdict(index, SKIP, ids, reason="the model found it known already")
    text = text_of(item.get("merged_content"))
    if action == MERGE and not text:
        return _store(index, "the model said merge, without a text")
    type_, priority = _kind(item, candidate, targets, known)
    reason = "the model found it newer or more exact" if action == UPDATE else "the model made one of both"
    return Verdict(index, action, ids, text or candidate.text, type_, priority, reason)


def _kind(
    item: Mapping[str, Any], candidate: Candidate, targets: Sequence[Memory], known: Mapping[str, Memory]
) -> tuple[str, int]:
    corrected: Counter[str] = Counter()
    priorities = [candidate.priority, *(target.priority for target in targets)]
    if ABSOLUTE in priorities:
        return INSTRUCTION, ABSOLUTE
    allowed = {*SCENE_TYPES, candidate.type, *(memory.type for memory in known.values())}
    type_ = type_of(item.get("merged_type"), allowed, candidate.type, corrected)
    return type_, priority_of(item.get("merged_priority"), type_, max(priorities), corrected)


def _store(index: int, reason: str) -> Verdict:
    return Verdict(index, STORE, [], reason=reason)
