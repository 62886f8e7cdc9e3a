"""What extraction found in a window, before it is set against what is known."""

import msgspec

from schemas.scope import Scoped


class Source(msgspec.Struct, frozen=True):
    """A message that a memory rests on. `offset` is the inbox offset: a forget's fence is compared with it."""

    session_id: str
    message_id: str
    offset: int
    sent_at: int
    window_id: str


class Candidate(msgspec.Struct):
    """A memory as extracted. Times are epoch milliseconds.

    `slot` names what holds one value at a time (`lin|home`); empty where nothing does.
    """

    text: str
    type: str
    event_at: int
    sources: list[Source]
    key: str = ""
    tags: list[str] = []
    priority: int = 60
    subject: str = ""
    speaker: str = ""
    slot: str = ""
    language: str = "en"
    activity_start: int | None = None
    activity_end: int | None = None


class Scene(msgspec.Struct):
    """A stretch of a window with one purpose; without memories it is recorded all the same."""

    name: str
    message_ids: list[str]
    candidates: list[Candidate]


class Candidates(Scoped, kw_only=True):
    """One record a window (`memory.candidates.v1`); the first of a window wins."""

    session_id: str
    window_id: str
    ordinal: int
    strategy: str
    model: str
    prompt: str
    scenes: list[Scene]
    dropped: dict[str, int] = {}
    extracted_at: int


class Extraction(Scoped):
    """How far extraction came in one session (`memory.extractions.v1`)."""

    session_id: str
    last_ordinal: int
    window_id: str
    scene_name: str
