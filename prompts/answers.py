"""A model's answer as records, however it came: thoughts, fences, prose around it, loose JSON, a cut end.

Nothing here knows a prompt's fields. What cannot be used is counted; what can be used is kept as it was written.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import json_repair

LONGEST = 200_000
"""Characters. No window asks for an answer as long as this, and repairing one would hold up the event loop."""

_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# A tag that ends a thought is followed by a line's end or the answer; one that is quoted in a value is not.
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>(?=[ \t]*(?:[\n\[{]|```|\Z))", re.IGNORECASE)
_JSON_START = re.compile(r"\[\s*[\[{\]\"]|\{\s*[\"}]")
_LOOSE_START = re.compile(r"[\[{]")


class UnparsableError(ValueError):
    """There is no record in the answer. The message says why."""


@dataclass(frozen=True)
class Records:
    """The records of an answer in order; `dropped` counts what was not one, by reason."""

    items: list[dict[str, Any]]
    dropped: Counter[str]


def parse_records(text: str, fields: Collection[str], *, truncated: bool = False) -> Records:
    """The records that `text` holds; `fields` are names of which a record has at least one.

    `truncated` says that the model was stopped at its token limit: then only records that had their end
    are used, and `cut` is counted. An empty list is an answer: no records. Raises UnparsableError.
    """
    if len(text) > LONGEST:
        raise UnparsableError(f"longer than {LONGEST} characters")
    dropped: Counter[str] = Counter()
    value = _value(text.strip().removeprefix("\ufeff"), truncated, dropped)
    found = _listed(value, fields)
    items = [item for item in found if isinstance(item, dict)]
    if len(items) < len(found):
        dropped["not_a_record"] += len(found) - len(items)
    if found and not items:
        raise UnparsableError("no record in the answer")
    return Records(items, dropped)


def text_of(value: object) -> str:
    """A text that can be stored: trimmed, without NUL or lone surrogates; empty where `value` says nothing."""
    if not isinstance(value, str):
        return ""
    text = value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()
    return text if any(char.isalnum() for char in text) else ""


def ids_of(value: object) -> list[str]:
    """Ids, each once and in order, from a list of texts or whole numbers, or from a single one."""
    values = value if isinstance(value, list) else [value]
    ids = [str(v).strip() for v in values if isinstance(v, str | int) and not isinstance(v, bool)]
    return list(dict.fromkeys(id_ for id_ in ids if id_))


def number_of(value: object) -> int | None:
    """A whole number from a number or a text that holds one; None where there is none."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return round(number) if math.isfinite(number) else None


def _value(text: str, truncated: bool, dropped: Counter[str]) -> object:
    try:
        return _as_container(json.loads(text))
    except (ValueError, RecursionError):
        text = _without_thoughts(text)
    start = _JSON_START.search(text) or _LOOSE_START.search(text)
    if start is None:
        raise UnparsableError("no JSON in the answer" if text else "empty")
    text = text[start.start() :]
    values: list[object] = []
    while _JSON_START.match(text) or not values:
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            values += _repaired(text, truncated, dropped, required=not values)
            break
        values.append(value)
        text = text[end:].lstrip(" \t\r\n,")
    return values[0] if len(values) == 1 else values


def _repaired(text: str, truncated: bool, dropped: Counter[str], *, required: bool) -> list[object]:
    """The value that `text` begins with, repaired; nothing where it is cut too early and not `required`."""
    whole, cut = _whole_records(text)
    if cut and (truncated or text.rstrip("` \t\r\n")[-1] not in "]}"):
        dropped["cut"] += 1
        text = whole
    if not text and required:
        raise UnparsableError("cut before its first record was whole")
    if not text:
        return []
    try:
        return [_as_container(json_repair.loads(text, skip_json_loads=True))]
    except Exception as error:  # the library promises no set of errors for text that is no JSON at all
        raise UnparsableError(f"not JSON: {error}") from error


def _as_container(value: object) -> object:
    if not isinstance(value, list | dict):
        raise UnparsableError(f"a {type(value).__name__} where records were asked for")
    return value


def _without_thoughts(text: str) -> str:
    opened = _THOUGHT.match(text)
    if opened:
        return text[opened.end() :].strip()
    # Some chat templates open the thought themselves, so only its end is in the answer.
    closed = _THOUGHT_END.search(text)
    if closed and text[:1] not in "[{`":
        return text[closed.end() :].strip()
    return text


def _whole_records(text: str) -> tuple[str, bool]:
    """`text` up to the end of its last whole object in a list, and whether it ends in the middle of something."""
    stack: list[str] = []
    whole = 0
    in_string = escaped = False
    for position, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            stack.append(char)
        elif char in "]}":
            if stack:
                stack.pop()
            if char == "}" and stack[-1:] == ["["]:
                whole = position + 1
            if not stack:
                return text, False
    return text[:whole], True


def _listed(value: object, fields: Collection[str]) -> list[Any]:
    """The list in `value`: itself, the one list of records an object wraps, or the object as a list of one."""
    if isinstance(value, list):
        # Several lists in one answer, one after the other, arrive as a list of lists.
        return [inner for item in value for inner in (item if isinstance(item, list) else [item])]
    if isinstance(value, dict) and not any(field in value for field in fields):
        for inner in value.values():
            if isinstance(inner, list) and (not inner or any(isinstance(item, dict) for item in inner)):
                return inner
        return [value] if value else []
    return [value]
