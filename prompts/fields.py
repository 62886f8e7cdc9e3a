"""The fields of a memory in a model's answer, held to our contract: enumerated, clamped, counted.

Every function takes the raw value and a counter of what was set right or thrown away, by reason.
"""

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from prompts.answers import number_of

PERSONA, EPISODIC, INSTRUCTION = "persona", "episodic", "instruction"
SCENE_TYPES = (PERSONA, EPISODIC, INSTRUCTION)
ABSOLUTE = -1
"""The priority of an instruction without exceptions."""

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def type_of(value: object, allowed: Collection[str], default: str, dropped: Counter[str]) -> str:
    """`value` where it is one of `allowed`, in any case; else `default`, counted as `type`."""
    name = value.strip().lower() if isinstance(value, str) else ""
    if name in allowed:
        return name
    dropped["type"] += 1
    return default


def priority_of(value: object, type_: str, default: int, dropped: Counter[str]) -> int:
    """0 to 100, or -1 for an instruction; else the nearest of these or `default`, counted as `priority`."""
    number = number_of(value)
    if number == ABSOLUTE and type_ == INSTRUCTION:
        return ABSOLUTE
    if number is not None and 0 <= number <= 100:
        return number
    dropped["priority"] += 1
    return default if number is None else min(max(number, 0), 100)


def zone_of(name: str) -> tzinfo:
    """The time zone called `name`; UTC where there is none."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return UTC


def times_of(metadata: object, zone: tzinfo, dropped: Counter[str]) -> tuple[int | None, int | None]:
    """Start and end of an activity, epoch ms; without an offset they are in `zone`, a bare end date is its whole day.

    A time that cannot be read, and an end before its start, are None and counted as `time`.
    """
    values = metadata if isinstance(metadata, dict) else {}
    start = _instant(values.get("activity_start_time"), zone, time.min, dropped)
    end = _instant(values.get("activity_end_time"), zone, time.max, dropped)
    if start is not None and end is not None and end < start:
        dropped["time"] += 1
        end = None
    return start, end


def shown_time(milliseconds: int, zone: tzinfo) -> str:
    """An instant for a prompt: ISO 8601 with offset, to the second, and the weekday; empty outside the calendar."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, zone)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment.isoformat(timespec='seconds')} {_WEEKDAYS[moment.weekday()]}"


def _instant(value: object, zone: tzinfo, of_day: time, dropped: Counter[str]) -> int | None:
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(str(value).strip())
        if len(str(value).strip()) <= len("2024-05-03"):
            moment = datetime.combine(moment, of_day)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        dropped["time"] += 1
        return None
