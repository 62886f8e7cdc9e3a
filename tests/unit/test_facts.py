import pytest

from streams.decisions import facts

ALIKE_BUT_DIFFERENT = [
    ("Lin eats meat", "Lin does not eat meat", facts.NEGATION),
    ("Lin is a vegetarian", "Lin is no longer a vegetarian", facts.NEGATION),
    ("Lin likes coriander", "Lin hates coriander", facts.NEGATION),
    ("Lin likes tea, not coffee", "Lin likes coffee, not tea", facts.NEGATION),
    ("Use emojis", "Don’t use emojis", facts.NEGATION),
    ("林浩吃肉", "林浩不吃肉", facts.NEGATION),
    ("林浩喜欢香菜", "林浩讨厌香菜", facts.NEGATION),
    ("林浩有车", "林浩没有车", facts.NEGATION),
    ("Lin has two cats", "Lin has three cats", facts.NUMBER),
    ("The flat costs 1,200 euros", "The flat costs 1200.50 euros", facts.NUMBER),
    ("林浩有两只猫", "林浩有三只猫", facts.NUMBER),
    ("The review is on 3 May", "The review is on 5 May", facts.DATE),
    ("The review is on Monday", "The review is on Tuesday", facts.DATE),
    ("The review is at 9:30", "The review is at 10:30", facts.DATE),
    ("会议在5月3日", "会议在5月5日", facts.DATE),
    ("会议在周一", "会议在周三", facts.DATE),
    ("Ana manages Ben", "Ben manages Ana", facts.NAME),
    ("Lin met Ana", "Lin met Ben", facts.NAME),
    ("Lin is allergic to nuts", "Lin's son is allergic to nuts", facts.NAME),
    ("Lin visits Oslo", "Lin wants to visit Oslo", facts.CERTAINTY),
    ("Lin likes tea more than coffee", "Lin likes coffee more than tea", facts.ORDER),
]

SAID_OTHERWISE = [
    ("Lin has two cats", "Lin has 2 cats"),
    ("林浩有两只猫", "林浩有2只猫"),
    ("林浩二十五岁", "林浩25岁"),
    ("The review is on 3 May 2024", "The review is on 2024-05-03"),
    ("The review is on May 3rd", "The review is on the 3 of May"),
    ("The flat costs 1,200 euros", "The flat costs 1200 euros"),
    ("Lin dislikes coffee", "Lin doesn't like coffee"),
    ("Lin likes tea", "Lin doesn't dislike tea"),
    ("林浩和同事一起吃饭", "林浩和同事吃饭"),
    ("林浩觉得这家店不错", "林浩觉得这家店好"),
]


@pytest.mark.parametrize(("one", "other", "kind"), ALIKE_BUT_DIFFERENT)
def test_sentences_that_look_alike_are_told_apart(one: str, other: str, kind: str) -> None:
    assert facts.difference(one, other) == facts.difference(other, one) == kind
    assert not facts.same_statement(one, other, cosine=0.99)
    assert not facts.same_statement(other, one, cosine=0.99)


@pytest.mark.parametrize(("one", "other"), SAID_OTHERWISE)
def test_another_way_of_writing_is_no_difference(one: str, other: str) -> None:
    assert facts.difference(one, other) == ""


def test_two_sentences_that_both_say_not_are_no_conflict_by_that_alone() -> None:
    assert facts.difference("Lin does not eat meat", "Lin does not drink milk") == ""
    assert facts.difference("林浩不吃肉", "林浩不喝酒") == ""
    assert not facts.same_statement("Lin does not eat meat", "Lin does not drink milk", cosine=0.99)


@pytest.mark.parametrize(
    ("one", "known"),
    [
        ("Lin drinks black tea every morning before work", "Lin drinks black coffee every morning before work"),
        ("Tom likes skiing and skis this weekend", "Tom likes skiing"),
        ("Lin writes C", "Lin writes C++"),
        ("我叫林浩，我儿子叫林雨", "我叫林浩"),
        ("林浩住在上海", "林浩喜欢上海"),
    ],
)
def test_what_says_more_or_else_is_not_the_same_however_close_the_vectors(one: str, known: str) -> None:
    assert not facts.same_statement(one, known, cosine=0.99)


def test_a_sentence_that_leaves_a_word_out_is_the_same_only_where_the_vectors_agree() -> None:
    known = "Lin plays the violin in a small village orchestra"
    assert facts.same_statement("Lin plays violin in a village orchestra", known, cosine=0.95)
    assert not facts.same_statement("Lin plays violin in a village orchestra", known, cosine=0.7)
    assert not facts.same_statement("Lin plays violin in a village orchestra", known, cosine=None)
    assert facts.same_statement("lin plays the violin, in a SMALL village orchestra!", known, cosine=None)


@pytest.mark.parametrize(
    ("one", "known", "same"),
    [
        ("Lin moved to Oslo", "Lin lives in Oslo", True),
        ("Lin moved from Oslo to Bergen", "Lin lives in Bergen", True),
        ("Lin moved from Oslo to Bergen", "Lin lives in Oslo", False),
        ("Lin works at Norsk Hydro", "Lin works at Norsk Hydro as an engineer", True),
        ("Lin works at Norsk Hydro as an engineer", "Lin works at Norsk Hydro", False),
        ("Lin is called Lin Hao", "Lin is called Lin Hao Ran", False),
        ("Lin lives in York", "Lin lives in New York", False),
        ("Lin lives in Oslo", "Lin no longer lives in Oslo", False),
        ("Lin is 34 years old", "Lin is 35 years old", False),
        ("林从北京搬到了上海", "林住在上海", True),
        ("林从北京搬到了上海", "林住在北京", False),
    ],
)
def test_two_sentences_of_one_slot_are_compared_by_its_value(one: str, known: str, same: bool) -> None:
    assert facts.same_value(one, known, "lin" if one.startswith("Lin") else "林") is same


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("Lin lives in Oslo", "Lin moved from Oslo to Bergen in the week of 2023-12-04", ("Oslo", "Bergen")),
        ("林住在北京", "林从北京搬到了上海", ("北京", "上海")),
        ("Lin's favourite colour is blue", "Lin's favourite colour is green", ("blue", "green")),
        ("The project is with Ana's team", "The project moved from Ana's team to Ben's team", ("Ana", "Ben")),
        ("Lin is 34 years old", "Lin is 35 years old", ("34", "35")),
    ],
)
def test_a_change_is_shown_as_a_person_would_name_it(old: str, new: str, shown: tuple[str, str]) -> None:
    assert facts.change(old, new, "林" if "林" in old else "lin") == shown


def test_a_relative_day_ties_a_sentence_to_the_day_it_was_said() -> None:
    assert facts.tied_to_a_day("Lin sees the dentist tomorrow")
    assert facts.tied_to_a_day("林下周去上海")
    assert not facts.tied_to_a_day("Lin sees the dentist on 3 May 2024")
