"""Lines of JSON as records: keys, stable ids, and errors that name the line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.scope import Scope
from topics.publisher import InvalidLineError, prepare


def line(**fields: object) -> bytes:
    return json.dumps({"scope_id": "lin", "content": "hi", **fields}).encode()


def ids(lines: list[bytes]) -> list[str]:
    return [json.loads(value)["message_id"] for _, value in prepare(lines)]


def test_the_key_is_the_scopes() -> None:
    ((key, _),) = prepare([line(tenant="acme", scope_kind="team", scope_id=7)])
    assert key == Scope("acme", "team", "7").key


def test_an_id_that_is_there_is_kept() -> None:
    assert ids([line(message_id="m1"), line(message_id=0)]) == ["m1", 0]


def test_fields_beyond_the_contract_are_passed_on() -> None:
    ((_, value),) = prepare([line(extra={"a": [1]})])
    assert json.loads(value)["extra"] == {"a": [1]}


def test_the_same_lines_have_the_same_ids_whatever_stands_around_them() -> None:
    first = ids([line(content="a"), line(content="b")])
    assert ids([b"", line(content="other"), line(content="a"), b"  \r\n", line(content="b")])[1:] == first


def test_a_line_that_occurs_again_is_another_message() -> None:
    assert len(set(ids([line(), line(), line()]))) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "acme"},
        {"scope_kind": "team"},
        {"scope_id": "ana"},
        {"session_id": "s"},
        {"role": "assistant"},
        {"speaker": "Bo"},
        {"content": [{"type": "text", "text": "hi"}]},
        {"sent_at": 1},
    ],
    ids=lambda other: next(iter(other)),
)
def test_whatever_makes_a_message_another_one_makes_another_id(other: dict[str, object]) -> None:
    assert ids([line()]) != ids([line(**other)])


def test_an_id_does_not_depend_on_the_order_of_fields() -> None:
    assert ids([b'{"scope_id":"a","content":"x"}']) == ids([b'{"content":"x", "scope_id":"a"}'])


@given(st.lists(st.sampled_from("abc"), max_size=20))
def test_ids_are_unique_and_publishing_twice_repeats_them(texts: list[str]) -> None:
    lines = [line(content=text) for text in texts]
    assert len(set(ids(lines))) == len(lines)
    assert ids(lines) == ids(lines)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "Expected `object`"),
        (b'{"content": "x"}', "missing required field `scope_id`"),
        (b'{"scope_id": "a"}', "missing required field `content`"),
        (b'{"scope_id": "a", "content": null}', r"\$.content"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_reason(bad: bytes, reason: str) -> None:
    with pytest.raises(InvalidLineError, match=f"^line 3: .*{reason}"):
        list(prepare([line(), b"", bad]))


def test_a_byte_order_mark_does_not_hurt() -> None:
    assert len(ids([b"\xef\xbb\xbf" + line()])) == 1
