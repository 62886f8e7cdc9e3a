"""What gateways and applications send, as it arrives: nothing in it is trusted yet."""

from typing import Any

import msgspec


class ChatMessage(msgspec.Struct):
    """A gateway's message (`chat_message.avsc`). Only `scope_id` and `content` are required.

    Unknown fields are ignored. Ids may arrive as numbers: a gateway's database key is one.
    """

    scope_id: str | int
    content: str | list[Any]
    tenant: str = "default"
    scope_kind: str = "user"
    session_id: str | int | None = None
    message_id: str | int | None = None
    role: str = "user"
    speaker: str | None = None
    sent_at: str | int | float | None = None
    time_zone: str | None = None
    kind: str = "chat"
    attributes: dict[str, Any] | None = None


class Command(msgspec.Struct):
    """An application's command (`command.avsc`), idempotent by `command_id`."""

    type: str
    scope_id: str | int
    tenant: str = "default"
    scope_kind: str = "user"
    session_id: str | int | None = None
    command_id: str | int | None = None
