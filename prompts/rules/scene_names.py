"""A scene's name: who speaks, and of what."""

import re
from collections import Counter
from collections.abc import Sequence

from prompts.rules.cleaning import MAX_CHARS, without_code
from prompts.rules.fact import INSTRUCTION
from prompts.rules.language import CHINESE, ENGLISH, readable_as
from schemas.candidates import Candidate
from schemas.window import Turn

_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_WORDS = (
    "about above actually after again ago agree all almost also although always amazing another anyone anything "
    "appreciate around ask awesome away back beautiful because been before being believe best better between both "
    "came can't cannot catch check come coming cool could couple day days definitely didn't does doing don't done "
    "down each either else enjoy enough even ever every everyone everything exactly excited exciting feel feeling "
    "feels find first forward found from full give glad goes going gone good gotta great guess hang happened happy "
    "hard have haven't having hear heard hello help here hey hope hopefully how idea inspiring interesting into "
    "it's just keep kind kinda know last later least less lets like little long look looking looks lots love loved "
    "made make makes making many maybe mean might mind more most much must myself need never next nice night "
    "nothing okay once only other others ours over people perfect place please pretty probably proud quite really "
    "remember right said same says seem seems seen share should show since some someone something soon sorry sound "
    "sounds special start started still stuff such sure take takes taking talk talking tell than thank thanks that "
    "that's their them then there these they thing things think this those though thought time times today together "
    "tomorrow tonight totally tried true truly trying until very want wanted wants was way we're week well went "
    "were what what's when where which while wish will with without wonderful won't work working would year years "
    "yeah yesterday you'd you're your yours yourself been super life also real always answer reply user assistant"
)
_COMMON = frozenset(_WORDS.split())
# `Joined a book club in Oslo` is a title; what people talk about is a book club
_VERB = re.compile(
    r"^(?:(?:does not|no longer|only|not|just|used to|wants to)\s+)?(?:[a-z]+(?:ed|ing|(?<![s'])s)\b|went|took|got"
    r"|had|made|met|bought|ran|won|lost|found|built|gave|saw|hurt|passionate|keen|fond|good|fan|moved|quit|set|began|wrote"
    r"|read|led|eat|drink|smoke|hike|fly|visit|go|finish|see|buy|into)\b(?:\s+(?:up|out|part|for|on|to|in|into|at"
    r"|with|about|of|from|an?|the|all|their|some|new|cool|playing|together|a))*\s+",
    re.IGNORECASE,
)
_LATER = re.compile(r"(?<=\w)\s+(?:is|with|for|to|on|in|at|from|about|of|during|by|as)\b.*$")


def name(turns: Sequence[Turn], candidates: Sequence[Candidate], previous: str) -> str:
    """One sentence. Without a topic of its own a window stays in the scene before it (`previous`, or empty)."""
    languages = Counter(readable_as(turn.text) for turn in turns if turn.role == "user")
    chinese = languages[CHINESE] > languages[ENGLISH]
    people = _people(turns, chinese)
    topics = _topics(turns, candidates, people, chinese)
    if not topics:
        return previous or (
            f"{'、'.join(people)}闲聊。" if chinese else f"{_and(people)} {'chats' if len(people) == 1 else 'chat'}."
        )
    if chinese:
        return f"{'、'.join(people)}谈到{'、'.join(topics)}。"
    return f"{_and(people)} talk{'s' if len(people) == 1 else ''} about {_and(topics)}."


def _people(turns: Sequence[Turn], chinese: bool) -> list[str]:
    nameless = "用户" if chinese else "The user"
    speakers = dict.fromkeys(" ".join(turn.speaker.split())[:40] or nameless for turn in turns if turn.role == "user")
    return list(speakers)[:4] or [nameless]


def _topics(turns: Sequence[Turn], candidates: Sequence[Candidate], people: Sequence[str], chinese: bool) -> list[str]:
    if candidates:
        keys = dict.fromkeys(
            _topic(candidate, chinese) for candidate in sorted(candidates, key=lambda one: -abs(one.priority))
        )
        return [key for key in keys if key][:3]
    names = {word.casefold() for person in people for word in person.split()}
    counts = Counter(
        word.casefold()
        for turn in turns
        if turn.role == "user"
        for word in _WORD.findall(without_code(turn.text[:MAX_CHARS]))
        if word.casefold() not in _COMMON
    )
    return [word for word, count in counts.most_common(4) if count > 1 and word not in names][:3]


def _topic(candidate: Candidate, chinese: bool) -> str:
    """A title inside a sentence: `Rye bread` as `rye bread`; proper names stay."""
    if candidate.type == INSTRUCTION:
        return "对助手的要求" if chinese else "rules for the assistant"
    key = candidate.key
    if not chinese and key.isascii():
        object_ = _VERB.sub("", key)
        if object_ and object_ != key:
            return _LATER.sub("", object_)
    head, _, rest = key.partition(" ")
    return f"{head.lower()} {rest}".strip() if head[1:].islower() or not head[1:] else key


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
