import pytest

from prompts.language import language_of, language_of_users
from schemas.window import Turn


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I moved to Bergen last week", "en"),
        ("我上周搬到了卑尔根", "zh"),
        ("我用 Kafka, Flink, LanceDB 和 Faust", "zh"),
        ("报错了: TypeError cannot read property of undefined", "zh"),
        ("帮我看看这段\n```python\ndef f(x): return the_value_of(x) if x is not None else 0\n```", "zh"),
        ("My friend 王小明 lives in Berlin", "en"),
        ("[2024年5月3日 下午3点] I like green tea", "en"),
        ("明日は東京で会議があります", "ja"),
        ("東京駅で待っています", "ja"),
        ("저는 베를린에 삽니다", "ko"),
        ("OK", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_that_of_the_writer(text: str, language: str) -> None:
    assert language_of(text) == language


def test_only_users_have_a_vote() -> None:
    def turn(role: str, text: str) -> Turn:
        return Turn(0, "m", role, role, text, 0, 0, "UTC", "chat")

    assert (
        language_of_users(
            [turn("assistant", "好的，我会记住您的喜好，随时为您服务"), turn("user", "Thanks, I like tea")]
        )
        == "en"
    )
    assert (
        language_of_users(
            [turn("assistant", "Of course, I will keep that in mind for you"), turn("user", "我喜欢喝茶")]
        )
        == "zh"
    )


@pytest.mark.parametrize("text", ["1" * 200_000, " " * 200_000, "下午" * 50_000])
def test_a_text_of_one_thing_only_is_read_in_linear_time(text: str) -> None:
    # 40,000 digits took 48 s: any user could have stopped a partition with one message.
    assert language_of(text)
