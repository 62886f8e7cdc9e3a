"""What makes two sentences different facts although they look alike, and what value a sentence gives to a slot.

Vectors and shared words cannot tell "is vegetarian" from "is not vegetarian", nor 3 May from 5 May: this can.
"""

import re
from collections.abc import Iterable

from streams.decisions.reading import Atom, Reading, read
from streams.decisions.words import normalised, plain

NEGATION = "negation"
CERTAINTY = "certainty"
NUMBER = "number"
DATE = "date"
NAME = "name"
ORDER = "order"

NEAR_WORDS = 0.75
"""The share of a known sentence's words that another must repeat, adding none, to be the same statement."""

NEAR_VECTORS = 0.9
"""And how close their vectors must be (cosine)."""

_FROM = re.compile(
    r"\b((?:mov|switch|chang|relocat|transferr?|pass|g|went|com|cam)(?:e|es|ed|ing|one)?\s+(?:[\w']+\s+){0,3}?)"
    r"from\b[^.;!?]+?\b(?=(?:in)?to\b)|从[^,。;]+?(?=搬|移|转|换|调|改|到|去)",
    re.IGNORECASE,
)
_RELATIVE_DAY = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|(?:next|last|this)\s+\w+)\b|[今明后昨前]天|今晚|明早|[上下本这]个?(?:周|星期|礼拜|月)|[今明去]年",
    re.IGNORECASE,
)


def difference(one: str, other: str) -> str:
    """In which of the kinds above two sentences differ; "" if in none: they may still say different things.

    Names are compared in order, so that "Ana manages Ben" is not "Ben manages Ana".
    """
    return _difference(read(one), read(other))


def same_statement(one: str, known: str, cosine: float | None) -> bool:
    """Whether `one` says nothing that `known` doesn't.

    `cosine` is that of their vectors, None where there are none: then each must hold the words of the other.
    """
    if normalised(one) == normalised(known):
        return True
    reading, known_reading = read(one), read(known)
    if _difference(reading, known_reading):
        return False
    words, known_words = set(reading.values()), set(known_reading.values())
    if not words or not words <= known_words:
        return False
    near = cosine is not None and cosine >= NEAR_VECTORS and len(words) >= NEAR_WORDS * len(known_words)
    return near or words == known_words


def same_value(one: str, known: str, subject: str = "") -> bool:
    """Whether two sentences of one slot give it the same value: `one` may say less than `known`, not more or else."""
    if normalised(one) == normalised(known):
        return True
    reading, known_reading = _read_value(one, subject), _read_value(known, subject)
    if reading.negated != known_reading.negated or reading.modal != known_reading.modal:
        return False
    return not _missing_in(_without_frames(known_reading), _without_frames(reading))


def value_difference(one: str, other: str, subject: str = "") -> str:
    """As `difference`, for two sentences of one slot: what they moved `from`, and their subject, do not count."""
    return _difference(_read_value(one, subject), _read_value(other, subject))


def change(old: str, new: str, subject: str = "") -> tuple[str, str]:
    """The values of a slot in two sentences, as a person would name the change: ("Oslo", "Bergen").

    Names where both name another one, else whatever one says and the other doesn't; "" where that is nothing.
    """
    olds, news = (_without_frames(_read_value(text, subject)) for text in (old, new))
    left, right = _missing_in(news, olds), _missing_in(olds, news)
    if any(atom.kind == "name" for atom in left) and any(atom.kind == "name" for atom in right):
        left, right = ([atom for atom in atoms if atom.kind == "name"] for atoms in (left, right))
    return _shown(left), _shown(right)


def tied_to_a_day(text: str) -> bool:
    """Whether the sentence means another time when it is said on another day (`tomorrow`, `下周`)."""
    return _RELATIVE_DAY.search(text) is not None


def _difference(one: Reading, other: Reading) -> str:
    words, other_words = one.values(), other.values()
    if one.negated != other.negated:
        return NEGATION
    # Both deny something: a conflict only where one denies what the other affirms
    if one.denied != other.denied and (one.denied & set(other_words) or other.denied & set(words)):
        return NEGATION
    if one.modal != other.modal:
        return CERTAINTY
    if one.values("number") != other.values("number"):
        return NUMBER
    if set(one.values("date")) != set(other.values("date")):
        return DATE
    if one.values("name") != other.values("name") or one.people != other.people:
        return NAME
    if (one.compares or other.compares) and words != other_words:
        return ORDER
    return ""


def _read_value(text: str, subject: str) -> Reading:
    text = _FROM.sub(r"\1", plain(text))
    if subject and text.casefold().startswith(subject.casefold()):
        text = text[len(subject) :]
    return read(text)


def _without_frames(reading: Reading) -> list[Atom]:
    return [atom for atom in reading.atoms if atom.kind != "frame"]


def _missing_in(others: Iterable[Atom], atoms: Iterable[Atom]) -> list[Atom]:
    values = {atom.value for atom in others}
    return [atom for atom in atoms if atom.value not in values]


def _shown(atoms: Iterable[Atom]) -> str:
    return " ".join(dict.fromkeys(atom.shown for atom in atoms))
