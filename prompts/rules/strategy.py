"""The strategy `rules`: windows to scenes without a model."""

import asyncio
import re
from collections import Counter

from msgspec.structs import replace

from prompts.rules import calendar, chinese, cleaning, english, scene_names
from prompts.rules.fact import Fact, Speaker
from prompts.rules.language import CHINESE, ENGLISH, readable_as
from prompts.strategy import Extracted
from schemas.candidates import Candidate, Scene, Source
from schemas.window import Turn, Window

_SENTENCE = re.compile(
    r"(?<=[.!?…])(?<!\b[A-Z]\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)\s+|(?<=[。！？；!?;])|\n"
)
_READERS = {ENGLISH: english, CHINESE: chinese}
_NO_NAME = {"", "user", "human", "me", "unknown", "用户"}


class RulesStrategy:
    """Finds what people plainly state about themselves, in English and Chinese; a window is one scene.

    It knows a list of patterns and leaves out what it cannot turn into a true sentence: questions, conditions, jokes,
    quotations, what an assistant, a tool or a system said, and every other language.
    """

    name = "rules"
    model = "rules"
    prompt = "rules@1"

    async def extract(self, window: Window, scene_name: str) -> Extracted:
        """One scene, also where nothing was found in it. Never raises for what a window holds."""
        extracted = scene_of(window, scene_name)
        await asyncio.sleep(0)  # it never waits: give other scopes their turn
        return extracted


def scene_of(window: Window, scene_name: str = "") -> Extracted:
    """The pure part: the scene of `window` and how many parts were left out, by reason."""
    dropped: Counter[str] = Counter()
    found: dict[str, Candidate] = {}
    for turn in window.turns:
        for candidate in _candidates(turn, window, dropped):
            known = found.get(candidate.text)
            if known is None:
                found[candidate.text] = candidate
            elif candidate.sources[0] not in known.sources:
                found[candidate.text] = replace(known, sources=[*known.sources, *candidate.sources])
    candidates = list(found.values())
    name = scene_names.name(window.turns, candidates, scene_name)
    return Extracted([Scene(name, [turn.message_id for turn in window.turns], candidates)], dict(dropped))


def _candidates(turn: Turn, window: Window, dropped: Counter[str]) -> list[Candidate]:
    if turn.role != "user":
        return []
    if turn.kind != "chat":
        dropped["not_chat"] += 1
        return []
    in_room = window.scope_kind == "team"
    speaker = _speaker(turn, window)
    if in_room and not speaker.name:
        dropped["no_speaker"] += 1
        return []
    language = readable_as(turn.text)
    reader = _READERS.get(language)
    if reader is None:
        dropped["language"] += 1
        return []
    lines, left_out = cleaning.own_lines(turn.text)
    dropped.update(left_out)
    clock = calendar.clock(turn.sent_at, turn.time_zone)
    facts: list[Fact] = []
    for line in lines:
        last: list[Fact] = []
        for sentence in filter(None, map(str.strip, _SENTENCE.split(line))):
            if reader.taken_back(sentence):
                dropped["taken_back"] += len(last)
                del facts[len(facts) - len(last) :]
                last = []
                continue
            last = list(reader.read(sentence, speaker, clock))
            facts += last
    source = Source(window.session_id, turn.message_id, turn.offset, turn.sent_at, window.window_id)
    return [_candidate(fact, speaker, language, source) for fact in facts]


def _candidate(fact: Fact, speaker: Speaker, language: str, source: Source) -> Candidate:
    return Candidate(
        text=fact.text,
        type=fact.type,
        event_at=source.sent_at,
        sources=[source],
        key=fact.key,
        tags=list(fact.tags),
        priority=fact.priority,
        subject=fact.about,
        speaker=speaker.name,
        slot=fact.slot,
        language=language,
        activity_start=fact.when.start if fact.when else None,
        activity_end=fact.when.end if fact.when else None,
    )


def _speaker(turn: Turn, window: Window) -> Speaker:
    name = " ".join(turn.speaker.split())[:80]
    return Speaker("" if name.casefold() in _NO_NAME else name, in_room=window.scope_kind == "team")
