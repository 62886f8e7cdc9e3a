"""Which messages the rules can read at all: English and Chinese, and nothing that only looks like them."""

import re

from prompts.language import language_of
from prompts.rules.cleaning import MAX_CHARS, without_code

ENGLISH = "en"
CHINESE = "zh"
OTHER = "other"

_RUNS = re.compile(r"\s{2,}|\d{9,}")  # no language in them, and slow for what looks for dates
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_NON_ENGLISH_LETTER = re.compile(r"[\u00df-\u024f\u0370-\u05ff\u0600-\u06ff\u0900-\u0e7f]")
_WORDS = (
    "i i'm i've i'll i'd im my me we our you your the a an is am are was were be been to of and in on at for with "
    "not no it do don't did does have has had will would can please always never from what how yes thanks"
)
_ENGLISH_WORDS = frozenset(_WORDS.split())


def readable_as(text: str) -> str:
    """`en`, `zh`, or `other`, for which there are no rules: better nothing than a guess."""
    text = _RUNS.sub(" ", text[:MAX_CHARS])
    language = language_of(text)
    if language == CHINESE:
        return CHINESE
    if language != ENGLISH:
        return OTHER
    words = _LATIN_WORD.findall(without_code(text))
    english = sum(word.lower().replace("’", "'") in _ENGLISH_WORDS for word in words)
    if not english or (not text.isascii() and len(_NON_ENGLISH_LETTER.findall(text)) > english):
        return OTHER
    return ENGLISH
