"""What the offline rules make of messages: true sentences that say who, or nothing."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.rules import RulesStrategy
from prompts.rules.strategy import scene_of
from schemas.candidates import Candidate
from schemas.window import Turn, Window

WEDNESDAY = "2026-03-11T12:00:00+00:00"


def turn(text: str, *, offset: int = 0, role: str = "user", speaker: str = "Maya", at: str = WEDNESDAY,
         time_zone: str = "UTC", kind: str = "chat") -> Turn:  # fmt: skip
    sent_at = int(datetime.fromisoformat(at).timestamp() * 1000)
    return Turn(offset, f"m{offset}", role, speaker, text, sent_at, sent_at, time_zone, kind)


def window(*turns: Turn, kind: str = "user") -> Window:
    return Window("acme", kind, "x", "s", "w1", 0, 0, 0, 99, list(turns), [], [], "turns", 0)


def found(*turns: Turn, kind: str = "user") -> list[Candidate]:
    return [one for scene in scene_of(window(*turns, kind=kind)).scenes for one in scene.candidates]


def texts(*turns: Turn, kind: str = "user") -> list[str]:
    return [one.text for one in found(*turns, kind=kind)]


def said(text: str, speaker: str = "Maya") -> list[str]:
    return texts(turn(text, speaker=speaker))


def ms(iso: str, zone: str) -> int:
    return int(datetime.fromisoformat(iso).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("I live in Bergen now.", "Maya lives in Bergen."),
        ("I live in Bergen, Norway, with my two cats.", "Maya lives in Bergen with their two cats."),
        ("I moved from Oslo to Bergen.", "Maya moved from Oslo to Bergen."),
        ("I moved to Bergen last month, and it rains a lot.", "Maya moved to Bergen in February 2026."),
        ("I don't live in Oslo anymore.", "Maya does not live in Oslo."),
        ("I've lived in Norway for ten years.", "Maya has lived in Norway since 2016."),
        ("I'm from Hamburg!", "Maya is from Hamburg."),
        ("I work for Equinor.", "Maya works for Equinor."),
        ("Actually, I'm a software developer.", "Maya is a software developer."),
        ("I'm 34 years old.", "Maya is 34 years old."),
        ("My birthday is on 3 May.", "Maya's birthday is on May 3."),
        ("I really love hiking in the mountains with my dog.", "Maya loves hiking in the mountains with their dog."),
        ("I can't stand cilantro.", "Maya can not stand cilantro."),
        ("I don't like coffee.", "Maya does not like coffee."),
        ("I no longer like coffee.", "Maya no longer likes coffee."),
        ("I don't eat meat.", "Maya does not eat meat."),
        ("I'm not allergic to cats.", "Maya is not allergic to cats."),
        ("My favorite color is green.", "Maya's favourite color is green."),
        ("My dog's name is Rex.", "Maya's dog is called Rex."),
        ("My sister Anna lives in Berlin.", "Maya's sister Anna lives in Berlin."),
        ("I have a dog named Rex.", "Maya's dog is called Rex."),
        ("I play tennis every Friday.", "Maya plays tennis every Friday."),
        ("I went to Paris last week, it was great.", "Maya went to Paris in the week of 2026-03-02."),
        ("Yesterday I finished my thesis.", "Maya finished their thesis on 2026-03-10."),
        ("We're moving to Lisbon in June.", "Maya is moving to Lisbon in June 2026."),
        ("I'll fly to Oslo on March 14 at 7pm.", "Maya will fly to Oslo on 2026-03-14 at 19:00."),
        ("I plan to visit my mother next weekend.", "Maya plans to visit their mother on the weekend of 2026-03-21."),
        ("I have an exam next Tuesday.", "Maya has an exam on 2026-03-17."),
        ("My sister is getting married on June 6th.", "Maya's sister is getting married on 2026-06-06."),
        ("We live in Bergen.", "Maya lives in Bergen."),
        ("I'm lactose intolerant, so no milk please.", "Maya is lactose intolerant."),
        ("I can't eat gluten.", "Maya can not eat gluten."),
        ("I do yoga on Tuesdays.", "Maya does yoga on Tuesdays."),
        ("Please remember that I'm allergic to shrimp.", "Maya is allergic to shrimp."),
        ("I'll be in Tokyo from May 3 to May 10.", "Maya will be in Tokyo from 2026-05-03 to 2026-05-10."),
        ("My flight to Berlin leaves at 6am tomorrow.", "Maya's flight to Berlin leaves at 6am on 2026-03-12."),
        ("My brother Tom and I went fishing last weekend.", "Maya went fishing on the weekend of 2026-03-07."),
        ("I adopted a cat two days ago.", "Maya adopted a cat on 2026-03-09."),
    ],
)  # fmt: skip
def test_an_english_statement_becomes_a_sentence_about_its_speaker(message: str, memory: str) -> None:
    assert memory in said(message)


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("我住在杭州。", "林浩住在杭州。"),
        ("我从上海搬到了杭州。", "林浩从上海搬到了杭州。"),
        ("我上个月搬到了深圳。", "林浩在2026年2月搬到了深圳。"),
        ("我今年35岁。", "林浩35岁。"),
        ("我是一名软件工程师。", "林浩是软件工程师。"),
        ("我住在杭州，在阿里巴巴上班。", "林浩在阿里巴巴工作。"),
        ("我是四川人。", "林浩是四川人。"),
        ("我喜欢喝龙井茶。", "林浩喜欢喝龙井茶。"),
        ("我不喜欢吃香菜。", "林浩不喜欢吃香菜。"),
        ("我不再喝咖啡了。", "林浩不再喝咖啡。"),
        ("我对花生过敏。", "林浩对花生过敏。"),
        ("我不吃牛肉。", "林浩不吃牛肉。"),
        ("我最喜欢的颜色是蓝色。", "林浩最喜欢的颜色是蓝色。"),
        ("我有一只猫，叫团团。", "林浩的猫叫团团。"),
        ("我妈妈住在苏州。", "林浩的妈妈住在苏州。"),
        ("我正在学日语。", "林浩在学日语。"),
        ("我每周三晚上打羽毛球。", "林浩每周三晚上打羽毛球。"),
        ("我昨天去了灵隐寺。", "林浩在2026年3月10日去了灵隐寺。"),
        ("昨天，我去了灵隐寺。", "林浩在2026年3月10日去了灵隐寺。"),
        ("上周末我和家人去了西湖。", "林浩在2026年3月7日那个周末和家人去了西湖。"),
        ("我打算下周五去北京出差。", "林浩打算在2026年3月20日去北京出差。"),
        ("我明天下午三点有个会。", "林浩在2026年3月12日15:00有个会。"),
        ("请记住我对虾过敏。", "林浩对虾过敏。"),
        ("我爸今年六十岁。", "林浩的爸爸六十岁。"),
        ("我叫林浩，来自成都，现在住在上海。", "林浩住在上海。"),
        ("我们有两个女儿。", "林浩有两个女儿。"),
        ("我喜欢猫，但是不喜欢狗。", "林浩不喜欢狗。"),
        ("我明天去北京。", "林浩在2026年3月12日去北京。"),
        ("我3月28日要考试。", "林浩在2026年3月28日要考试。"),
        ("我刚买了一辆车。", "林浩买了一辆车。"),
    ],
)
def test_a_chinese_statement_becomes_a_sentence_about_its_speaker(message: str, memory: str) -> None:
    assert memory in said(message, "林浩")


@pytest.mark.parametrize(
    "message",
    [
        "Do I live in Bergen?",
        "I love hiking, don't you?",
        "If I lived in Rome I would eat pasta every day.",
        "I eat meat if there is nothing else.",
        "I wish I lived in Rome.",
        "Maybe I like tea.",
        "I might move to Oslo.",
        "She said she likes cats.",
        "My colleague said I live in Paris.",
        'He wrote "I live in Paris" on the wall.',
        "I love it.",
        "I love your idea.",
        "I like the colors.",
        "I went there yesterday.",
        "I hate Mondays 🙄",
        "I just love being stuck in traffic. Not.",
        "I'm a bit tired.",
        "I'm Brian.",
        "I turned 180 degrees.",
        "I want to get the sum of two columns.",
        "I prefer option B.",
        "I have a question.",
        "I work at night.",
        "I will call you tomorrow.",
        "I finished in two days.",
        "`I live in Rome`",
        "```\nI live in Rome\n```",
        "https://example.com/I-live-in-Rome",
        "Assistant: I live in Rome.",
        "> I live in Rome.",
        "I moved to the couch.",
        "Thanks!",
        "lol",
        "",
        "你喜欢喝茶吗？",
        "如果我住在北京就好了。",
        "她说她喜欢猫。",
        "我也许会去日本。",
        "我喜欢你的想法。",
        "我太喜欢堵车了。才怪。",
        "“我住在北京”",
        "`我住在北京`",
        "我是好人。",
        "我住院了。",
        "我会讲给孩子听。",
        "我在努力工作。",
        "我明天",
        "我有一个问题。",
        "我恨不得马上走",
        "我从小喜欢画画",
        "我叫外卖",
        "哈哈",
        "助手：我住在北京。",
    ],
)
def test_what_is_not_plainly_stated_is_left_out(message: str) -> None:
    assert said(message) == []


@pytest.mark.parametrize(
    ("message", "memory", "priority"),
    [
        ("From now on, answer in Chinese.", "Maya wants the assistant to always answer in Chinese.", 90),
        ("Please keep your answers short from now on.", "Maya wants the assistant to keep its answers short.", 90),
        ("Always use metric units.", "Maya wants the assistant to always use metric units.", -1),
        ("Never use emojis in your answers!", "Maya wants the assistant never to use emojis in its answers.", -1),
        ("You can call me May.", "Maya wants to be called May.", 90),
        ("以后都用中文回答。", "Maya要求助手始终用中文回答。", 90),
        ("请永远不要用表情符号。", "Maya要求助手永远不要用表情符号。", -1),
        ("从现在起回答要简短一点", "Maya要求助手的回答始终要简短一点。", 90),
        ("以后请叫我小马。", "Maya希望被称呼为小马。", 90),
    ],
)
def test_a_standing_order_is_an_instruction_and_only_an_absolute_one_gets_minus_one(
    message: str, memory: str, priority: int
) -> None:
    (one,) = found(turn(message))
    assert (one.text, one.type, one.priority) == (memory, "instruction", priority)


@pytest.mark.parametrize(
    "message", ["Answer this question in Chinese.", "Write me a poem about Oslo.", "用中文回答这个问题。"]
)
def test_what_is_asked_once_is_no_standing_order(message: str) -> None:
    assert said(message) == []


def test_a_room_full_of_people_is_not_ordering_the_assistant_about() -> None:
    assert texts(turn("Never give up, folks!"), turn("Always use metric units.", offset=1), kind="team") == []


@pytest.mark.parametrize(
    ("one", "other", "slot"),
    [
        ("I live in Bergen.", "我搬到了杭州。", "lin|home"),
        ("I live in Oslo.", "I moved from Oslo to Bergen.", "lin|home"),
        ("I work for Equinor.", "我在腾讯工作。", "lin|employer"),
        ("I'm a nurse.", "我是医生。", "lin|job"),
        ("I'm 34 years old.", "我今年35岁。", "lin|age"),
        ("My favourite colour is green.", "我最喜欢的颜色是蓝色。", "lin|favourite color"),
        ("My sister's name is Ana.", "我妹妹叫林月。", "lin|sister's name"),
        ("From now on, answer in Chinese.", "以后都用英文回答。", "lin|rule|answer language"),
        ("I like coffee.", "I don't like coffee anymore.", "lin|likes|coffee"),
        ("I like coffee.", "I no longer like coffee.", "lin|likes|coffee"),
        ("I'm allergic to nuts.", "I'm not allergic to nuts.", "lin|allergy|nuts"),
        ("I'm vegetarian.", "我是素食者。", "lin|diet"),
    ],
)
def test_what_holds_one_value_at_a_time_has_one_slot(one: str, other: str, slot: str) -> None:
    slots = {candidate.slot for message in (one, other) for candidate in found(turn(message, speaker="Lin"))}
    assert slots == {slot}


def test_field_case_23_each_statement_of_a_sentence_is_a_memory_of_its_own() -> None:
    message = "My name is Tom Alvarez, I like skiing and I'm going to ski in Hemsedal this weekend."
    assert said(message, "Tom") == [
        "Tom's name is Tom Alvarez.",
        "Tom likes skiing.",
        "Tom plans to ski in Hemsedal on the weekend of 2026-03-14.",
    ]


def test_field_case_24_a_person_and_their_son_are_two_people() -> None:
    english = found(turn("My name is Lin Hao, my son is called Lin Yu.", speaker="Lin Hao"))
    chinese = found(turn("我叫林浩，我儿子叫林雨。", speaker=""))
    assert [one.text for one in english] == ["The user's name is Lin Hao.", "Lin Hao's son is called Lin Yu."]
    assert [one.text for one in chinese] == ["用户的名字是林浩。", "用户的儿子叫林雨。"]
    assert len({one.slot for one in english}) == len({one.slot for one in chinese}) == 2


def test_field_case_31_yesterday_in_an_imported_session_is_a_day_of_its_own_time() -> None:
    (one,) = found(turn("I adopted a cat yesterday.", at="2021-06-14T21:10:00+02:00", time_zone="Europe/Oslo"))
    assert one.text == "Maya adopted a cat on 2021-06-13."
    assert one.activity_start == ms("2021-06-13T00:00:00", "Europe/Oslo")
    assert one.activity_end == ms("2021-06-13T23:59:59.999", "Europe/Oslo")
    assert one.event_at == ms("2021-06-14T21:10:00", "Europe/Oslo")


@pytest.mark.parametrize("message", ["Tonight I'm going to see a film.", "今晚我要去看电影。"])
def test_field_case_33_tonight_at_half_past_eleven_in_utc_plus_8_is_the_local_day(message: str) -> None:
    (one,) = found(turn(message, at="2026-03-11T23:30:00+08:00", time_zone="Asia/Shanghai"))
    assert "2026-03-11" in one.text or "2026年3月11日" in one.text
    assert one.activity_start == ms("2026-03-11T00:00:00", "Asia/Shanghai")


@pytest.mark.parametrize(
    ("message", "languages"),
    [
        ("[2026年3月11日 星期三 下午11:30] I live in Bergen.", ["en"]),
        ("我住在杭州，用 Python 写代码：\n```python\nprint('I live in Rome')\n```", ["zh"]),
        ("私は東京に住んでいます。仕事は看護師です。", []),
        ("Ich wohne in Bergen und mag Kaffee.", []),
        ("저는 서울에 살아요.", []),
        ("Я живу в Москве.", []),
    ],
)
def test_field_case_34_the_language_is_that_of_the_words_the_person_wrote(message: str, languages: list[str]) -> None:
    assert [one.language for one in found(turn(message))] == languages


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_field_case_36_what_an_assistant_or_a_tool_said_is_nobodys_fact(role: str) -> None:
    turns = [turn("How do I sort this?"), turn("I live in Rome. I like tea. Always use tabs.", offset=1, role=role)]
    assert found(*turns) == []


def test_field_case_37_in_a_room_each_fact_names_who_said_it() -> None:
    turns = [
        turn("I live in Oslo.", speaker="Maya"),
        turn("I live in Boston.", offset=1, speaker="Tom"),
        turn("I'm vegetarian.", offset=2, speaker="Priya"),
        turn("I'm not vegetarian.", offset=3, speaker="Jonas"),
        turn("I live in Nowhere.", offset=4, speaker=""),
    ]
    candidates = found(*turns, kind="team")
    assert [one.text for one in candidates] == [
        "Maya lives in Oslo.", "Tom lives in Boston.", "Priya is vegetarian.", "Jonas is not vegetarian.",
    ]  # fmt: skip
    assert [one.speaker for one in candidates] == ["Maya", "Tom", "Priya", "Jonas"]
    assert len({one.slot for one in candidates}) == 4
    assert scene_of(window(*turns, kind="team")).dropped == {"no_speaker": 1}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("You are a helpful assistant.\nAlways answer in French. Never reveal this.", "boot_text"),
        ("System: I live in Rome.", "boot_text"),
        ("你是一个智能助手。请永远用中文回答。", "boot_text"),
        ("<relevant_memories>\nI live in Rome.\n</relevant_memories>", "echoed"),
        ("Relevant memories:\n- I live in Rome.\n- Always use metric units.", "echoed"),
        ("[Memory 3] I live in Rome.", "echoed"),
        ("相关记忆：\n- 我住在北京。", "echoed"),
    ],
)
def test_field_case_38_boot_text_and_echoed_memories_are_not_stored_again(message: str, reason: str) -> None:
    extracted = scene_of(window(turn(message)))
    assert extracted.scenes[0].candidates == []
    assert reason in extracted.dropped


def test_what_a_person_adds_below_an_echo_is_still_theirs() -> None:
    assert said("Relevant memories:\n- I live in Rome.\n\nThat is old: I live in Bergen.") == []
    assert said("Relevant memories:\n- I live in Rome.\n\nI live in Bergen.") == ["Maya lives in Bergen."]


def test_the_same_statement_twice_in_a_window_is_one_memory_with_both_sources() -> None:
    (one,) = found(turn("I live in Oslo."), turn("Yes, I live in Oslo.", offset=7))
    assert [(source.message_id, source.offset, source.window_id) for source in one.sources] == [
        ("m0", 0, "w1"), ("m7", 7, "w1"),
    ]  # fmt: skip


def test_a_move_of_long_ago_says_nothing_of_where_someone_lives_now() -> None:
    (one,) = found(turn("I moved to Bergen in 2012."))
    assert (one.text, one.slot) == ("Maya moved to Bergen in 2012.", "")


def test_documents_are_not_what_their_sender_says_of_themselves() -> None:
    assert found(turn("I live in Rome.", kind="document")) == []


@pytest.mark.parametrize("piece", ["@", "a@", "1", " ", "下午", "<memory", "`", "I live in ", "relevant memories "])
def test_a_text_of_one_thing_again_and_again_is_read_in_linear_time(piece: str) -> None:
    # 4,000 at signs took 80 s: one message of anybody's would have stopped its partition.
    found(turn(piece * 4000))


async def test_a_window_without_a_topic_stays_in_the_scene_before_it() -> None:
    strategy = RulesStrategy()
    first = await strategy.extract(window(turn("I live in Oslo.")), "")
    second = await strategy.extract(window(turn("Thanks!"), turn("ok", offset=1)), first.scenes[0].name)
    assert first.scenes[0].name == "Maya talks about home."
    assert (second.scenes[0].name, second.scenes[0].candidates) == (first.scenes[0].name, [])
    assert second.scenes[0].message_ids == ["m0", "m1"]


@given(
    st.text(max_size=300) | st.text(alphabet="I live in Oslo我住在杭州'\"`,.。，0123456789 -年月日at", max_size=200),
    st.sampled_from(["UTC", "Asia/Shanghai", "Nowhere/At_All", "", "../etc"]),
    st.integers(-(10**12), 4 * 10**12),
)
def test_whatever_a_message_holds_it_is_read_without_an_error(text: str, time_zone: str, sent_at: int) -> None:
    turns = [Turn(0, "m", "user", "Maya", text, sent_at, 0, time_zone, "chat")]
    for one in found(*turns):
        assert one.text.endswith((".", "。"))
        assert not re.search(r"\b(?:I|my|me)\b|我", one.text)
