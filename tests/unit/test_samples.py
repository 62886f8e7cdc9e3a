"""The sample conversations of the demo are whole messages, and there is something in them to remember."""

from collections import Counter
from datetime import datetime
from pathlib import Path

import msgspec

import topics
from prompts.rules.strategy import scene_of
from schemas.chat import ChatMessage
from schemas.window import Turn, Window

SAMPLES = Path(topics.__file__).parent / "samples" / "chat.jsonl"


def messages() -> list[ChatMessage]:
    return [msgspec.json.decode(line, type=ChatMessage) for line in SAMPLES.read_bytes().splitlines()]


def test_every_sample_is_a_message_with_a_time_in_a_zone() -> None:
    for message in messages():
        assert isinstance(message.sent_at, str)
        assert datetime.fromisoformat(message.sent_at).tzinfo is not None
        assert message.time_zone
        assert message.session_id
        assert message.content


def test_the_samples_hold_two_tenants_a_room_a_tool_loop_and_an_old_session() -> None:
    sent = messages()
    assert {message.tenant for message in sent} == {"acme", "hua"}
    assert {message.scope_kind for message in sent} == {"user", "team"}
    assert max(Counter((message.session_id, message.content) for message in sent).values()) == 8
    assert any(str(message.sent_at).startswith("2021") for message in sent)


def test_the_rules_find_memories_in_both_languages_in_the_samples() -> None:
    languages: Counter[str] = Counter()
    for offset, message in enumerate(messages()):
        assert isinstance(message.content, str)
        sent_at = int(datetime.fromisoformat(str(message.sent_at)).timestamp() * 1000)
        turn = Turn(offset, str(offset), message.role, message.speaker or "", message.content, sent_at, sent_at,
                    message.time_zone or "UTC", "chat")  # fmt: skip
        window = Window(message.tenant, message.scope_kind, str(message.scope_id), str(message.session_id), "w", 0, 0,
                        offset, offset, [turn], [], [], "turns", 0)  # fmt: skip
        languages.update(one.language for one in scene_of(window).scenes[0].candidates)
    assert languages["en"] >= 50
    assert languages["zh"] >= 25
