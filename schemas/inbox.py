"""What intake has validated: keyed by scope, complete, typed."""

import msgspec

from schemas.scope import Scoped


class Attachment(msgspec.Struct, gc=False):
    """A part of a message that is not text."""

    type: str
    url: str | None = None
    name: str | None = None
    media_type: str | None = None


class InboxMessage(Scoped, kw_only=True):
    """A validated message. Times are epoch milliseconds."""

    session_id: str
    message_id: str
    role: str
    speaker: str
    text: str
    sent_at: int
    time_zone: str
    kind: str
    attachments: list[Attachment] = []
    attributes: dict[str, str] = {}
    received_at: int
    origin_topic: str
    origin_partition: int
    origin_offset: int


class InboxCommand(Scoped, kw_only=True):
    """A validated command."""

    session_id: str
    command_id: str
    type: str
    received_at: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
