"""The fold of decision records into memories: what resolution, the sink, rebuild and audit share.

Superseding is derived here and nowhere else: a record carries the new version and the ids whose
place it takes, never a second image of the old one.
"""

from collections.abc import MutableMapping

from msgspec.structs import replace

from schemas.memory import SUPERSEDED, DecisionRecord, Memory


def superseded_ids(record: DecisionRecord) -> set[str]:
    """The memories that `record` replaces: a caller that holds only some must fetch these first."""
    return {target for image in record.memories for target in image.supersedes}


def apply(memories: MutableMapping[str, Memory], record: DecisionRecord) -> list[Memory]:
    """Bring `memories` (memory id to memory, of one scope) up to `record`; return what changed.

    Idempotent: an image whose `scope_seq` is not above the stored one changes nothing.
    """
    changed: dict[str, Memory] = {}
    for image in record.memories:
        known = memories.get(image.memory_id)
        if known is not None and known.scope_seq >= image.scope_seq:
            continue
        memories[image.memory_id] = changed[image.memory_id] = image
        for target in image.supersedes:
            old = memories.get(target)
            if old is not None and old.scope_seq < image.scope_seq:
                memories[target] = changed[target] = _supersede(old, image)
    return list(changed.values())


def _supersede(old: Memory, new: Memory) -> Memory:
    # A late import can take a place in the middle of a history: the old version's validity then
    # shrinks to the newcomer's start, while its successor stays the one that came first.
    until = new.valid_from if old.valid_until is None else min(old.valid_until, new.valid_from)
    return replace(
        old,
        status=SUPERSEDED,
        superseded_by=old.superseded_by or new.memory_id,
        valid_until=max(until, old.valid_from),
        scope_seq=new.scope_seq,
    )
