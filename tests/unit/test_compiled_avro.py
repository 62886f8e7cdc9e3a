"""The generated readers and writers against fastavro, and against bytes that are no events."""

import contextlib
import io
from typing import Any

import fastavro
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from schemas import wire
from schemas.chat import ChatMessage, Command
from schemas.codec import EVENTS, Codec, UndecodableError
from schemas.compiled import compiled
from schemas.inbox import Arrived, Attachment, InboxMessage
from schemas.text import schema_text
from schemas.window import Turn

OURS = [kind for kind in EVENTS if kind not in (ChatMessage, Command)]
CODEC = Codec()
HEADER = 10

_TEXT = st.text(st.characters(codec="utf-8"), max_size=80)
_LONG = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-200, 200)


def values(type_: inspect.Type) -> st.SearchStrategy[Any]:
    """Any value that a field of this type may hold."""
    match type_:
        case inspect.StructType(cls=kind, fields=fields):
            return st.builds(kind, **{field.name: values(field.type) for field in fields})
        case inspect.ListType(item_type=item):
            return st.lists(values(item), max_size=3)
        case inspect.DictType(value_type=value):
            return st.dictionaries(_TEXT, values(value), max_size=3)
        case inspect.UnionType(types=types):
            return st.one_of(*(values(each) for each in types))
        case inspect.NoneType():
            return st.none()
        case inspect.StrType():
            return _TEXT
        case inspect.IntType():
            return _LONG
        case inspect.BytesType():
            return st.binary(max_size=80)
    raise AssertionError(type_)


def events() -> st.SearchStrategy[Any]:
    return st.sampled_from(OURS).flatmap(lambda kind: values(inspect.type_info(kind)))


def small() -> InboxMessage:
    return InboxMessage(
        tenant="acme", scope_kind="user", scope_id="lin", session_id="s", message_id="m", role="user", speaker="",
        text="好" * 40, sent_at=1_772_366_400_000, time_zone="UTC", kind="chat",
        attachments=[Attachment("image", name="cat.png")], attributes={"client": "ios"}, received_at=1,
        origin_topic="chat.messages.v1", origin_partition=3, origin_offset=300,
    )  # fmt: skip


@given(events())
def test_what_is_written_is_what_fastavro_reads(event: Any) -> None:
    schema = fastavro.parse_schema(msgspec.json.decode(schema_text(EVENTS[type(event)])))
    body = io.BytesIO(CODEC.encode(event)[HEADER:])
    assert fastavro.schemaless_reader(body, schema, None) == msgspec.to_builtins(event, builtin_types=(bytes,))
    assert body.read() == b""


@given(events())
def test_what_fastavro_writes_is_read_as_the_same_event(event: Any) -> None:
    schema = fastavro.parse_schema(msgspec.json.decode(schema_text(EVENTS[type(event)])))
    body = io.BytesIO()
    fastavro.schemaless_writer(body, schema, msgspec.to_builtins(event, builtin_types=(bytes,)))
    assert CODEC.decode(CODEC.encode(event)[:HEADER] + body.getvalue(), type(event)) == event


@given(events(), st.data())
def test_a_record_that_is_cut_short_is_refused(event: Any, data: st.DataObject) -> None:
    encoded = CODEC.encode(event)
    end = data.draw(st.integers(HEADER, len(encoded) - 1))
    with pytest.raises(UndecodableError):
        CODEC.decode(encoded[:end], type(event))


@given(events(), st.data())
def test_damaged_bytes_give_an_event_or_are_refused_and_nothing_else(event: Any, data: st.DataObject) -> None:
    damaged = bytearray(CODEC.encode(event))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(HEADER, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(UndecodableError):
        CODEC.decode(bytes(damaged), type(event))


@given(values(inspect.type_info(InboxMessage)), _LONG, _LONG)
def test_windowing_reads_of_a_message_what_it_needs_and_takes_over_the_bytes_of_the_rest(
    message: InboxMessage, offset: int, appended_at: int
) -> None:
    arrived = CODEC.decode(CODEC.encode(message), Arrived)
    names = [name for name in Arrived.__struct_fields__ if name in InboxMessage.__struct_fields__]
    assert [getattr(arrived, name) for name in names] == [getattr(message, name) for name in names]
    session = wire.session_at(arrived.place)
    assert (session.scope, session.session_id) == (message.scope, message.session_id)
    assert arrived.place == wire.place_of(session)
    turn = Turn(
        offset, message.message_id, message.role, message.speaker, message.text, message.sent_at, appended_at,
        message.time_zone, message.kind, message.attachments, message.attributes,
    )  # fmt: skip
    assert wire.head(offset, appended_at, arrived.words) == wire.head_of(turn)
    assert arrived.extras == wire.extras_of(turn)


@given(values(inspect.type_info(InboxMessage)), st.data())
def test_a_message_that_is_cut_short_within_what_windowing_reads_is_refused(
    message: InboxMessage, data: st.DataObject
) -> None:
    rest = {"received_at": 0, "origin_topic": "", "origin_partition": 0, "origin_offset": 0, "stripped": []}
    needed = CODEC.encode(msgspec.structs.replace(message, **rest))[: -len(rest)]
    with pytest.raises(UndecodableError):
        CODEC.decode(needed[: data.draw(st.integers(HEADER, len(needed) - 1))], Arrived)


@pytest.mark.parametrize("name", ["tenant", "session_id", "time_zone", "kind", "text", "speaker"])
def test_windowing_refuses_a_message_with_a_broken_text_anywhere_in_what_it_copies(name: str) -> None:
    # Copied unread, it made its window and its session's record unreadable: the partition never restored again.
    encoded = CODEC.encode(msgspec.structs.replace(small(), **{name: "broken-here"}))
    with pytest.raises(UndecodableError):
        CODEC.decode(encoded.replace(b"broken-here", b"broken-\xff\xfe\xff\xff"), Arrived)


def test_an_array_in_blocks_that_tell_their_size_is_read() -> None:
    # Java's blocking encoder writes a negative count, then the block's length in bytes.
    encoded = CODEC.encode(small())
    attributes = b"\x02\x0cclient\x06ios\x00"
    blocks = b"\x01\x16" + attributes[1:]
    assert attributes in encoded
    assert CODEC.decode(encoded.replace(attributes, blocks), InboxMessage) == small()


@pytest.mark.parametrize("field", ["text", "sent_at", "attachments"])
def test_a_value_of_the_wrong_type_is_not_written(field: str) -> None:
    with pytest.raises((TypeError, AttributeError)):
        CODEC.encode(msgspec.structs.replace(small(), **{field: None if field != "attachments" else ["cat.png"]}))


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1])
def test_a_number_that_no_long_holds_is_not_written(number: int) -> None:
    with pytest.raises(OverflowError):
        CODEC.encode(msgspec.structs.replace(small(), sent_at=number))


def test_a_schema_beyond_the_compiled_types_is_refused_at_once() -> None:
    class Odd(msgspec.Struct):
        x: float

    schema = fastavro.parse_schema(
        {"type": "record", "name": "Odd", "fields": [{"name": "x", "type": "double"}]}, _force=True
    )
    with pytest.raises(TypeError, match="double"):
        compiled(Odd, schema)
