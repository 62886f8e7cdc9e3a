"""The chat that every measurement reads: sessions side by side, as gateways publish them."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec

PARTITIONS = 4
MESSAGES_A_SESSION = 50

_START = datetime(2026, 3, 2, 8, tzinfo=UTC)
_OPENINGS = (
    "I moved to Lisbon last month and", "Could you remind me tomorrow that", "My sister Ana says", "Honestly,",
    "For the offsite in June", "我昨天跟同事说过,", "Since the last release", "Quick question:",
    "At the gym this morning", "Der Arzt meinte,",
)  # fmt: skip
_MIDDLES = (
    "I still miss the bakery near my old flat", "we keep the staging cluster on the old version",
    "oat milk is fine but no sugar, please", "the blue folder has all the invoices from 2025",
    "下周三下午三点要去医院复查", "the train leaves at 7:42 and I would rather not run for it",
    "he has started to learn the cello, of all things", "I'd prefer short answers without bullet points",
)  # fmt: skip
_ENDINGS = (
    ".", ", and nothing else has changed since we talked.", "; what do you think about that?", "!",
    ". Remember that for the next time I ask, it comes up every other week or so.", ", 谢谢。",
)  # fmt: skip


def messages(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Key and JSON value of `count` messages: users and assistants in turn, 50 a session, no two alike.

    The sessions run side by side and each in order; about 360 bytes a message.
    """
    dice = random.Random(3)
    sessions = max(count // MESSAGES_A_SESSION, 1)
    said = [0] * sessions
    for number in range(count):
        session = dice.randrange(sessions)
        user = said[session] % 2 == 0
        said[session] += 1
        scope = f"user-{session:05d}"
        value = {
            "tenant": "acme" if session % 3 else "globex",
            "scope_kind": "user",
            "scope_id": scope,
            "session_id": f"chat-{session:05d}-7f3a",
            "message_id": f"01JNB{number:010d}",
            "role": "user" if user else "assistant",
            "content": f"{dice.choice(_OPENINGS)} {dice.choice(_MIDDLES)}{dice.choice(_ENDINGS)} ({number})",
            "sent_at": (_START + timedelta(milliseconds=7 * number)).isoformat(timespec="milliseconds"),
            "time_zone": "Europe/Lisbon",
            "attributes": {"client": "ios"},
        }
        yield scope.encode(), msgspec.json.encode(value)
