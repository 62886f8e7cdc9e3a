"""Small windows, candidates and memories for tests of what a model is asked and says."""

from datetime import datetime

from schemas.candidates import Candidate, Source
from schemas.memory import ACTIVE, Memory
from schemas.window import Turn, Window


def at(moment: str) -> int:
    """ISO 8601 with offset as epoch milliseconds."""
    return int(datetime.fromisoformat(moment).timestamp() * 1000)


SAID = at("2024-05-03T23:30:00+08:00")


def turn(
    message_id: str,
    text: str,
    *,
    role: str = "user",
    speaker: str = "Lin",
    sent_at: int = SAID,
    offset: int = 0,
    time_zone: str = "Asia/Shanghai",
) -> Turn:
    return Turn(offset, message_id, role, speaker, text, sent_at, sent_at, time_zone, "chat")


def window(*turns: Turn, background: tuple[Turn, ...] = ()) -> Window:
    return Window(
        tenant="acme",
        scope_kind="user",
        scope_id="lin",
        session_id="s1",
        window_id="w1",
        ordinal=0,
        partition=0,
        first_offset=0,
        last_offset=len(turns),
        turns=list(turns),
        background=list(background),
        filtered=[],
        close_reason="turns",
        closed_at=SAID,
    )


def candidate(text: str, *, type_: str = "persona", priority: int = 60, language: str = "en") -> Candidate:
    source = Source("s1", "m1", 0, SAID, "w1")
    return Candidate(text, type_, SAID, [source], priority=priority, language=language, speaker="Lin")


def memory(memory_id: str, text: str, *, type_: str = "persona", priority: int = 60) -> Memory:
    return Memory(
        memory_id=memory_id,
        tenant="acme",
        scope_kind="user",
        scope_id="lin",
        session_id="s0",
        key="",
        text=text,
        type=type_,
        tags=[],
        priority=priority,
        scene_name="Getting to know Lin",
        subject="Lin",
        speaker="Lin",
        slot="",
        language="en",
        activity_start=None,
        activity_end=None,
        valid_from=SAID - 86_400_000,
        valid_until=None,
        created_at=SAID,
        decided_at=SAID,
        status=ACTIVE,
        supersedes=[],
        superseded_by=None,
        sources=[Source("s0", "m0", 0, SAID - 86_400_000, "w0")],
        window_id="w0",
        strategy="scenes",
        policy="conflict",
        model="test",
        prompt="scenes.extract@1",
        scope_seq=1,
    )
