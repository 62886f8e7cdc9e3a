"""One sentence read into what a comparison needs: its dates, numbers, names and words in order, and what it denies.

Reads English and Chinese. It is no grammar: it errs towards finding two sentences different, since a fact
stored twice does less harm than a fact lost.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from streams.decisions import lexicon as lex
from streams.decisions.words import CJK, LETTER, plain, stem

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|weekends?)\b"
_RELATIVE = (
    r"(?i:\b(?:today|tomorrow|yesterday|tonight|(?:next|last|this|every)\s+"
    rf"(?:day|week|month|year|weekend|morning|afternoon|evening|night|spring|summer|autumn|fall|winter|{_WEEKDAY}))\b)"
)
_ZH_RELATIVE = (
    r"大后天|大前天|今天|明天|后天|昨天|前天|今晚|明早|[上下本这每]个?(?:周末|周|星期|礼拜|月)[一二三四五六日天]?"
)
_ZH_WEEKDAY = r"(?:星期|周|礼拜)[一二三四五六日天末]"
_ZH_CLOCK = (
    r"(?:凌晨|早上|上午|中午|下午|傍晚|晚上)?"
    r"(?:\d{1,2}|[二两三四五六七八九十][一二三四五六七八九十]{0,2}|一(?=点[钟半]))点(?:半|钟|\d{1,2}分?)?"
)
_CAPITAL = rf"\b[A-Z]{LETTER}*(?:-{LETTER}+)*(?:'t\b|[+\#]+)?"
_TOKEN = re.compile(
    rf"""
    (?P<none>(?!))|(?P<iso>\b(?P<iy>\d{{4}})[-/.](?P<im>\d{{1,2}})[-/.](?P<id>\d{{1,2}})\b)
    |(?P<zh_day>(?:(?P<zy>\d{{4}})年)?(?P<zm>\d{{1,2}})月(?:(?P<zd>\d{{1,2}})[日号])?)
    |(?P<month_day>\b(?P<m1>{_MONTH})\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y1>\d{{4}})\b)?)
    |(?P<day_month>\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})(?:,?\s+(?P<y2>\d{{4}})\b)?)
    |(?P<month>\b(?P<m3>{_MONTH})(?:\s+(?P<y3>\d{{4}})\b)?)
    |(?P<clock>\b\d{{1,2}}:\d{{2}}(?:\s*[ap]\.?m\b)?|\b\d{{1,2}}\s*[ap]\.?m\b|{_ZH_CLOCK})
    |(?P<relative>{_RELATIVE}|{_ZH_RELATIVE})
    |(?P<weekday>\b(?i:{_WEEKDAY})|{_ZH_WEEKDAY})
    |(?P<number>(?:(?<!\w)-)?\d+(?:[.,:/]\d+)*%?)
    |(?P<name>{_CAPITAL}(?:\s+{_CAPITAL})*)
    |(?P<word>{LETTER}+(?:'{LETTER}+)*[+\#]*)
    |(?P<cjk>(?:(?!{_ZH_RELATIVE}|{_ZH_WEEKDAY}|{_ZH_CLOCK})[{CJK}])+)
    """,
    re.VERBOSE,
)
_ZH = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern.pattern})"
        for kind, pattern in (
            ("people", lex.ZH_PEOPLE),
            ("kept", lex.ZH_KEPT),
            ("modal", lex.ZH_MODALS),
            ("negator", lex.ZH_NEGATORS),
            ("aversion", lex.ZH_AVERSIONS),
            ("liking", lex.ZH_LIKING),
            ("frame", lex.ZH_FRAMES),
            ("neutral", lex.ZH_NEUTRAL),
            ("comparator", lex.ZH_COMPARATORS),
            ("number", lex.ZH_NUMBER),
        )
    )
)


_DATES = {
    "iso": ("iy", "im", "id"),
    "zh_day": ("zy", "zm", "zd"),
    "month_day": ("y1", "m1", "d1"),
    "day_month": ("y2", "m2", "d2"),
    "month": ("y3", "m3", "none"),
}
_KINDS = (*_DATES, "clock", "relative", "weekday", "number", "name", "word", "cjk")


@dataclass(frozen=True)
class Atom:
    """A piece of meaning: `kind` is date, number, name, word or frame; `value` compares, `shown` is for people."""

    kind: str
    value: str
    shown: str


@dataclass
class Reading:
    """What `read` found. `denied` holds the value that follows each negation; `modal` and `people` single words."""

    atoms: list[Atom] = field(default_factory=list)
    negated: bool = False
    denied: set[str] = field(default_factory=set)
    modal: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    compares: bool = False

    def values(self, *kinds: str) -> list[str]:
        """The atoms' values of these kinds (all kinds without one), in the order of the sentence."""
        return [atom.value for atom in self.atoms if not kinds or atom.kind in kinds]


@lru_cache(maxsize=1 << 12)  # a candidate is read once for each memory it is compared with, at 50 µs
def read(text: str) -> Reading:
    """`text` as a Reading, which is shared: not to be changed."""
    reading = Reading()
    open_negation = False
    for atom in _atoms(plain(text), reading):
        if atom.kind == "negation":
            # "doesn't dislike" denies a denial
            reading.negated = not (open_negation and atom.value == "aversion")
            open_negation = reading.negated
            continue
        reading.atoms.append(atom)
        if open_negation and atom.kind != "frame":
            reading.denied.add(atom.value)
            open_negation = False
    return reading


def _atoms(text: str, reading: Reading) -> Iterator[Atom]:
    for match in _TOKEN.finditer(text):
        kind = next(kind for kind in _KINDS if match[kind] is not None)
        found = match[0]
        if kind == "number":
            yield Atom("number", _number(found), found)
        elif kind == "name":
            ahead = text[: match.start()].rstrip(" \"'“")
            yield from _name(found, reading, starts=not ahead or ahead[-1] in ".!?;:")
        elif kind == "word":
            yield from _word(found, reading)
        elif kind == "cjk":
            yield from _cjk(found, reading)
        else:
            yield from (Atom("date", value, found) for value in _date(kind, match))


def _date(kind: str, match: re.Match[str]) -> list[str]:
    # Day and year apart: "1 May" says nothing that "1 May 2024" does not
    year, month, day = (match[group] for group in _DATES.get(kind, ("none",) * 3))
    if month is None:
        return [re.sub(r"\s+", " ", match[0].casefold()).removesuffix("s")]
    number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3].casefold())
    return [f"{number}-{int(day)}" if day else f"month {number}"] + ([f"year {year}"] if year else [])


