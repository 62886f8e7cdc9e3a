"""What intake has validated: keyed by scope, complete, typed."""

from typing import Annotated

import msgspec

from schemas.compiled import run
from schemas.scope import Scoped


class Attachment(msgspec.Struct, gc=False):
    """A part of a message that is not text."""

    type: str
    url: str | None = None
    name: str | None = None
    media_type: str | None = None


class InboxMessage(Scoped, kw_only=True):
    """A validated message. Times are epoch milliseconds.

    `noise` is why no window keeps it, and its text is left out then; empty: one does. `stripped`
    has the kinds of noise that were cut out of the text.
    """

    session_id: str
    noise: str = ""
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
    stripped: list[str] = []


class Arrived(msgspec.Struct, gc=False):
    """An inbox message as windowing reads it (projected, never written): `place`, the session; what
    the rules look at; and the same once more as bytes, which go into windows as they came.
    """

    place: Annotated[bytes, run("tenant", "session_id")]
    noise: str
    message_id: str
    role: str
    speaker: str
    text: str
    sent_at: int
    words: Annotated[bytes, run("message_id", "kind")]
    extras: Annotated[bytes, run("attachments", "attributes")]


class InboxCommand(Scoped, kw_only=True):
    """A validated command."""

    session_id: str
    command_id: str
    type: str
    received_at: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
