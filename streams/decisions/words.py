"""Text as the units it is compared by: words where a script has spaces, bigrams of characters where it has none."""

import re
import unicodedata
from functools import lru_cache

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
LETTER = rf"[^\W\d_{CJK}]"

# Signs that tell C from C++, and 5 from -5
_WRITTEN = re.compile(rf"{LETTER}+|-?\d+(?:[.,:/]\d+)*|[{CJK}]+|[+#%$€£¥°&]")
_UNIT = re.compile(rf"{LETTER}+|\d+|[{CJK}]+")
_STOP_WORDS = """a an the of to in on at by as for with and or is are was were be been am it its he she they them his
her hers their i me my mine we our you your this that these those has have had do does did s t"""
_STOP = frozenset(_STOP_WORDS.split())


def plain(text: str) -> str:
    """`text` in Unicode's compatibility form, with one kind of apostrophe."""
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")


def normalised(text: str) -> str:
    """What two spellings of one sentence share: no case, no punctuation, single spaces."""
    return " ".join(_WRITTEN.findall(plain(text).casefold()))


def stem(word: str) -> str:
    """A lower-case English word without its plural or third-person ending; other words as they are."""
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


@lru_cache(maxsize=1 << 14)  # ten microseconds a sentence: a scope of a thousand would cost ten milliseconds a window
def terms(text: str) -> frozenset[str]:
    """What lexical overlap counts: stems without function words, numbers, bigrams (a lone character as it is)."""
    found: set[str] = set()
    for unit in _UNIT.findall(plain(text).casefold()):
        if "\u3040" <= unit[0] <= "\ud7af":
            found.update(unit[i : i + 2] for i in range(max(1, len(unit) - 1)))
        elif unit not in _STOP:
            found.add(stem(unit))
    return frozenset(found)
