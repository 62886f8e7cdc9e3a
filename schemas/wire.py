"""Parts of events as they lie on the wire: what windowing takes over from a message without encoding it again.

An inbox record begins with its place (tenant, scope, session), and what was said stands in it as it
does in a window: a turn's body is its offset, its append time, and those bytes.
"""

import json
from typing import Any

from fastavro.schema import parse_schema

from schemas.compiled import VARINTS, Compiled, compiled
from schemas.inbox import InboxCommand
from schemas.scope import Scoped
from schemas.text import schema_text
from schemas.window import Session, Turn

BARE = b"\0\0"
"""The extras of a turn that has neither attachments nor attributes."""


class Place(Scoped):
    """A session's name, complete."""

    session_id: str


def _part(kind: Any, event: str, first: str, last: str, within: str | None = None) -> Compiled:
    parsed: Any = parse_schema(json.loads(schema_text(event)))
    schema = parsed["__named_schemas"][within] if within else parsed
    names = [field["name"] for field in schema["fields"]]
    fields = schema["fields"][names.index(first) : names.index(last) + 1]
    return compiled(kind, {**schema, "fields": fields, "__named_schemas": parsed["__named_schemas"]})


_PLACE = _part(Place, "inbox_message", "tenant", "session_id")
_HEAD = _part(Turn, "window", "offset", "kind", "memweir.Turn")
_EXTRAS = _part(Turn, "window", "attachments", "attributes", "memweir.Turn")


def place_of(event: InboxCommand | Session) -> bytes:
    """Whose session it is: equal for equal sessions, and as `Arrived.place` has it."""
    pieces: list[bytes] = []
    _PLACE.write(event, pieces)
    return b"".join(pieces)


def session_at(place: bytes) -> Session:
    """A session without a past, of the name that `place` spells."""
    named, _ = _PLACE.read(place, 0)
    return Session(named.tenant, named.scope_kind, named.scope_id, session_id=named.session_id)


def head(offset: int, appended_at: int, words: bytes) -> bytes:
    """The first half of a turn's body, from the bytes of a message's words."""
    return VARINTS[offset] + VARINTS[appended_at] + words


def head_of(turn: Turn) -> bytes:
    pieces: list[bytes] = []
    _HEAD.write(turn, pieces)
    return b"".join(pieces)


def extras_of(turn: Turn) -> bytes:
    """The second half: attachments and attributes."""
    pieces: list[bytes] = []
    _EXTRAS.write(turn, pieces)
    return b"".join(pieces)
