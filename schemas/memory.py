"""Memories, the decisions that make them, and the events that tell of them."""

import msgspec

from schemas.candidates import Source
from schemas.scope import Scoped

ACTIVE = "active"
SUPERSEDED = "superseded"

STORE = "store"
UPDATE = "update"
SKIP = "skip"
MERGE = "merge"


class Memory(msgspec.Struct):
    """One version of a memory: a full after-image. Times are epoch milliseconds.

    `valid_from` is event time, `decided_at` processing time, `created_at` the decision time of its
    first version. `vector` holds float32, little-endian; empty where there is none.
    `scope_seq` is the change that last touched it: an older image never replaces a newer one.
    """

    memory_id: str
    tenant: str
    scope_kind: str
    scope_id: str
    session_id: str
    key: str
    text: str
    type: str
    tags: list[str]
    priority: int
    scene_name: str
    subject: str
    speaker: str
    slot: str
    language: str
    activity_start: int | None
    activity_end: int | None
    valid_from: int
    valid_until: int | None
    created_at: int
    decided_at: int
    status: str
    supersedes: list[str]
    superseded_by: str | None
    sources: list[Source]
    window_id: str
    strategy: str
    policy: str
    model: str
    prompt: str
    scope_seq: int
    vector: bytes = b""


class Decision(msgspec.Struct):
    """What became of one candidate. `memory_id` is the memory that holds the fact now."""

    scope_seq: int
    action: str
    memory_id: str
    target_ids: list[str]
    text: str
    reason: str


class DecisionRecord(Scoped):
    """All decisions of one window (`memory.decisions.v1`): atomic, compacted, the truth."""

    session_id: str
    window_id: str
    ordinal: int
    policy: str
    model: str
    prompt: str
    decided_at: int
    decisions: list[Decision]
    memories: list[Memory]


class MemoryChanged(Scoped, kw_only=True):
    """Told to subscribers once the row can be read (`memory.changes.v1`)."""

    event_id: str
    session_id: str
    scope_seq: int
    action: str
    memory_id: str
    key: str
    text: str
    type: str
    tags: list[str]
    priority: int
    subject: str
    speaker: str
    status: str
    supersedes: list[str]
    superseded_by: str | None = None
    activity_start: int | None = None
    activity_end: int | None = None
    valid_from: int
    source_message_ids: list[str]
    window_id: str
    reason: str
    policy: str
    decided_at: int
