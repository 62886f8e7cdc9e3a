"""Parts of events as they lie on the wire: what windowing takes over from a message without encoding it again.

An inbox record begins with its place (tenant, scope, session), and what was said stands in it as it
does in a window: a turn's body is its offset, its append time, and those bytes.
"""

import json
from collections.abc import Sequence
from typing import Any

from fastavro.schema import parse_schema

from schemas.compiled import VARINTS, Compiled, Encoded, compiled, varint
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


_SESSION = compiled(Session, parse_schema(json.loads(schema_text("session"))))
_PLACE = _part(Place, "inbox_message", "tenant", "session_id")
_HEAD = _part(Turn, "window", "offset", "kind", "memweir.Turn")
_TURN = _part(Turn, "window", "offset", "attributes", "memweir.Turn")
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
    return varint(offset) + VARINTS[appended_at] + words


def head_of(turn: Turn) -> bytes:
    pieces: list[bytes] = []
    _HEAD.write(turn, pieces)
    return b"".join(pieces)


def extras_of(turn: Turn) -> bytes:
    """The second half: attachments and attributes."""
    pieces: list[bytes] = []
    _EXTRAS.write(turn, pieces)
    return b"".join(pieces)


def turn(body: bytes) -> Turn:
    """The turn of a body: its two halves, one after the other."""
    value: Turn = _TURN.read(body, 0)[0]
    return value


def turns(bodies: Sequence[bytes]) -> Encoded:
    """Turns that are written as they lie here."""
    return Encoded(bodies, _TURN.read)


def packed(session: Session) -> bytes:
    """A session's record without a header: for memory, not for a topic."""
    pieces: list[bytes] = []
    _SESSION.write(session, pieces)
    return b"".join(pieces)


def unpacked(session: bytes) -> Session:
    value: Session = _SESSION.read(session, 0)[0]
    return value
