"""When a message was sent: what gateways write, as epoch milliseconds."""

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from streams.messages.refused import Refused, shown

EARLIEST = 631_152_000_000
"""1990-01-01T00:00Z: nothing that calls itself a chat message is older; 0 and small numbers are mistakes."""

AHEAD = 86_400_000
"""A sender's clock may be a day ahead of the broker's, which covers a local time taken for UTC."""

_SECONDS_BELOW = 100_000_000_000
"""Epoch numbers below are seconds: as milliseconds they would lie before March 1973."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    # `localtime` and `Factory` name whatever the machine is set to, which is no one's zone.
    return frozenset(available_timezones() - {"localtime", "Factory"})


def zone_name(given: str | None) -> str:
    """A message's IANA zone, UTC where it names none. Raises Refused for an unknown one."""
    if given is None or given == "UTC":
        return "UTC"
    name = given.strip()
    if not name:
        return "UTC"
    if name not in _zones():
        raise Refused(f"time_zone {shown(name)} is not an IANA name such as Europe/Oslo")
    return name


def sent_at(given: str | float | None, zone: str | None, record_time: int, now: int) -> int:
    """Epoch milliseconds of a `sent_at`: ISO 8601, or a number of milliseconds or seconds, or its text.

    `zone` is the message's own time zone if it gave one: only then may a time without a zone be meant
    so. None takes the record's time. Raises Refused for what is no time, or none within `EARLIEST`
    and `AHEAD` of the record (of `now`, where the record itself has no sane time).
    """
    if given is None:
        return record_time if record_time >= EARLIEST else now
    millis = _iso(given, zone) if isinstance(given, str) else _epoch(given)
    if millis < EARLIEST:
        raise Refused(f"sent_at {shown(given)} lies before 1990")
    if millis > max(record_time, now) + AHEAD:
        raise Refused(f"sent_at {shown(given)} lies more than a day ahead of the record")
    return millis


def _epoch(number: float) -> int:
    if isinstance(number, bool) or not math.isfinite(number):
        raise Refused(f"sent_at {shown(number)} is not a time")
    return int(number * 1000) if abs(number) < _SECONDS_BELOW else int(number)


def _iso(text: str, zone: str | None) -> int:
    text = text.strip()
    if text[4:5] != "-" and _NUMBER.fullmatch(text):
        return _epoch(float(text) if "." in text else int(text[:20]))
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"sent_at {shown(text)} is neither ISO 8601 nor an epoch number") from None
    if time.tzinfo is None:
        if zone is None:
            raise Refused(f"sent_at {shown(text)} has no time zone: add an offset, or give time_zone")
        time = time.replace(tzinfo=ZoneInfo(zone))
    return (time - _EPOCH) // _MILLISECOND
