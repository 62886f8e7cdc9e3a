"""Publishing chat from JSON lines: each is checked, given a stable id where it has none, and confirmed."""

import asyncio
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from schemas.chat import ChatMessage
from schemas.scope import Scope
from topics.catalogue import CHAT_MESSAGES
from topics.producer import Producer

CONFIRM_EVERY = 1000
"""Lines between two waits for the broker."""


class InvalidLineError(ValueError):
    """A line is no chat message. The text starts with `line N:`, counted from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number


async def publish_file(
    path: Path, producer: Producer, *, topic: str = CHAT_MESSAGES.name, progress: Callable[[int], None] | None = None
) -> int:
    """Publish the lines of a file; see `publish_lines`. The whole file is checked before anything is sent."""
    await asyncio.to_thread(_check, path)
    with path.open("rb") as lines:
        return await publish_lines(lines, producer, topic=topic, progress=progress)


async def publish_lines(
    lines: Iterable[bytes],
    producer: Producer,
    *,
    topic: str = CHAT_MESSAGES.name,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Publish each line as it comes and return how many the broker has acknowledged.

    `lines` may block: they are read in a thread. `progress` is called with the number acknowledged
    so far. Raises InvalidLineError at the first line that is no chat message (those before it are
    published; doing it again is harmless) and DeliveryError where the broker refuses a record.
    """
    messages = prepare(lines)
    acknowledged = 0
    while True:
        deliveries = producer.deliveries()

        def send_some(send: Callable[..., None] = deliveries.send) -> int:
            count = 0
            for key, value in islice(messages, CONFIRM_EVERY):
                send(topic, key=key, value=value)
                count += 1
            return count

        sent = await asyncio.to_thread(send_some)
        await deliveries.confirmed()
        acknowledged += sent
        if progress is not None and sent:
            progress(acknowledged)
        if sent < CONFIRM_EVERY:
            return acknowledged


def standard_input() -> Iterable[bytes]:
    """The lines of standard input, as bytes."""
    return sys.stdin.buffer


def prepare(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Record key and JSON value of each line that is not blank. Pure but for what `lines` does.

    The key is the scope's, so that one scope's messages keep their order. A message without an id
    gets a hash of what it says, who says it, where and when, and of how often that has occurred
    before: the same lines have the same ids in any file and at any time. Fields that the contract
    does not know are passed on.
    """
    seen: Counter[bytes] = Counter()
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            continue
        fields, message = _parse(number, text)
        scope = Scope(message.tenant, message.scope_kind, str(message.scope_id))
        if message.message_id is None:
            digest = _digest(scope, message)
            fields["message_id"] = _id(digest, seen[digest])
            seen[digest] += 1
        yield scope.key, msgspec.json.encode(fields)


def _parse(number: int, text: bytes) -> tuple[dict[str, Any], ChatMessage]:
    try:
        fields = msgspec.json.decode(text)
        return fields, msgspec.convert(fields, ChatMessage)
    except msgspec.ValidationError as error:
        raise InvalidLineError(number, str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidLineError(number, f"not JSON: {error}") from error


def _digest(scope: Scope, message: ChatMessage) -> bytes:
    session = None if message.session_id is None else str(message.session_id)
    said = (scope, session, message.role, message.speaker, message.content, message.sent_at)
    return hashlib.blake2b(msgspec.json.encode(said, order="sorted"), digest_size=16).digest()


def _id(digest: bytes, occurrence: int) -> str:
    return hashlib.blake2b(digest + occurrence.to_bytes(8, "big"), digest_size=16).hexdigest()


def _check(path: Path) -> None:
    with path.open("rb") as lines:
        for _ in prepare(lines):
            pass
