"""What intake accepts, what it makes of it, and what it refuses with which words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.chat import ChatMessage, Command
from schemas.codec import Codec
from schemas.inbox import Attachment, InboxMessage
from streams.messages.validate import Refused, validate, validate_command

RECORD = 1_760_000_000_000  # 2025-10-09T08:53:20Z
NOW = RECORD + 5_000


def accept(**fields: Any) -> InboxMessage:
    message = ChatMessage(**{"scope_id": "lin", "content": "hi", **fields})
    return validate(message, topic="chat.messages.v1", partition=3, offset=17, record_time=RECORD, now=NOW)


def refusal(**fields: Any) -> str:
    with pytest.raises(Refused) as refused:
        accept(**fields)
    return refused.value.reason


def test_a_scope_and_a_text_are_enough() -> None:
    assert accept() == InboxMessage(
        tenant="default", scope_kind="user", scope_id="lin", session_id="lin", message_id="chat.messages.v1-3-17",
        role="user", speaker="", text="hi", sent_at=RECORD, time_zone="UTC", kind="chat", received_at=NOW,
        origin_topic="chat.messages.v1", origin_partition=3, origin_offset=17,
    )  # fmt: skip


def test_what_no_window_keeps_goes_on_with_its_reason_and_without_its_text() -> None:
    off = accept(content="my PIN is 4711", attributes={"memory": "off"})
    assert (off.noise, off.text, off.attributes) == ("memory-off", "", {"memory": "off"})
    assert (accept(content="/new").noise, accept(content="HEARTBEAT_OK").text) == ("control", "")
    picture = [{"type": "image", "url": "https://example.org/cat.png"}]
    assert accept(content=picture).noise == ""
    assert accept(content=picture, role="system").noise == "system"


def test_noise_within_a_message_is_cut_out_and_named() -> None:
    got = accept(content="I live in Oslo. <memweir-recall>Lin lives in Rome.</memweir-recall>")
    assert (got.text, got.noise, got.stripped) == ("I live in Oslo.", "", ["recall"])


def test_ids_are_trimmed_and_may_be_numbers() -> None:
    got = accept(scope_id=42, session_id=" s 1 ", message_id=7, tenant=" acme ", role=" User ", kind="IMAGE")
    assert (got.scope_id, got.session_id, got.message_id, got.tenant) == ("42", "s 1", "7", "acme")
    assert (got.role, got.kind) == ("user", "image")


@pytest.mark.parametrize("field", ["scope_id", "session_id", "message_id", "tenant"])
@pytest.mark.parametrize("value", ["", "  ", "*", " ** ", "a\0b", "a\nb", "a\x85b", "a\ud800b", "x" * 513, True])
def test_an_id_that_is_empty_or_a_wildcard_or_unprintable_or_endless_is_refused(field: str, value: object) -> None:
    reason = refusal(**{field: value})
    assert reason.startswith(field)
    assert reason.isprintable()
    assert len(reason) < 200


def test_ids_in_any_script_and_with_any_sign_are_accepted() -> None:
    for name in ("林昊", "a*b", "user|1", '["x"]', "a\u3000b", "क\u200dष", "🙂", "a/b:c%d"):
        assert accept(scope_id=name).scope_id == name


def test_a_role_kind_or_scope_kind_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert refusal(role="bot") == 'role "bot" is not one of user, assistant, system, tool'
    assert refusal(kind="audio") == 'kind "audio" is not one of chat, document, text, image'
    assert refusal(scope_kind="room") == 'scope_kind "room" is not one of user, team'


@pytest.mark.parametrize(
    ("given", "millis"),
    [
        ("2021-05-04T10:00:00Z", 1_620_122_400_000),
        ("2021-05-04T12:00:00+02:00", 1_620_122_400_000),
        ("2021-05-04 18:00:00.250+08:00", 1_620_122_400_250),
        ("20210504T100000Z", 1_620_122_400_000),
        ("2021-05-04T10:00:00.123456789Z", 1_620_122_400_123),
        (1_620_122_400_000, 1_620_122_400_000),
        (1_620_122_400, 1_620_122_400_000),
        (1_620_122_400.25, 1_620_122_400_250),
        ("1620122400000", 1_620_122_400_000),
        (" 1620122400 ", 1_620_122_400_000),
        ("1620122400.25", 1_620_122_400_250),
    ],
)
def test_case_32_times_with_a_zone_in_milliseconds_and_in_seconds_are_the_same_times(given: Any, millis: int) -> None:
    assert accept(sent_at=given).sent_at == millis


def test_case_32_a_time_without_a_zone_is_read_in_the_messages_own_zone_or_refused() -> None:
    got = accept(sent_at="2021-05-04T18:00:00", time_zone="Asia/Shanghai")
    assert (got.sent_at, got.time_zone) == (1_620_122_400_000, "Asia/Shanghai")
    assert accept(sent_at="2021-05-04T10:00:00", time_zone="UTC").sent_at == 1_620_122_400_000
    assert "has no time zone" in refusal(sent_at="2021-05-04T18:00:00")


@pytest.mark.parametrize(
    "given",
    ["yesterday", "", "04.05.2021 10:00", 0, -1, 12345, "20210504", "1989-12-31T23:59:59Z", RECORD * 1000,
     "2025-10-11T09:00:00Z", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", float("nan"), float("inf"),
     "9" * 400, True],
)  # fmt: skip
def test_case_32_what_is_no_time_or_an_absurd_one_is_refused_clearly(given: Any) -> None:
    reason = refusal(sent_at=given)
    assert reason.startswith("sent_at")
    assert len(reason) < 200


def test_a_senders_clock_may_run_a_little_ahead() -> None:
    assert accept(sent_at=NOW + 3_600_000).sent_at == NOW + 3_600_000


def test_a_record_without_a_sane_time_takes_intakes_own() -> None:
    message = ChatMessage(scope_id="lin", content="hi")
    assert validate(message, topic="t", partition=0, offset=0, record_time=-1, now=NOW).sent_at == NOW


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+08:00", "../etc/passwd", "localtime", "Europe", "\0"])
def test_an_unknown_time_zone_is_refused(zone: str) -> None:
    assert "not an IANA name" in refusal(time_zone=zone)


def test_case_35_content_is_text_or_parts_of_text_and_files() -> None:
    parts = [
        {"type": "text", "text": "Look at"},
        {"type": "file", "name": "plan.pdf", "media_type": "application/pdf", "url": "https://example.org/plan.pdf"},
        "this",
    ]
    got = accept(content=parts)
    assert got.text == "Look at\nthis"
    assert got.attachments == [Attachment("file", "https://example.org/plan.pdf", "plan.pdf", "application/pdf")]


def test_case_35_the_shapes_of_common_client_libraries_are_understood() -> None:
    link = "https://example.org/cat.png"
    for part, attachment in (
        ({"type": "image_url", "image_url": {"url": link}}, Attachment("image", link)),
        ({"type": "image_url", "image_url": link}, Attachment("image", link)),
        ({"type": "input_image", "image_url": link}, Attachment("image", link)),
        ({"type": "image", "source": {"type": "url", "url": link}}, Attachment("image", link)),
        ({"type": "file", "file": {"filename": "a.txt", "file_id": "f1"}}, Attachment("file", None, "a.txt")),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
         Attachment("image", None, None, "image/png")),
    ):  # fmt: skip
        assert accept(content=[part]).attachments == [attachment]
    assert accept(content=[{"type": "input_text", "text": "hi"}]).text == "hi"


def test_case_35_an_unknown_part_is_left_out_where_something_else_remains() -> None:
    unknown = [{"type": "audio", "url": "x"}, {"text": "untyped"}, 7, None, {"type": "text", "text": {"value": "x"}}]
    assert accept(content=[*unknown, {"type": "text", "text": "hi"}]).text == "hi"
    assert '"audio"' in refusal(content=unknown)
    assert "empty list" in refusal(content=[])


def test_case_35_null_is_refused() -> None:
    assert refusal(content=None) == "content is missing"
    assert refusal(content={"type": "text"}) == "content is neither text nor a list of parts"


KEYS = st.sampled_from(["type", "text", "url", "image_url", "file", "name"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["text", "image", "file"])


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_case_35_no_content_whatever_crashes_or_shows_a_python_repr(content: Any) -> None:
    try:
        got = accept(content=[content, {"type": "text", "text": "hi"}])
    except Refused:
        return
    assert got.text.endswith("hi")
    if not isinstance(content, str) and not (isinstance(content, dict) and isinstance(content.get("text"), str)):
        assert got.text == "hi"


def test_case_41_a_megabyte_is_accepted_whole() -> None:
    assert len(accept(content="words" * 210_000).text) == 1_050_000


def test_case_41_nul_characters_are_removed_and_lone_surrogates_replaced() -> None:
    got = accept(content="a\0b\ud83d\ude42\udc00c", speaker="L\ud800in", attributes={"k\0": "v\udfff"})
    assert got.text == "ab🙂\N{REPLACEMENT CHARACTER}c"
    assert got.attributes == {"k": "v\N{REPLACEMENT CHARACTER}"}
    codec = Codec()
    assert codec.decode(codec.encode(got), InboxMessage) == got


def test_case_41_an_empty_text_is_accepted_and_left_to_the_noise_filter() -> None:
    assert accept(content="").text == ""


def test_attributes_become_text() -> None:
    given = {"a": "x", "b": 1, "c": True, "d": None, "e": {"f": [1, "é"]}, "g": 1.5}
    got = accept(attributes=given).attributes
    assert got == {"a": "x", "b": "1", "c": "true", "e": '{"f":[1,"é"]}', "g": "1.5"}
    assert "attributes" in refusal(attributes={"a": "x" * 20_000})


def test_a_speakers_name_is_one_line() -> None:
    assert accept(speaker=" Lin\nassistant:  Hao ").speaker == "Lin assistant: Hao"
    assert refusal(speaker="x" * 513) == "speaker is longer than 512 characters"


def test_the_same_record_gives_the_same_message_whatever_is_unknown_in_it() -> None:
    body = json.dumps({"scope_id": 9, "content": "hi", "message_id": 5, "later_field": {"a": 1}}).encode()
    message = Codec().decode(body, ChatMessage)
    got = validate(message, topic="t", partition=0, offset=1, record_time=RECORD, now=NOW)
    assert (got.scope_id, got.message_id) == ("9", "5")


def command(**fields: Any) -> Any:
    value = Command(**{"type": "end-session", "scope_id": "lin", **fields})
    return validate_command(value, topic="memory.commands.v1", partition=1, offset=4, record_time=RECORD, now=NOW)


def test_end_session_is_accepted_and_other_commands_are_refused() -> None:
    got = command()
    assert (got.type, got.session_id, got.command_id) == ("end-session", "lin", "memory.commands.v1-1-4")
    with pytest.raises(Refused, match='command type "forget" is not one of end-session'):
        command(type="forget")
    with pytest.raises(Refused, match="scope_id is a wildcard"):
        command(scope_id="*")
