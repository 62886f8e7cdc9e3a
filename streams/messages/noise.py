"""What no model should read: taken out of a text, or a reason to leave the whole message out.

Whole-message rules match whole messages only. `[TODO] ship v2`, `/etc/nginx.conf fails` and a
question about base64 are what people write, and stay as they are.
"""

import re
from collections.abc import Mapping, Sequence

_RECALL_TAG = "memweir-recall"
RECALL_OPEN = f"<{_RECALL_TAG}>"
RECALL_CLOSE = f"</{_RECALL_TAG}>"
"""Whoever puts recalled memories into a prompt encloses them in these, so that an echo is not stored again."""

TOOL_CHARS = 1000
"""A tool's output is context and no one's words: what goes beyond is cut off."""

EMPTY = "empty"
SYSTEM = "system"
PROMPT = "prompt"
CONTROL = "control"
HEARTBEAT = "heartbeat"
RECALL = "recall"
BASE64 = "base64"
TOOL_OUTPUT = "tool-output"
MEMORY_OFF = "memory-off"

_PAYLOAD_CHARS = 200
_PAYLOAD_ALPHABET = 12

# An echo can be cut off by a token limit: a block that is never closed goes to the end of the text.
_RECALL = re.compile(
    rf"<({_RECALL_TAG}|(?:relevant|recalled|retrieved|injected)[-_]memor(?:y|ies)|memory[-_]context)\b[^<>]*>"
    r".*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# Whole lines of the alphabet, one after another: base64 is often wrapped at 64 or 76 characters.
# Possessive, and only from the start of a run, so that no text makes it slow.
_PAYLOAD = re.compile(
    r"(?:data:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*;base64,)?(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{60,}+={0,2}+[\r\n]*+)++"
    r"(?:[A-Za-z0-9+/_-]*={1,2}|[A-Za-z0-9+/_-]{20,}+(?=[\r\n]|\Z))?"
)
_SPECIAL_TOKENS = re.compile(r"(?:<\|[\w-]+\|>\s*)+")
_FRAME = " \t\r\n[](){}<>*`\"'.!:-_–—…#【】。！"

_CONTROL = frozenset(
    {
        "/new", "/reset", "/start", "/stop", "/clear", "/help", "/compact", "/status", "/exit", "/quit", "/restart",
        "/model", "/undo", "/retry", "/resume",
    }
)  # fmt: skip
_BOOT = frozenset(
    {
        "boot", "booting", "system boot", "boot complete", "booted", "startup", "system startup", "system online",
        "system ready", "initializing", "initialising", "session start", "session started", "session resumed",
        "session restored", "session reset", "new session", "conversation started", "no_reply", "no reply needed",
        "系统启动", "会话开始", "会话已开始", "会话重置",
    }
)  # fmt: skip
_HEARTBEAT = frozenset(
    {"heartbeat", "heartbeat_ok", "heart beat", "heartbeat check", "keepalive", "keep-alive", "ping", "pong", "心跳"}
)
_PROMPT_START = re.compile(
    r"\W*(?:<\|im_start\|>\s*system\b|<system\b|system(?:\s*(?:prompt|message))?\s*[::]"
    r"|you are (?:an?|the|chatgpt|claude|gemini)\b|you're an? |act as an? |你是一[个名位款]|你现在是|系统提示)",
    re.IGNORECASE,
)
_PROMPT_MARKS = re.compile(
    r"\b(?:assistant|your (?:task|role|job|goal)|you (?:must|should|will|can)|always|never|do not|don't|respond|"
    r"instructions?|the user|output format|guidelines?)\b"
    r"|助手|助理|你的任务|你的职责|必须|不要|请勿|用户|回答|输出格式",
    re.IGNORECASE,
)
_COMMAND_CHARS = 40
_PROMPT_CHARS = 120
_PROMPT_MARKS_NEEDED = 3


def strip(text: str) -> tuple[str, list[str]]:
    """What is left of `text`, and a reason for each kind of thing taken out; ("hi", []) mostly."""
    removed: list[str] = []
    if "<" in text and _RECALL.search(text):
        text = _RECALL.sub("", text)
        removed.append(RECALL)
    if len(text) >= _PAYLOAD_CHARS:
        left = _PAYLOAD.sub(_without_payload, text)
        if left != text:
            text = left
            removed.append(BASE64)
    return text.strip(), removed


def is_noise(role: str, text: str) -> str | None:
    """Why a message is left out as a whole, None where it is kept. `text` as `strip` left it.

    System turns are instructions of an operator, not words of the people in the chat. Tool turns
    are kept as context (`clean` cuts them): what a person says next often makes no sense without.
    """
    if role == "system":
        return SYSTEM
    if not text:
        return EMPTY
    if len(text) <= _COMMAND_CHARS:
        bare = text.strip(_FRAME).lower()
        if bare in _HEARTBEAT:
            return HEARTBEAT
        if bare in _BOOT or text.lower() in _CONTROL or _SPECIAL_TOKENS.fullmatch(text):
            return CONTROL
    elif len(text) >= _PROMPT_CHARS and _PROMPT_START.match(text):
        marks = {mark.lower() for mark in _PROMPT_MARKS.findall(text[:4000])}
        if len(marks) >= _PROMPT_MARKS_NEEDED:
            return PROMPT
    if "HEARTBEAT_OK" in text and text.strip(_FRAME).endswith("HEARTBEAT_OK"):
        return HEARTBEAT
    return None


def clean(role: str, text: str) -> tuple[str, list[str], str | None]:
    """The text to keep, what was taken out of it, and why none of it is kept (None: it is)."""
    if len(text) < _PAYLOAD_CHARS and "<" not in text and "HEARTBEAT_OK" not in text and role != "system":
        bare = text.strip()
        length = len(bare)  # as most messages are: no rule is for one like this
        if length > _COMMAND_CHARS and (length < _PROMPT_CHARS or not _PROMPT_START.match(bare)):
            return bare, [], None
    left, removed = strip(text)
    reason = is_noise(role, left)
    if reason == EMPTY and removed:
        reason = removed[0]
    if role == "tool" and len(left) > TOOL_CHARS:
        left = clip(left, TOOL_CHARS)
        removed.append(TOOL_OUTPUT)
    return left, removed, reason


def screen(
    role: str, text: str, attachments: Sequence[object], attributes: Mapping[str, str]
) -> tuple[str, list[str], str]:
    """`clean`, for a whole message: a picture needs no words, and `memory: off` asks to be left out.

    The text is empty where there is a reason to leave the message out; the reason is where there is none.
    """
    if attributes and attributes.get("memory") == "off":
        return "", [], MEMORY_OFF
    text, removed, reason = clean(role, text)
    if reason is None or (attachments and not text and reason != SYSTEM):
        return text, removed, ""
    return "", [], reason


def clip(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters and an ellipsis."""
    return text if len(text) <= limit else text[:limit] + "…"


def _without_payload(found: re.Match[str]) -> str:
    run = found.group()
    if len(run) < _PAYLOAD_CHARS or len(set(run)) < _PAYLOAD_ALPHABET:
        return run
    return ""
