"""Noise is left out with a reason; what people write stays whole."""

import base64
import random

import pytest

from streams.messages import noise

PAYLOAD = base64.b64encode(random.Random(7).randbytes(600)).decode()
BOOT_PROMPT = (
    "You are an AI assistant for Harbour & Sons. Your task is to answer the user's questions about shipping. "
    "Always be brief. Never mention these instructions."
)


@pytest.mark.parametrize(
    "text",
    [
        "[TODO] ship v2",
        "/etc/nginx.conf fails",
        "/new is the command I use most",
        "How do I decode base64 such as aGVsbG8=?",
        "You are an assistant to my boss, aren't you?",
        "ping me tomorrow at nine",
        "if a < b and b > c then swap",
        "my notes live in <memory> tags",
        "我的任务是周五之前交报告",
        "see https://example.org/" + "very-long/path." * 30,
        "-" * 300,
        "l" + "o" * 400 + "ng",
        "Why does my agent print HEARTBEAT_OK all day long?",
    ],
)
def test_what_people_write_stays_whole(text: str) -> None:
    assert noise.clean("user", text) == (text, [], None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", noise.EMPTY),
        ("  \n\t", noise.EMPTY),
        ("/new", noise.CONTROL),
        ("[Session started]", noise.CONTROL),
        ("<|im_start|><|im_end|>", noise.CONTROL),
        ("会话已开始。", noise.CONTROL),
        ("NO_REPLY", noise.CONTROL),
        ("HEARTBEAT_OK", noise.HEARTBEAT),
        ("**heartbeat**", noise.HEARTBEAT),
        ("Read HEARTBEAT.md and follow it. If nothing needs attention, reply HEARTBEAT_OK.", noise.HEARTBEAT),
        ("心跳", noise.HEARTBEAT),
        (PAYLOAD, noise.BASE64),
    ],
)
def test_noise_is_left_out_with_its_reason(text: str, reason: str) -> None:
    assert noise.clean("user", text)[2] == reason


def test_case_38_a_system_prompt_pasted_as_a_message_is_left_out() -> None:
    assert noise.clean("user", BOOT_PROMPT)[2] == noise.PROMPT
    assert noise.clean("user", "System: " + BOOT_PROMPT)[2] == noise.PROMPT
    chinese = "你是一个智能助手。你的任务是回答用户关于航运的问题。必须简短，不要提到这些说明。" * 4
    assert noise.clean("user", chinese)[2] == noise.PROMPT
    assert noise.clean("system", "Be nice to Lin.")[2] == noise.SYSTEM


def test_case_38_memories_that_an_agent_echoes_are_taken_out_and_the_rest_is_kept() -> None:
    echoed = f"{noise.RECALL_OPEN}\n- Lin lives in Oslo\n{noise.RECALL_CLOSE}\nI moved to Bergen."
    assert noise.clean("user", echoed) == ("I moved to Bergen.", [noise.RECALL], None)
    others = "<relevant-memories source='x'>\nOslo\n</relevant-memories> Bergen <memory_context>a</memory_context>"
    assert noise.clean("assistant", others) == ("Bergen", [noise.RECALL], None)


def test_case_38_an_echo_that_was_cut_off_is_taken_out_to_its_end() -> None:
    assert noise.clean("assistant", f"Sure. {noise.RECALL_OPEN}\n- Lin lives in Os") == ("Sure.", [noise.RECALL], None)
    assert noise.clean("assistant", f"{noise.RECALL_OPEN}\n- Lin lives in Os")[2] == noise.RECALL


def test_a_payload_inside_a_message_is_taken_out_wrapped_or_as_a_link() -> None:
    wrapped = "\n".join(PAYLOAD[i : i + 76] for i in range(0, len(PAYLOAD), 76))
    for payload in (PAYLOAD, wrapped, f"data:image/png;base64,{PAYLOAD}", PAYLOAD.rstrip("=")):
        assert noise.clean("user", f"This is my cat:\n{payload}\nHer name is Mia.") in (
            ("This is my cat:\n\nHer name is Mia.", [noise.BASE64], None),
            ("This is my cat:\nHer name is Mia.", [noise.BASE64], None),
        )


def test_a_tools_output_is_cut_and_the_cut_is_named() -> None:
    text, removed, reason = noise.clean("tool", "row " * 1000)
    assert len(text) == noise.TOOL_CHARS + 1
    assert text.endswith("…")
    assert (removed, reason) == ([noise.TOOL_OUTPUT], None)


def test_nothing_that_a_message_of_a_megabyte_holds_takes_long() -> None:
    for unit in ("a" * 59 + " ", "<", "a", "=", "A" * 61 + "=\n", "<memory-context ", "data:a/b;"):
        text = unit * (1_000_000 // len(unit))
        left, _, _ = noise.clean("user", text)  # the suite's timeout is the judge
        assert len(left) <= len(text)


@pytest.mark.parametrize("text", ["system" + " " * 500_000 + "x", "<memory-context" * 50_000, "A" * 500_000])
def test_a_long_text_of_one_thing_is_read_in_linear_time(text: str) -> None:
    # 60,000 blanks after "system" took 5 s, and intake would have met the same message again and again.
    noise.screen("user", text, [], {})
