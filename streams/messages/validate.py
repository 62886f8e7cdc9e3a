"""What gateways and applications send, made complete and typed, or refused with a reason.

Defaults: the session is the scope's id; the message id is topic-partition-offset, which a replay of
the same record gives again; the time is the Kafka record's; the zone is UTC.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from schemas.chat import ChatMessage, Command
from schemas.inbox import InboxCommand, InboxMessage
from streams.messages import content, noise, times
from streams.messages.refused import Refused, shown

__all__ = ["Refused", "validate", "validate_command"]

SCOPE_KINDS = ("user", "team")
ROLES = ("user", "assistant", "system", "tool")
KINDS = ("chat", "document", "text", "image")
COMMANDS = ("end-session",)

ID_CHARS = 512
ATTRIBUTE_CHARS = 16_384

# C0, DEL, C1 and surrogates; format characters may be part of a name in many scripts.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def validate(
    message: ChatMessage, *, topic: str, partition: int, offset: int, record_time: int, now: int
) -> InboxMessage:
    """An inbox message from a gateway's, which came as the given Kafka record.

    `record_time` and `now` (this process's clock) are epoch milliseconds. Raises Refused.
    """
    scope_id = _known_id("scope_id", message.scope_id)
    text, attachments = content.read(message.content)
    zone = times.zone_name(message.time_zone)
    role = _one_of("role", message.role, ROLES)
    attributes = _attributes(message.attributes) if message.attributes else {}
    text, stripped, reason = noise.screen(role, text, attachments, attributes)
    return InboxMessage(
        tenant=_known_id("tenant", message.tenant),
        scope_kind=_one_of("scope_kind", message.scope_kind, SCOPE_KINDS),
        scope_id=scope_id,
        session_id=scope_id if message.session_id is None else _known_id("session_id", message.session_id),
        message_id=(
            f"{topic}-{partition}-{offset}" if message.message_id is None else _id("message_id", message.message_id)
        ),
        role=role,
        speaker=_speaker(message.speaker) if message.speaker else "",
        text=text,
        sent_at=times.sent_at(message.sent_at, zone if message.time_zone else None, record_time, now),
        time_zone=zone,
        kind=_one_of("kind", message.kind, KINDS),
        attachments=attachments,
        attributes=attributes,
        received_at=now,
        origin_topic=topic,
        origin_partition=partition,
        origin_offset=offset,
        noise=reason,
        stripped=stripped,
    )


def validate_command(
    command: Command,
    *,
    topic: str,
    partition: int,
    offset: int,
    record_time: int,  # noqa: ARG001 (called as `validate` is)
    now: int,
) -> InboxCommand:
    """An inbox command from an application's; arguments as for `validate`. Raises Refused."""
    scope_id = _id("scope_id", command.scope_id)
    return InboxCommand(
        tenant=_id("tenant", command.tenant),
        scope_kind=_one_of("scope_kind", command.scope_kind, SCOPE_KINDS),
        scope_id=scope_id,
        session_id=scope_id if command.session_id is None else _id("session_id", command.session_id),
        command_id=(
            f"{topic}-{partition}-{offset}" if command.command_id is None else _id("command_id", command.command_id)
        ),
        type=_one_of("command type", command.type, COMMANDS),
        received_at=now,
        origin_topic=topic,
        origin_partition=partition,
        origin_offset=offset,
    )


def _id(field: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise Refused(f"{field} is missing" if value is None else f"{field} is neither text nor a whole number")
    text = value.strip()
    if not text:
        raise Refused(f"{field} is empty")
    if len(text) > ID_CHARS:
        raise Refused(f"{field} is longer than {ID_CHARS} characters")
    if not text.isprintable() and _FORBIDDEN.search(text):
        raise Refused(f"{field} {shown(text)} has a control character in it")
    if text[0] == "*" and not text.strip("*"):
        raise Refused(f"{field} is a wildcard: name one")
    return text


# The same tenants, scopes and sessions come all the time. Typed: 1 and True are equal, and only one is an id.
_known_id = lru_cache(maxsize=20_000, typed=True)(_id)


def _one_of(field: str, value: object, valid: tuple[str, ...]) -> str:
    if value in valid:
        return str(value)
    text = value.strip().lower() if isinstance(value, str) else ""
    if text in valid:
        return text
    raise Refused(f"{field} {shown(value)} is not one of {', '.join(valid)}")


def _speaker(value: str) -> str:
    # On one line: a name must not be able to look like a turn of its own.
    name = " ".join(content.clean(value).split())
    if len(name) > ID_CHARS:
        raise Refused(f"speaker is longer than {ID_CHARS} characters")
    return name


def _attributes(given: Mapping[str, object]) -> dict[str, str]:
    """Values as text: strings as they are, anything else as JSON, null left out."""
    attributes = {}
    size = 0
    for name, value in given.items():
        if value is not None:
            text = content.clean(value if isinstance(value, str) else msgspec.json.encode(value).decode())
            key = content.clean(name)
            attributes[key] = text
            size += len(key) + len(text)
    if size > ATTRIBUTE_CHARS:
        raise Refused(f"attributes hold more than {ATTRIBUTE_CHARS} characters")
    return attributes
