"""Chinese expressions of time, made absolute. dateparser knows few of them, so the calendar does the sums."""

import re
from datetime import date, time

from prompts.rules import calendar
from prompts.rules.calendar import Clock, Span

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_N = r"(?:\d{1,4}|[一二两兩三四五六七八九十]{1,3})"
_DAYS = {
    word: count
    for count, words in (
        (-3, "大前天"),
        (-2, "前天"),
        (-1, "昨天 昨日 昨晚 昨夜 昨早"),
        (0, "今天 今日 今晚 今早 今夜"),
        (1, "明天 明日 明晚 明早 明夜"),
        (2, "后天"),
        (3, "大后天"),
    )
    for word in words.split()
}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_SHIFTS = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "下": 1, "下下": 2}
_PART = r"早上|早晨|上午|中午|下午|傍晚|晚上|凌晨|夜里"
EXPRESSION = re.compile(
    r"(?<!每)(?<!每个)(?:在|于)?(?:(?P<vague>前几天|前些天|前阵子|前段时间|不久前|几天前|几周前|几个月前|几年前)"
    rf"|(?P<near>大?[前后後]天|[昨今明][天日晚早夜])|(?P<shift>上上|下下|上|这|這|本|下)个?(?:周|週|星期"
    rf"|礼拜)(?P<week>[一二三四五六日天末])?|(?:周|週|星期|礼拜)(?P<weekday>[一二三四五六日天末])"
    rf"|(?P<month_shift>上|这|這|本|下)个?月(?:(?P<month_day>{_N})[日号號])?|(?P<ago>{_N})个?(?P<unit>天|周|星期"
    rf"|礼拜|月|年)(?P<way>之?[前后後]|以前|以后)|(?:(?P<year>(?:19|20)\d\d)年|(?P<year_word>前年|去年|今年|明年"
    rf"|后年)的?)?(?P<month>{_N})月(?:份|(?P<day>{_N})[日号號]?)?|(?P<only_year>(?:19|20)\d\d)年"
    rf"|(?P<only_year_word>前年|去年|今年|明年|后年)(?:年底|年初|底|初)?"
    r"|(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
    rf")(?P<part>{_PART})?(?:(?P<hour>{_N})[点點时時](?:(?P<half>半)|(?P<minute>{_N})分?)?"
    rf"|(?P<clock>\d{{1,2}}[:：][0-5]\d))?"
)
HINT = re.compile(r"[天日晚早周週月年前后後号]|星期|礼拜|\d")
_UNITS = {
    "天": calendar.DAY,
    "周": calendar.WEEK,
    "星期": calendar.WEEK,
    "礼拜": calendar.WEEK,
    "月": calendar.MONTH,
    "年": calendar.YEAR,
}


def resolve(found: re.Match[str], clock: Clock, past: bool) -> tuple[str, Span] | None:
    """The expression as an absolute phrase and its span; None where it names no certain time.

    `past` tells which Friday or March is meant where the words leave it open.
    """
    parts = found.groupdict()
    if parts["vague"]:
        return f"在{_day(clock.today)}前不久", Span()
    try:
        on, unit = _locate(parts, clock, past)
        at = _time_of_day(parts)
    except (ValueError, OverflowError):
        return None
    if unit != calendar.DAY:
        return f"在{_phrase(on, unit)}", clock.covering(on, unit)
    if at is not None:
        return f"在{_day(on)}{at:%H:%M}", clock.day(on, at)
    part = parts["part"] or {"晚": "晚上", "夜": "晚上", "早": "早上"}.get((parts["near"] or " ")[-1], "")
    return f"在{_day(on)}{part}", clock.day(on)


def number(text: str) -> int:
    """A number below 100 in Han or Arabic digits; a year may be longer in Arabic ones. Raises ValueError."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        if text not in _DIGITS:
            raise ValueError(text)
        return _DIGITS[text]
    if (tens and tens not in _DIGITS) or (ones and ones not in _DIGITS):
        raise ValueError(text)
    return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def _locate(parts: dict[str, str | None], clock: Clock, past: bool) -> tuple[date, str]:
    today = clock.today
    if near := parts["near"]:
        return calendar.shifted(today, _DAYS[near.replace("後", "后")], calendar.DAY), calendar.DAY
    if shift := parts["shift"]:
        week = calendar.shifted(today, _SHIFTS[shift], calendar.WEEK)
        return _in_week(week, parts["week"]) if parts["week"] else (week, calendar.WEEK)
    if weekday := parts["weekday"]:
        on, unit = _in_week(today, weekday)
        if unit == calendar.DAY and (on > today if past else on < today):
            on = calendar.shifted(on, -1 if past else 1, calendar.WEEK)
        return on, unit
    if shift := parts["month_shift"]:
        month = calendar.shifted(today.replace(day=1), _SHIFTS[shift], calendar.MONTH)
        if day := parts["month_day"]:
            return month.replace(day=number(day)), calendar.DAY
        return month, calendar.MONTH
    if count := parts["ago"]:
        unit = _UNITS[str(parts["unit"])]
        sign = -1 if "前" in str(parts["way"]) else 1
        return calendar.shifted(today, sign * number(count), unit), unit
    if parts["iso"]:
        return date.fromisoformat(parts["iso"]), calendar.DAY
    if parts["only_year"] or parts["only_year_word"]:
        year = int(parts["only_year"]) if parts["only_year"] else today.year + _YEARS[str(parts["only_year_word"])]
        return date(year, 1, 1), calendar.YEAR
    return _month(parts, today, past)


def _month(parts: dict[str, str | None], today: date, past: bool) -> tuple[date, str]:
    month = number(str(parts["month"]))
    day = number(parts["day"]) if parts["day"] else None
    if parts["year"]:
        year = int(parts["year"])
    elif parts["year_word"]:
        year = today.year + _YEARS[parts["year_word"]]
    else:
        meant = (month, day or (1 if past else 31))
        year = (
            today.year - (past and meant > (today.month, today.day)) + (not past and meant < (today.month, today.day))
        )
    return date(year, month, day or 1), calendar.DAY if day else calendar.MONTH


def _in_week(on: date, weekday: str) -> tuple[date, str]:
    if weekday == "末":
        return on, calendar.WEEKEND
    index = 6 if weekday in "日天" else _DIGITS[weekday] - 1
    return calendar.shifted(on, index - on.weekday(), calendar.DAY), calendar.DAY


def _time_of_day(parts: dict[str, str | None]) -> time | None:
    if parts["clock"]:
        hour, minute = map(int, re.split("[:：]", parts["clock"]))
    elif parts["hour"]:
        hour = number(parts["hour"])
        minute = 30 if parts["half"] else number(parts["minute"]) if parts["minute"] else 0
    else:
        return None
    part = (parts["part"] or "") + (parts["near"] or "")[-1:]
    if (hour < 12 and (part[:1] in "下傍晚夜" if part else False)) or (hour < 12 and part.endswith(("晚", "夜"))):
        hour += 12
    return time(hour, minute)


def _phrase(on: date, unit: str) -> str:
    if unit == calendar.YEAR:
        return f"{on.year}年"
    if unit == calendar.MONTH:
        return f"{on.year}年{on.month}月"
    first, _ = calendar.bounds(on, unit)
    return f"{_day(first)}那个周末" if unit == calendar.WEEKEND else f"{_day(first)}那一周"


def _day(on: date) -> str:
    return f"{on.year}年{on.month}月{on.day}日"
