"""English expressions of time: found by a cheap pattern, resolved by dateparser or by the calendar, made absolute."""

import re
from datetime import date, datetime, time
from functools import lru_cache

import dateparser

from prompts.rules import calendar
from prompts.rules.calendar import Clock, Span

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_NUMBER = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3})"
_UNIT = r"(?:day|week|month|year)"
_PART = r"(?:\s+(?P<{0}>morning|afternoon|evening|night))?"
EXPRESSION = re.compile(
    r"(?<!every )(?<!each )(?:\b(?P<preposition>on|in|at|by|since|until|till|before|after|from|for|during|around"
    r"|over|to|through)\s+(?!every))?(?:(?P<near>today|tonight|this (?:morning|afternoon|evening)|last night"
    r"|(?i:yesterday"
    r"|tomorrow)" + _PART.format("near_part") + r"|the day after tomorrow"
    r"|the day before yesterday)|(?P<weekday>(?:(?:last|next|this|this coming|this past|coming|past)\s+)?(?:mon"
    r"|tues|wednes|thurs|fri|satur|sun)day|(?:last|next|this) (?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun))"
    + _PART.format("week_part")
    + r"|(?P<shift>last|this past|this|this coming|next|the following)\s+(?P<period>week(?:end)?|month|year)"
    rf"|(?P<about>about |around |almost |nearly |roughly )?(?P<ago>{_NUMBER} {_UNIT}s? ago)|(?P<ahead>(?<=in "
    rf"){_NUMBER} {_UNIT}s?)(?:['’]? time)?\b|(?P<vague>(?:a few|several|a couple of|couple of|some) {_UNIT}s ago"
    rf"|the other day)|(?P<full>(?-i:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? (?:19|20)\d\d)?\b|(?:the "
    rf")?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?-i:{_MONTH})(?:,? (?:19|20)\d\d)?"
    r"|(?:19|20)\d\d-\d\d-\d\d)"
    rf"|(?P<month>(?:(?:last|next|this) )?(?-i:{_MONTH})(?: (?:19|20)\d\d)?)|(?P<year>(?:19|20)\d\d)"
    r")\b(?:,?\s+at\s+(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"|,?\s+at\s+(?P<named>noon|midnight))?",
    re.IGNORECASE,
)
# one of these must be there before the expensive pattern is tried
HINT = re.compile(
    r"\b(?:last|next|this)\b|day\b|night|morning|afternoon|evening|tomorrow|week|month|year|\bago\b|\d|" + _MONTH
)
_KEEPS_PREPOSITION = {"by", "since", "until", "till", "before", "after", "from", "to", "through"}


# what can look like a date and be none: the verbs may and march, a bare number, how long something took
_NO_DATE = re.compile(r"(?:\w+ )?(?:(?:may|march|august)|\d{4}|(?:an?|\w+) \w+)(?: time)?", re.IGNORECASE)


def absolute(words: str, clock: Clock, past: bool) -> tuple[str, Span | None] | None:
    """`words` with every date in it absolute, and their span; None where one of them stays unclear."""
    if not HINT.search(words):
        return words, None
    span: Span | None = None
    unclear = False

    def phrase(found: re.Match[str]) -> str:
        nonlocal span, unclear
        resolved = resolve(found, clock, past)
        if resolved is None:
            unclear = unclear or not _NO_DATE.fullmatch(found.group())
            return found.group()
        span = resolved[1] if span is None else span.joined(resolved[1])
        return resolved[0]

    words = EXPRESSION.sub(phrase, words)
    return None if unclear else (words, span)