def _number(found: str) -> str:
    digits = re.sub(r",(?=\d{3})", "", found)
    return re.sub(r"(\.\d*?)0+(?=%?$)", r"\1", digits).replace(".%", "%").removesuffix(".")


def _name(found: str, reading: Reading, *, starts: bool) -> Iterator[Atom]:
    run: list[str] = []
    for place, word in enumerate([*found.split(), ""]):
        if word and not _ordinary(word.casefold(), starts=starts and place == 0):
            run.append(word)
            continue
        if run:
            name = " ".join(run)
            yield Atom("name", name.casefold(), name)
            run = []
        if word:
            yield from _word(word, reading)


def _ordinary(lower: str, *, starts: bool) -> bool:
    # "New" begins a sentence like any word; inside one it belongs to New York
    return lower in lex.NEUTRAL or lower.endswith("n't") or (starts and lower in lex.STARTERS)


def _word(found: str, reading: Reading) -> Iterator[Atom]:
    lower = found.casefold()
    stemmed = stem(lower)
    if lower in lex.NEGATORS or lower.endswith("n't"):
        yield Atom("negation", "not", found)
        return
    if lower in lex.NEUTRAL:
        return
    if lower in lex.AVERSIONS:
        yield Atom("negation", "aversion", found)
        yield Atom("frame", "like", found)
    elif lower in lex.NUMBERS or lower in lex.SCALES:
        yield Atom("number", str(lex.NUMBERS.get(lower) or lex.SCALES.get(lower, 0)), found)
    elif lower in lex.FRAMES:
        yield Atom("frame", lex.SYNONYMS.get(lower, stemmed), found)
    else:
        if lower in lex.MODALS:
            reading.modal.add(stemmed)
        if lower in lex.COMPARATORS:
            reading.compares = True
        if stemmed in lex.PEOPLE or lower in lex.PEOPLE:
            reading.people.add(stemmed)
        yield Atom("word", stemmed, found)


def _cjk(run: str, reading: Reading) -> Iterator[Atom]:
    end = 0
    for match in _ZH.finditer(run):
        if match.start() > end:
            yield _piece(run[end : match.start()])
        end, kind, found = match.end(), match.lastgroup, match[0]
        if kind in ("negator", "aversion"):
            yield Atom("negation", "not" if kind == "negator" else "aversion", found)
        if kind in ("frame", "liking", "aversion"):
            yield Atom("frame", found if kind == "frame" else "like", found)
        elif kind == "number":
            yield Atom("number", str(_zh_number(found)), found)
        elif kind in ("people", "kept", "modal", "comparator"):
            if kind == "people":
                reading.people.add(found)
            elif kind == "modal":
                reading.modal.add(found)
            reading.compares |= kind == "comparator"
            yield _piece(found)
    if end < len(run):
        yield _piece(run[end:])


def _piece(text: str) -> Atom:
    return Atom("word", text, text)


def _zh_number(found: str) -> int:
    if not any(char in lex.ZH_SCALES for char in found):
        return int("".join(str(lex.ZH_DIGITS[char]) for char in found))
    total = section = digit = 0
    for char in found:
        scale = lex.ZH_SCALES.get(char)
        if scale is None:
            digit = lex.ZH_DIGITS[char]
        elif scale < 10_000:
            section, digit = section + (digit or 1) * scale, 0
        else:
            total, section, digit = total + (section + digit or 1) * scale, 0, 0
    return total + section + digit
