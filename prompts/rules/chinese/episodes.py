"""What happened and what is planned, in Chinese: clauses with a date, or of a kind worth keeping without one."""

import re
from collections.abc import Iterator

from prompts.rules.calendar import Clock, Span
from prompts.rules.chinese import dates, facts
from prompts.rules.fact import EPISODIC, PERSONA, Fact

_PLAN = re.compile(
    r"^(?:打算|计划|准备|决定|要去|要|会|得|将|有(?=一?[个场次趟门]|[^，]*(?:会议|考试|面试|比赛"
    r"|课)))[^，]{2,30}(?<!过)$"
    r"|^(?:去|飞|回|坐|参加|和|跟|陪|带|见)[^，了过]{2,30}$"
)
_DONE = re.compile(
    r"^(?:刚|刚刚|已经|终于|就|都|才|一个人"
    r"|[和跟][^，]{1,6}一起)*(?:[^，]{0,6}?[\u4e00-\u9fff][了过完到][^，]{1,24}|去[^，]{2,20}[了过]?|(?:参加|完成"
    r"|看完|毕业|搬家|买)[^，]{0,20})$"
)
_MILESTONE = re.compile(
    r"^(?:刚刚?|终于|已经|最近|前不久)*(?P<what>(?:买了|领养了|收养了|生了|考上了?|考过了|通过了|报名了|拿到了"
    r"|获得了|完成了|写完了|参加了|加入了|养了)[^，]{2,20}|(?:毕业|辞职|升职|失业|离职|搬家)了)$"
)
_UNDATED_PLAN = re.compile(r"^(?:打算|计划|准备)[^，]{3,30}$")
_DATE_IN_TEXT = re.compile(
    r"在?\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?(?:那一周|那个周末|早上|早晨|上午|中午|下午|傍晚|晚上|凌晨|夜里"
    r"|前不久)?(?:\d\d:\d\d)?"
)
_RECENT = 120 * 86_400_000  # ms: an older move says nothing of where someone lives now


def undated(me: str, about: str, words: str) -> Iterator[Fact]:
    """A milestone, or what was called a plan."""
    if found := _MILESTONE.match(words):
        yield from _episode(me, about, found["what"], None, "event", 55)
    elif _UNDATED_PLAN.match(words):
        yield from _episode(me, about, words, None, "plan", 55)


def dated(me: str, about: str, words: str, clock: Clock, plural: bool) -> Iterator[Fact]:
    """A plan with a date that is not over, an event with one that has come, or a move with one."""
    past, ahead = _absolute(words, clock, past=True), _absolute(words, clock, past=False)
    if past is None or ahead is None:
        return
    now = clock.now.timestamp() * 1000
    said, bare, when = ahead
    if _PLAN.match(bare) and (when.end is None or when.end >= now):
        yield from _episode(me, about, said, when, "plan", 70)
        return
    said, bare, when = past
    if when.start is not None and when.start > now:
        return
    if "搬" in bare and not plural and any(facts.facts(me, about, bare)):
        attribute = "home" if now - (when.end or now) < _RECENT else ""
        yield Fact(f"{me}{facts.ended(said)}。", PERSONA, "住处", ("place",), about, attribute, 80, when)
    elif _DONE.match(bare):
        yield from _episode(me, about, said, when, "event", 60)


def _absolute(words: str, clock: Clock, past: bool) -> tuple[str, str, Span] | None:
    """`words` with absolute dates, without any, and their span; None where a date stays unclear."""
    span: Span | None = None
    unclear = False

    def absolute(found: re.Match[str]) -> str:
        nonlocal span, unclear
        resolved = dates.resolve(found, clock, past)
        if resolved is None:
            unclear = True
            return ""
        span = resolved[1] if span is None else span.joined(resolved[1])
        return resolved[0]

    said = dates.EXPRESSION.sub(absolute, words)
    return None if unclear or span is None else (said, dates.EXPRESSION.sub("", words), span)


def _episode(me: str, about: str, words: str, when: Span | None, tag: str, priority: int) -> Iterator[Fact]:
    said = facts.ended(words)
    bare = _DATE_IN_TEXT.sub("", said)
    if len(said) <= 60 and facts.complete(bare):
        yield Fact(f"{me}{said}。", EPISODIC, bare[:20], (tag,), about, "", priority, when)
