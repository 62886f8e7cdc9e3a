import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.answers import LONGEST, UnparsableError, ids_of, number_of, parse_records, text_of
from prompts.scenes import read
from schemas.candidates import Candidate
from tests.windows import turn, window

FIELDS = ("content", "memories", "scene_name")
ONE = [{"content": "Lin likes tea"}]
TWO = [{"content": "Lin likes tea"}, {"content": "Lin lives in Bergen"}]


def items(text: str, *, truncated: bool = False) -> list[dict[str, Any]]:
    return parse_records(text, FIELDS, truncated=truncated).items


@pytest.mark.parametrize(
    "text", ['[{"content":"Lin likes tea"},]', '[{"content":"Lin likes tea",}]', '[{"content":"Lin likes tea",},]']
)
def test_a_trailing_comma_is_as_if_it_were_not_there(text: str) -> None:
    assert items(text) == ONE


@pytest.mark.parametrize(
    "text",
    [
        '<think>{maybe: {x}} or [1] "</think>[{"content":"Lin likes tea"}]',
        '<think>\n[{"content":"a draft"}]\n</think>\n\n[{"content":"Lin likes tea"}]',
        'I take {x} and [y].\n</think>\n[{"content":"Lin likes tea"}]',
        '<thinking>no</thinking>```json\n[{"content":"Lin likes tea"}]\n```',
    ],
)
def test_thoughts_with_braces_in_them_are_not_the_answer(text: str) -> None:
    assert items(text) == ONE


def test_thoughts_without_an_answer_are_unusable() -> None:
    with pytest.raises(UnparsableError, match="empty"):
        items('<think>I was cut in the middle of [{"content":"an idea"}')


@pytest.mark.parametrize(
    "text",
    [
        '```json\n[{"content":"Lin likes tea"}]\n```',
        '```\n[{"content":"Lin likes tea"},]\n```',
        'Here is what [I] found:\n\n```json\n[{"content":"Lin likes tea"}]\n```\nIs {that} fine?',
        'Sure! [{"content":"Lin likes tea"}] Hope it helps {smile}',
    ],
)
def test_fences_and_prose_around_the_answer_do_not_count(text: str) -> None:
    assert items(text) == ONE


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<think>x</think>{}", "Look: {}"])
def test_a_value_with_fences_and_tags_in_it_is_kept_whole(around: str) -> None:
    value = "Lin ends code with ``` and <think>thoughts</think> with {braces]"
    assert items(around.replace("{}", json.dumps([{"content": value}]))) == [{"content": value}]


@pytest.mark.parametrize(
    "text",
    [
        '{"content":"Lin likes tea"}',
        '{"scenes":[{"content":"Lin likes tea"}]}',
        '{"result":"ok","items":[{"content":"Lin likes tea"}]}',
        '[[{"content":"Lin likes tea"}]]',
    ],
)
def test_a_list_or_an_object_makes_no_difference(text: str) -> None:
    assert items(text) == ONE


def test_one_object_a_line_is_a_list() -> None:
    assert items("\n".join(json.dumps(item) for item in TWO)) == TWO


def test_a_raw_newline_and_a_bad_escape_keep_the_text() -> None:
    (item,) = items('[{"content":"first line\nC:\\data is where Lin works"}]')
    assert item["content"].startswith("first line\n")
    assert item["content"].endswith("data is where Lin works")


@pytest.mark.parametrize(
    "tail",
    [
        '{"content":"half of th',
        '{"content":',
        '{"content":"half","metadata":{"a":{}',
        "{",
        "",
        '{"content":"ends in a }',
    ],
)
def test_of_a_cut_answer_the_whole_items_are_kept_and_the_cut_is_counted(tail: str) -> None:
    records = parse_records(json.dumps(TWO)[:-1] + ", " + tail, FIELDS, truncated=True)
    assert records.items == TWO
    assert records.dropped == {"cut": 1}


def test_a_cut_is_noticed_without_being_told() -> None:
    records = parse_records(json.dumps(TWO)[:-1] + ', {"content":"half of th', FIELDS)
    assert (records.items, records.dropped) == (TWO, {"cut": 1})


def test_a_cut_inside_a_scene_keeps_its_whole_memories() -> None:
    text = '[{"scene_name":"Tea","message_ids":["1"],"memories":[{"content":"a","metadata":{}},{"content":"b"},{"cont'
    (scene,) = items(text, truncated=True)
    assert scene == {
        "scene_name": "Tea",
        "message_ids": ["1"],
        "memories": [{"content": "a", "metadata": {}}, {"content": "b"}],
    }


def test_a_cut_between_objects_on_lines_keeps_the_whole_ones() -> None:
    records = parse_records('{"content":"a"}\n{"content":"b"}\n{"content":"c', FIELDS, truncated=True)
    assert (records.items, records.dropped) == ([{"content": "a"}, {"content": "b"}], {"cut": 1})


