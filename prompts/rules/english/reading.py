"""English sentences taken apart: what is not stated is left out, the rest goes to the readers of its kind."""

import re
from collections.abc import Iterator
from dataclasses import replace

from prompts.rules.calendar import Clock, Span
from prompts.rules.english import dates, events, facts, grammar, named, orders, people
from prompts.rules.fact import Fact, Speaker

# Not stated: asked, supposed, doubted, meant as a joke, or somebody else's words.
_NOT_STATED = re.compile(
    r"\?\W*$|\b(?:wish|imagine|suppose|pretend|hypothetically|what if|as if|maybe|perhaps|probably|possibly|might"
    r"|may have|i guess|kidding|joking|sarcas\w*|yeah right|said no ?one|just what i needed|would have|would love"
    r"|would like|could have|should have|said|says|saying|told|tells|asked|claims?|according to|wrote that|heard "
    r"that|thinks|reckons|believes|quote)\b|/s\s*$|🙄|🙃|\bnot[.!]*\s*$",
    re.IGNORECASE,
)
_NO_ORDER = re.compile(r"\?\W*$|kidding|joking|\b(?:said|says|told|asked)\b", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"^\W*(?:not|jk|just kidding|kidding|just joking|i'm (?:just )?(?:kidding|joking)|psych)\W*$", re.IGNORECASE
)
_QUOTATION = re.compile(
    r"[\"“][^\"”]*(?:\s[^\"”\s]+){3,}[^\"”]*[\"”]|[\"“][^\"”]*\b(?:I|my|me)\b[^\"”]*[\"”]|(?:^|\s)'I\b[^']*'"
)
# a sentence without one of these holds nothing for the rules
_TRIGGER = re.compile(
    r"\b(?:I|I['’]\w+|my|we|we['’]\w+|always|never|please|stop|call|from now|going forward|do not|don['’]t)\b",
    re.IGNORECASE,
)
_SPEAKER_FOLLOWS = re.compile(r",?\s+(?:I|we|my)\b", re.IGNORECASE)
_LISTED = re.compile(r",|\s+(?:and|with)\b")
_COUNTS = {"a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_COUNTS |= {"ten": 10, "twelve": 12}
_DURATION = re.compile(
    rf"\bfor (?:the past |about |almost |over |nearly )?(?P<count>\d{{1,2}}|{'|'.join(_COUNTS)}) years?(?: now)?\b",
    re.IGNORECASE,
)
_RECENT = 120 * 86_400_000  # ms: an older move or new job says nothing of what is so now


def taken_back(sentence: str) -> bool:
    """Whether the sentence says that the one before was a joke."""
    return _TAKEN_BACK.match(sentence) is not None


def read(sentence: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    """The facts that `sentence` states about its speaker."""
    if not _TRIGGER.search(sentence) or _QUOTATION.search(sentence):
        return
    stated, ordered = not _NOT_STATED.search(sentence), not _NO_ORDER.search(sentence)
    lead, sentence = _lead(sentence) if stated else ("", sentence)
    for clause in grammar.clauses(sentence):
        if grammar.conditional(clause):
            return
        if stated and clause[:1] in "IiMmWw":
            yield from _stated(clause, lead, speaker, clock)
        if ordered:
            yield from orders.orders(clause, speaker)
        lead = ""


def _lead(sentence: str) -> tuple[str, str]:
    """A date that opens the sentence, and the rest: `Last week, I …`."""
    if dates.HINT.search(sentence):
        opened = grammar.opened(sentence)
        found = dates.EXPRESSION.match(opened)
        if found and _SPEAKER_FOLLOWS.match(opened, found.end()):
            return found.group(), opened[found.end() :].lstrip(" ,")
    return "", sentence


def _stated(clause: str, lead: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    by_name = list(named.facts(clause, speaker, clock))
    if by_name:
        yield from by_name
        return
    told = people.statement(clause, speaker)
    if told is None:
        return
    subject, predicate, relative = told
    if relative:
        yield named.relative(*relative, speaker, certain=False)
    if lead:
        listed = _LISTED.search(predicate)
        at = min(grammar.statement_end(predicate), listed.start() if listed else len(predicate))
        predicate = f"{predicate[:at]} {lead}{predicate[at:]}"
    planned = _planned(subject, predicate, clock)
    yield from planned or _happened(subject, predicate, clock)


def _planned(subject: people.Subject, predicate: str, clock: Clock) -> list[Fact]:
    dated = dates.absolute(predicate, clock, past=False)
    if dated is None:
        return []
    midnight = clock.day(clock.today).start or 0
    return [one for one in events.plan(subject, *dated) if not one.when or (one.when.end or midnight) >= midnight]


def _happened(subject: people.Subject, predicate: str, clock: Clock) -> Iterator[Fact]:
    dated = dates.absolute(predicate, clock, past=True)
    if dated is None:
        return
    words, when = dated
    now = clock.now.timestamp() * 1000
    if when and when.start is not None and when.start > now:
        return
    lasting = [_placed(one, when, now) for one in facts.facts(subject, _since(words, clock))]
    if lasting:
        yield from lasting
        return
    yield from events.event(subject, words, when)
    if when is None:
        yield from events.activity(subject, words)


def _since(words: str, clock: Clock) -> str:
    """`for seven years` as the year it began: that stays true."""

    def year(found: re.Match[str]) -> str:
        count = found["count"].lower()
        return f"since {clock.today.year - (int(count) if count.isdigit() else _COUNTS[count])}"

    return _DURATION.sub(year, words) if words.startswith("has ") else words


def _placed(one: Fact, when: Span | None, now: float) -> Fact:
    """A lasting fact with its date, and without a slot where it tells of long ago."""
    if when is None:
        return one
    old = one.attribute in {"home", "employer"} and when.end is not None and now - when.end > _RECENT
    return replace(one, when=when, attribute="" if old and " since " not in one.text else one.attribute)