def resolve(found: re.Match[str], clock: Clock, past: bool) -> tuple[str, Span] | None:
    """The expression as an absolute phrase and its span; None where it names no time, or not a certain one.

    `past` tells which Friday or March is meant where the words leave it open.
    """
    parts = found.groupdict()
    preposition = (parts["preposition"] or "").lower()
    if parts["vague"]:
        return f"shortly before {clock.today}", Span()
    if parts["ahead"] and past:  # "finished in two days" is how long it took
        return None
    if (
        (parts["year"] or parts["month"])
        and preposition in {"", "on", "at", "for"}
        and not (parts["month"] or "").count(" ")
    ):
        return None  # a bare number or the verb "may"
    try:
        located = _locate(parts, clock, past)
    except (ValueError, OverflowError):
        return None
    if located is None:
        return None
    on, unit = located
    at = _time_of_day(parts)
    span = clock.day(on, at) if at is not None and unit == calendar.DAY else clock.covering(on, unit)
    phrase, natural = _phrase(on, unit)
    if parts["about"]:
        return f"around {phrase}", span
    part = parts["near_part"] or parts["week_part"] or _implied_part(parts["near"])
    if preposition in _KEEPS_PREPOSITION:
        return f"{preposition} {phrase}", span
    if part and at is None:
        return f"on the {part} of {phrase}", span
    return f"{natural} {phrase}" + (f" at {at:%H:%M}" if at is not None and unit == calendar.DAY else ""), span


def _locate(parts: dict[str, str | None], clock: Clock, past: bool) -> tuple[date, str] | None:
    if shift := parts["shift"]:
        unit = str(parts["period"]).lower()
        count = -1 if shift.lower() in {"last", "this past"} else 0 if shift.lower().startswith("this") else 1
        if unit == calendar.WEEKEND and count == 0 and past and clock.today.weekday() < 5:
            count = -1
        if unit == calendar.WEEKEND and shift.lower() == "last" and clock.today.weekday() >= 5:
            count = -1
        return calendar.shifted(clock.today, count, calendar.WEEK if unit == calendar.WEEKEND else unit), unit
    if phrase := parts["near"]:
        words = phrase.lower()
        days = {"the day after tomorrow": 2, "the day before yesterday": -2, "last night": -1}.get(words)
        if days is None:
            days = 1 if words.startswith("tomorrow") else -1 if words.startswith("yesterday") else 0
        return calendar.shifted(clock.today, days, calendar.DAY), calendar.DAY
    text = parts["weekday"] or parts["ago"] or parts["full"] or parts["month"] or parts["year"]
    if parts["ahead"]:
        text = f"in {parts['ahead']}"
    if text is None:
        return None
    on = _parsed(text.lower().removeprefix("this coming ").removeprefix("coming "), clock.today, past)
    if on is None:
        return None
    amount = parts["ago"] or parts["ahead"] or ""
    if "month" in amount:
        return on, calendar.MONTH
    if "year" in amount or parts["year"]:
        return on, calendar.YEAR
    if "week" in amount:
        return on, calendar.WEEK
    return on, calendar.MONTH if parts["month"] else calendar.DAY


@lru_cache(maxsize=4096)
def _parsed(text: str, today: date, past: bool) -> date | None:
    settings = {
        "RELATIVE_BASE": datetime.combine(today, time(12)),
        "PREFER_DATES_FROM": "past" if past or text.startswith(("last", "past", "this past")) else "future",
        "PREFER_DAY_OF_MONTH": "first",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    text = text.removeprefix("this past ").removeprefix("past ").removeprefix("this ").removeprefix("the ")
    parsed = dateparser.parse(text, languages=["en"], settings=settings)
    return parsed.date() if isinstance(parsed, datetime) else None


def _phrase(on: date, unit: str) -> tuple[str, str]:
    if unit == calendar.YEAR:
        return str(on.year), "in"
    if unit == calendar.MONTH:
        return f"{on:%B %Y}", "in"
    if unit == calendar.DAY:
        return on.isoformat(), "on"
    first, _ = calendar.bounds(on, unit)
    return f"the {unit} of {first.isoformat()}", "on" if unit == calendar.WEEKEND else "in"


def _implied_part(near: str | None) -> str | None:
    words = (near or "").lower()
    if words == "tonight":
        return "evening"
    if words == "last night":
        return "night"
    return words.removeprefix("this ") if words.startswith("this ") else None


def _time_of_day(parts: dict[str, str | None]) -> time | None:
    if parts["named"]:
        return time(12) if parts["named"].lower() == "noon" else None
    if parts["hour"] is None or not (parts["half"] or parts["minute"]):
        return None
    hour = int(parts["hour"])
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if parts["half"].lower().startswith("p") else 0)
    return time(hour, int(parts["minute"] or 0)) if hour < 24 else None