def test_a_cut_before_the_first_whole_item_is_unusable() -> None:
    with pytest.raises(UnparsableError, match="cut"):
        items('[{"scene_name":"Tea","message_ids":["1","2"', truncated=True)


def test_a_whole_answer_that_only_reached_the_limit_is_not_cut() -> None:
    assert parse_records(json.dumps(TWO), FIELDS, truncated=True).dropped == {}


def test_an_empty_list_is_an_answer() -> None:
    assert items("[]") == items("```json\n[]\n```") == []


@pytest.mark.parametrize(
    "text", ["", "  ", "I cannot help with that.", "null", "42", '"no"', "[1, 2]", "x" * (LONGEST + 1), "[" * 50_000]
)
def test_what_holds_no_record_is_unusable(text: str) -> None:
    with pytest.raises(UnparsableError):
        items(text)


def test_parts_that_are_no_records_are_counted() -> None:
    records = parse_records('[{"content":"Lin likes tea"}, 7, "x"]', FIELDS)
    assert (records.items, records.dropped) == (ONE, {"not_a_record": 2})


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("85", 85),
        (85.4, 85),
        (" 7 ", 7),
        (True, None),
        (None, None),
        ("high", None),
        (float("nan"), None),
        (10**400, None),
        ([], None),
    ],
)
def test_a_number_is_a_number_or_nothing(value: object, number: int | None) -> None:
    assert number_of(value) == number


def test_ids_may_be_numbers_or_a_single_text() -> None:
    assert ids_of([1, "2", "2", None, True, {"id": 3}, " "]) == ["1", "2"]
    assert ids_of("m1") == ["m1"]
    assert ids_of(None) == ids_of({}) == []


def test_a_text_can_always_be_stored() -> None:
    assert text_of(" a\x00b\ud800 ") == "ab?"
    assert text_of("...") == text_of(["x"]) == text_of(None) == ""


SHOWN = window(
    turn("m1", "I like tea", offset=1),
    turn("m2", "Noted.", role="assistant", offset=2),
    turn("m3", "And jazz", offset=3),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["m1", "m2", "m3", "m9", "2024-05-03", "persona"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=3)
            | st.sampled_from(
                [
                    "scene_name",
                    "message_ids",
                    "memories",
                    "content",
                    "type",
                    "priority",
                    "source_message_ids",
                    "metadata",
                    "activity_start_time",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)
MEMORIES = st.fixed_dictionaries(
    {"content": st.just("Lin likes tea") | VALUES},
    optional={"type": VALUES, "priority": VALUES, "source_message_ids": VALUES, "metadata": VALUES},
)
SCENES = st.lists(
    st.fixed_dictionaries(
        {"memories": st.lists(MEMORIES, max_size=3) | VALUES}, optional={"scene_name": VALUES, "message_ids": VALUES}
    ),
    max_size=3,
)


def held_to_the_contract(text: str, *, truncated: bool) -> None:
    try:
        extracted = read(text, truncated, SHOWN, "before")
    except UnparsableError:
        return
    assert sorted(id_ for scene in extracted.scenes for id_ in scene.message_ids) == ["m1", "m2", "m3"]
    assert all(count > 0 for count in extracted.dropped.values())
    for scene in extracted.scenes:
        for candidate in scene.candidates:
            is_valid(candidate)


def is_valid(candidate: Candidate) -> None:
    assert candidate.text.strip()
    assert candidate.text.encode("utf-8")
    assert candidate.type in {"persona", "episodic", "instruction"}
    assert 0 <= candidate.priority <= 100 or (candidate.priority == -1 and candidate.type == "instruction")
    assert {source.message_id for source in candidate.sources} <= {"m1", "m2", "m3"}
    assert {source.message_id for source in candidate.sources} & {"m1", "m3"}


@given(st.text(alphabet=st.characters(codec=None)), st.booleans())
def test_any_text_is_an_answer_or_a_rejection(text: str, truncated: bool) -> None:
    held_to_the_contract(text, truncated=truncated)


@given(st.text(alphabet='[]{}",:\\` \nabm1</think>'), st.booleans())
def test_any_text_of_json_characters_is_an_answer_or_a_rejection(text: str, truncated: bool) -> None:
    held_to_the_contract(text, truncated=truncated)


@given(VALUES | SCENES, st.booleans())
def test_any_json_is_an_answer_or_a_rejection(value: object, truncated: bool) -> None:
    held_to_the_contract(json.dumps(value), truncated=truncated)


@given(SCENES, st.integers(min_value=1))
def test_an_answer_cut_anywhere_is_an_answer_or_a_rejection(value: object, length: int) -> None:
    text = json.dumps(value)
    held_to_the_contract(text[: length % len(text)], truncated=True)
