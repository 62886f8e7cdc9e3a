"""Which language a text is in, as far as templates and records need to know."""

import re
from collections.abc import Iterable

from schemas.window import Turn

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
# Bounded, so that a long run of digits or blanks is not tried again from each of its characters.
_DATE = re.compile(
    r"(?:星期[一二三四五六日天]|上午|下午|凌晨)?\s{0,3}\d{1,4}\s{0,3}[年月日号时点分秒]"
    r"|(?:星期[一二三四五六日天]|上午|下午|凌晨)\s*(?=\d)"
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ebef]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}|\b[IA]\b")
_ENGLISH_GLUE = re.compile(
    r"\b(?:i|i'm|the|an?|is|are|was|were|be|my|me|we|you|he|she|it|they|his|her|in|on|at|to|of|for|from|with|and|but"
    r"|or|not|have|has|had|do|does|did|will|would|can|this|that|very|please)\b",
    re.IGNORECASE,
)


def language_of(text: str) -> str:
    """`zh`, `ja` or `ko` by script, `en` for everything else (also what is neither: honest only for templates).

    Code, links and dates say nothing of the writer's language. Chinese may be full of English names, so
    Han characters are weighed against the small words that hold an English sentence together.
    """
    text = _DATE.sub(" ", _CODE.sub(" ", text))
    han, kana, hangul = (len(script.findall(text)) for script in (_HAN, _KANA, _HANGUL))
    words = len(_LATIN_WORD.findall(text))
    if kana * 10 > han and kana * 2 > words:
        return "ja"
    if hangul > han and hangul * 2 > words:
        return "ko"
    if han and han >= 2 * len(_ENGLISH_GLUE.findall(text)) and han * 3 >= words:
        return "zh"
    return "en"


def language_of_users(turns: Iterable[Turn]) -> str:
    """The language of what users said in `turns`; what anyone else says has no vote (an assistant, a tool)."""
    return language_of("\n".join(turn.text for turn in turns if turn.role == "user"))
