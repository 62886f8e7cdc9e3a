"""Local calendar arithmetic: a message's clock, and the spans of time people talk about."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

DAY = "day"
WEEK = "week"
WEEKEND = "weekend"
MONTH = "month"
YEAR = "year"


@dataclass(frozen=True)
class Span:
    """From `start` to `end` inclusive, epoch milliseconds; None where a phrase has no exact bounds."""

    start: int | None = None
    end: int | None = None

    def joined(self, other: "Span") -> "Span":
        """The span from the earlier start to the later end."""
        starts = [at for at in (self.start, other.start) if at is not None]
        ends = [at for at in (self.end, other.end) if at is not None]
        return Span(min(starts, default=None), max(ends, default=None))


@dataclass(frozen=True)
class Clock:
    """A message's own time in its sender's zone: what `today` means there."""

    now: datetime

    @property
    def today(self) -> date:
        return self.now.date()

    def day(self, on: date, at: time | None = None) -> Span:
        """The whole local day `on`, or its moment `at`."""
        if at is not None:
            moment = self._ms(datetime.combine(on, at))
            return Span(moment, moment)
        return self.between(on, on)

    def between(self, first: date, last: date) -> Span:
        """From local midnight of `first` to the last millisecond of `last`."""
        following = datetime.combine(last + timedelta(days=1), time())
        return Span(self._ms(datetime.combine(first, time())), self._ms(following) - 1)

    def covering(self, on: date, unit: str) -> Span:
        """The day, week (from Monday), weekend, month or year that holds `on`."""
        first, last = bounds(on, unit)
        return self.between(first, last)

    def _ms(self, local: datetime) -> int:
        return round(local.replace(tzinfo=self.now.tzinfo).timestamp() * 1000)


def clock(sent_at: int, time_zone: str) -> Clock:
    """The clock of a message sent at `sent_at` (epoch ms); an unknown zone counts as UTC."""
    return Clock(datetime.fromtimestamp(sent_at / 1000, tz=_zone(time_zone)))


def bounds(on: date, unit: str) -> tuple[date, date]:
    """First and last day of the unit of time that holds `on`."""
    if unit == WEEK:
        first = on - timedelta(days=on.weekday())
        return first, first + timedelta(days=6)
    if unit == WEEKEND:
        saturday = on + timedelta(days=5 - on.weekday())
        return saturday, saturday + timedelta(days=1)
    if unit == MONTH:
        return on.replace(day=1), add_months(on.replace(day=1), 1) - timedelta(days=1)
    if unit == YEAR:
        return date(on.year, 1, 1), date(on.year, 12, 31)
    return on, on


def shifted(on: date, count: int, unit: str) -> date:
    """`on`, `count` units later; the day of the month is cut to what the month has.

    Raises ValueError or OverflowError outside the years 1 to 9999.
    """
    if unit == MONTH:
        return add_months(on, count)
    if unit == YEAR:
        return add_months(on, 12 * count)
    return on + timedelta(days=count * (1 if unit == DAY else 7))


def add_months(on: date, count: int) -> date:
    """`on`, `count` months later; 31 January plus one is the last day of February."""
    years, month = divmod(on.month - 1 + count, 12)
    for day in (on.day, 30, 29, 28):
        if day <= on.day:
            try:
                return date(on.year + years, month + 1, day)
            except ValueError:
                continue
    raise ValueError(f"no such month: {on} + {count} months")


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found; not a key; a folder of the zone database
        return UTC
