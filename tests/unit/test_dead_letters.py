"""What is kept of a record that cannot be processed."""

from dataclasses import dataclass, field

from topics.dead_letters import MAX_MESSAGE_BYTES, PREFIX, dead_letter


@dataclass
class Record:
    topic: str = "chat.messages.v1"
    partition: int = 3
    offset: int = 41
    key: bytes | None = b"k"
    value: bytes | None = b"\x00\xff not ours"
    headers: list[tuple[str, bytes]] = field(default_factory=list)


def headers_of(record: Record, error: BaseException | str) -> dict[str, bytes]:
    return dict(dead_letter(record, stage="intake", error=error, attempt=2, now=1_700_000_000_000)[2])


def test_key_and_value_are_the_original_bytes() -> None:
    key, value, _ = dead_letter(Record(), stage="intake", error="no", now=0)
    assert (key, value) == (b"k", b"\x00\xff not ours")


def test_a_tombstone_stays_one() -> None:
    assert dead_letter(Record(key=None, value=None), stage="intake", error="no", now=0)[:2] == (None, None)


def test_headers_say_where_it_was_and_why_it_is_here() -> None:
    assert headers_of(Record(), ValueError("scope_id is empty")) == {
        PREFIX + "stage": b"intake",
        PREFIX + "topic": b"chat.messages.v1",
        PREFIX + "partition": b"3",
        PREFIX + "offset": b"41",
        PREFIX + "exception": b"ValueError",
        PREFIX + "message": b"scope_id is empty",
        PREFIX + "attempt": b"2",
        PREFIX + "time": b"1700000000000",
    }


def test_the_records_own_headers_are_kept_and_those_of_an_earlier_stay_replaced() -> None:
    record = Record(headers=[("trace", b"t1"), ("trace", b"t2"), (PREFIX + "message", b"old")])
    _, _, headers = dead_letter(record, stage="intake", error="new", now=0)
    assert headers[:2] == [("trace", b"t1"), ("trace", b"t2")]
    assert [value for name, value in headers if name == PREFIX + "message"] == [b"new"]


def test_a_reason_that_quotes_bad_input_is_cut_and_stays_text() -> None:
    reason = headers_of(Record(), "\ud800" + "雪" * 1_000_000)[PREFIX + "message"]
    assert len(reason) <= MAX_MESSAGE_BYTES
    assert reason.decode("utf-8").startswith("\\ud800雪")
