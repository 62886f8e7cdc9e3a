"""The change events of a decision record. Pure."""

from datetime import UTC, datetime

from schemas.memory import Decision, DecisionRecord, Memory, MemoryChanged

_PAST = {"store": "stored", "update": "updated", "skip": "confirmed", "merge": "merged"}


def events_of(record: DecisionRecord) -> list[MemoryChanged]:
    """One event for each decision that changed a row, in order of `scope_seq`.

    They are derived from the record alone, so a sink that crashed after its write tells the same again.
    """
    images = {image.memory_id: image for image in record.memories}
    return [
        _event(record, decision, images[decision.memory_id])
        for decision in record.decisions
        if decision.memory_id in images
    ]


def _event(record: DecisionRecord, decision: Decision, memory: Memory) -> MemoryChanged:
    return MemoryChanged(
        tenant=record.tenant,
        scope_kind=record.scope_kind,
        scope_id=record.scope_id,
        event_id=f"{memory.memory_id}:{decision.scope_seq}",
        session_id=record.session_id,
        scope_seq=decision.scope_seq,
        action=decision.action,
        memory_id=memory.memory_id,
        key=memory.key,
        text=memory.text,
        type=memory.type,
        tags=memory.tags,
        priority=memory.priority,
        subject=memory.subject,
        speaker=memory.speaker,
        status=memory.status,
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
        activity_start=memory.activity_start,
        activity_end=memory.activity_end,
        valid_from=memory.valid_from,
        source_message_ids=[source.message_id for source in memory.sources],
        window_id=record.window_id,
        reason=decision.reason,
        policy=record.policy,
        decided_at=record.decided_at,
    )


def cloud_event_headers(event: MemoryChanged) -> list[tuple[str, bytes]]:
    """CloudEvents 1.0 attributes in the Kafka binding's binary mode: `ce_` headers."""
    at = datetime.fromtimestamp(event.decided_at / 1000, UTC).isoformat(timespec="milliseconds")
    attributes = {
        "ce_specversion": "1.0",
        "ce_id": event.event_id,
        "ce_source": "/memweir/sink",
        "ce_type": f"memweir.memory.{_PAST[event.action]}",
        "ce_time": at.replace("+00:00", "Z"),
        "ce_subject": event.memory_id,
        "content-type": "application/avro",
    }
    return [(name, value.encode()) for name, value in attributes.items()]
