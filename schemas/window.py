"""Windows of a session, and what windowing remembers of the session itself."""

from collections.abc import Sequence

import msgspec

from schemas.inbox import Attachment
from schemas.scope import Scoped


class Turn(msgspec.Struct, gc=False):
    """One message inside a window. Times are epoch milliseconds."""

    offset: int
    message_id: str
    role: str
    speaker: str
    text: str
    sent_at: int
    appended_at: int
    time_zone: str
    kind: str
    attachments: list[Attachment] = []
    attributes: dict[str, str] = {}


class Filtered(msgspec.Struct, gc=False):
    """An inbox offset that was accounted for without being kept, and why."""

    offset: int
    reason: str


class Cut(msgspec.Struct, gc=False):
    """Where a window begins and ends: recorded before the window is emitted, never recomputed."""

    window_id: str
    ordinal: int
    first_offset: int
    last_offset: int
    included: list[int]
    filtered: list[Filtered]
    spilled: Sequence[Turn]
    background: Sequence[Turn]
    close_reason: str
    closed_at: int


class Session(Scoped):
    """What windowing must remember of one session across restarts (`memory.sessions.v1`)."""

    session_id: str
    next_ordinal: int = 0
    closed_through: int = -1
    spilled_through: int = -1
    cuts: list[Cut] = []
    spilled: Sequence[Turn] = []
    spilled_filtered: list[Filtered] = []
    background: Sequence[Turn] = []
    recent_ids: bytes = b""


class Window(Scoped):
    """A closed window of one session (`memory.scenes.v1`): every offset it accounts for is in it."""

    session_id: str
    window_id: str
    ordinal: int
    partition: int
    first_offset: int
    last_offset: int
    turns: Sequence[Turn]
    background: Sequence[Turn]
    filtered: list[Filtered]
    close_reason: str
    closed_at: int

    @property
    def appended_at(self) -> int:
        """When its last message came to the inbox; when it closed, where it holds none."""
        return max((turn.appended_at for turn in self.turns), default=self.closed_at)
