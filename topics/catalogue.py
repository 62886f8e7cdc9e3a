"""Every topic of memweir: what is on it, under which key, for how long, and why so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

import msgspec

from schemas.candidates import Candidates, Extraction
from schemas.chat import ChatMessage, Command
from schemas.inbox import InboxCommand, InboxMessage
from schemas.memory import DecisionRecord, MemoryChanged
from schemas.window import Session, Window

MAX_RECORD_BYTES = 8 * 1024 * 1024
"""Room for a window of long messages, or a decision record with all its vectors."""

INNER: Mapping[str, str] = {"max.message.bytes": str(MAX_RECORD_BYTES)}

# Compaction leaves the segment alone that is being written. These topics are read whole at each
# assignment, so their segments are small: most of what is stale is then gone.
RESTORED: Mapping[str, str] = {**INNER, "segment.bytes": str(32 * 1024 * 1024)}


@dataclass(frozen=True)
class Topic:
    """One topic. `events` are the types on it; none where it holds other people's bytes.

    `retention` belongs to policy `delete` only. `gateways` marks the topics that others own: they
    are created where they are missing, and are never reported as different.
    """

    name: str
    key: str
    events: tuple[type[msgspec.Struct], ...]
    policy: Literal["delete", "compact"]
    why: str
    retention: timedelta | None = None
    config: Mapping[str, str] = field(default_factory=dict, hash=False)
    gateways: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """The topic's configuration as Kafka names it."""
        settings = {"cleanup.policy": self.policy, **self.config}
        if self.retention is not None:
            settings["retention.ms"] = str(self.retention // timedelta(milliseconds=1))
        return settings


CHAT_MESSAGES = Topic(
    name="chat.messages.v1",
    key="anything",
    events=(ChatMessage,),
    policy="delete",
    retention=timedelta(days=7),
    gateways=True,
    why="Any gateway may publish here under any key. A week lets an intake that was down catch up.",
)

COMMANDS = Topic(
    name="memory.commands.v1",
    key="anything",
    events=(Command,),
    policy="delete",
    retention=timedelta(days=30),
    gateways=True,
    why="What applications ask for. Kept for a month, so that a request can be shown when somebody asks about it.",
)

INBOX = Topic(
    name="memory.inbox.v1",
    key="scope",
    events=(InboxMessage, InboxCommand),
    policy="delete",
    retention=timedelta(days=30),
    config={**INNER, "message.timestamp.type": "LogAppendTime"},
    why="Messages and commands share one order a scope. The broker's own clock stamps them: a session is idle "
    "by that time and by no gateway's. A month, because open windows are read from here again after a crash.",
)

SESSIONS = Topic(
    name="memory.sessions.v1",
    key="scope + session",
    events=(Session,),
    policy="compact",
    config=RESTORED,
    why="Recorded cuts: a window is cut once and only once. The last record of a session is all that counts.",
)

SCENES = Topic(
    name="memory.scenes.v1",
    key="scope",
    events=(Window,),
    policy="delete",
    retention=timedelta(days=30),
    config=INNER,
    why="Closed windows wait here for a model. A month is the longest model outage that loses nothing.",
)

CANDIDATES = Topic(
    name="memory.candidates.v1",
    key="scope",
    events=(Candidates,),
    policy="delete",
    retention=timedelta(days=30),
    config=INNER,
    why="What a model has found, paid for once. As long as the windows, so that either outage is survived alike.",
)

EXTRACTIONS = Topic(
    name="memory.extractions.v1",
    key="scope + session",
    events=(Extraction,),
    policy="compact",
    config=RESTORED,
    why="How far each session has been extracted, and its last scene's name. Only the newest counts.",
)

DECISIONS = Topic(
    name="memory.decisions.v1",
    key="scope + window id",
    events=(DecisionRecord,),
    policy="compact",
    config=INNER,
    why="The truth. One record a window, never deleted by age: every table is made from it again.",
)

CHANGES = Topic(
    name="memory.changes.v1",
    key="scope",
    events=(MemoryChanged,),
    policy="delete",
    retention=timedelta(days=7),
    config=INNER,
    why="News for subscribers. Who is away for more than a week reads the memories themselves.",
)

DLQ = Topic(
    name="memory.dlq.v1",
    key="the original's",
    events=(),
    policy="delete",
    retention=timedelta(days=30),
    config=INNER,
    why="Bytes that could not be processed, and the reason in headers. A month to look at them and send them back.",
)

CATALOGUE = (
    CHAT_MESSAGES,
    COMMANDS,
    INBOX,
    SESSIONS,
    SCENES,
    CANDIDATES,
    EXTRACTIONS,
    DECISIONS,
    CHANGES,
    DLQ,
)
"""All of them, in the order in which a message passes."""
