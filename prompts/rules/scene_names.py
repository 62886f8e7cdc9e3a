"""A scene's name: who speaks, and of what."""

import re
from collections import Counter
from collections.abc import Sequence

from prompts.language import language_of_users
from prompts.rules.cleaning import without_code
from prompts.rules.fact import INSTRUCTION
from schemas.candidates import Candidate
from schemas.window import Turn

_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_COMMON = frozenset(
    ["about", "above", "actually", "after", "again", "ago", "agree", "all", "almost", "also", "although", "always", "amazing", "another", "anyone", "anything", "appreciate", "around", "ask", "awesome", "away", "back", "beautiful", "because", "been", "before", "being", "believe", "best", "better", "between", "both", "came", "can't", "cannot", "catch", "check", "come", "coming", "cool", "could", "couple", "day", "days", "definitely", "didn't", "does", "doing", "don't", "done", "down", "each", "either", "else", "enjoy", "enough", "even", "ever", "every", "everyone", "everything", "exactly", "excited", "exciting", "feel", "feeling", "feels", "find", "first", "forward", "found", "from", "full", "give", "glad", "goes", "going", "gone", "good", "gotta", "great", "guess", "hang", "happened", "happy", "hard", "have", "haven't", "having", "hear", "heard", "hello", "help", "here", "hey", "hope", "hopefully", "how", "idea", "inspiring", "interesting", "into", "it's", "just", "keep", "kind", "kinda", "know", "last", "later", "least", "less", "lets", "like", "little", "long", "look", "looking", "looks", "lots", "love", "loved", "made", "make", "makes", "making", "many", "maybe", "mean", "might", "mind", "more", "most", "much", "must", "myself", "need", "never", "next", "nice", "night", "nothing", "okay", "once", "only", "other", "others", "ours", "over", "people", "perfect", "place", "please", "pretty", "probably", "proud", "quite", "really", "remember", "right", "said", "same", "says", "seem", "seems", "seen", "share", "should", "show", "since", "some", "someone", "something", "soon", "sorry", "sound", "sounds", "special", "start", "started", "still", "stuff", "such", "sure", "take", "takes", "taking", "talk", "talking", "tell", "than", "thank", "thanks", "that", "that's", "their", "them", "then", "there", "these", "they", "thing", "things", "think", "this", "those", "though", "thought", "time", "times", "today", "together", "tomorrow", "tonight", "totally", "tried", "true", "truly", "trying", "until", "very", "want", "wanted", "wants", "was", "way", "we're", "week", "well", "went", "were", "what", "what's", "when", "where", "which", "while", "wish", "will", "with", "without", "wonderful", "won't", "work", "working", "would", "year", "years", "yeah", "yesterday", "you'd", "you're", "your", "yours", "yourself", "been", "super", "life", "also", "real", "always", "answer", "reply", "user", "assistant"]
)


def name(turns: Sequence[Turn], candidates: Sequence[Candidate], previous: str) -> str:
    """One sentence. Without a topic of its own a window stays in the scene before it (`previous`, or empty)."""
    chinese = language_of_users(turns) == "zh"
    people = _people(turns, chinese)
    topics = _topics(turns, candidates, people, chinese)
    if not topics:
        return previous or (f"{'、'.join(people)}闲聊。" if chinese else f"{_and(people)} chat.")
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
        for word in _WORD.findall(without_code(turn.text))
        if word.casefold() not in _COMMON
    )
    return [word for word, count in counts.most_common(4) if count > 1 and word not in names][:3]


def _topic(candidate: Candidate, chinese: bool) -> str:
    """A title inside a sentence: `Rye bread` as `rye bread`; proper names stay."""
    if candidate.type == INSTRUCTION:
        return "对助手的要求" if chinese else "rules for the assistant"
    key = candidate.key
    head, _, rest = key.partition(" ")
    return f"{head.lower()} {rest}".strip() if head[1:].islower() or not head[1:] else key


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
