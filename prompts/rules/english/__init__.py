"""English: a sentence in, facts in the third person out."""

import re
from collections.abc import Iterator
from datetime import date

from prompts.rules.calendar import Clock, Span
from prompts.rules.english import dates, events, facts, grammar, orders, people
from prompts.rules.fact import PERSONA, Fact, Speaker

# Not stated: asked, supposed, doubted, meant as a joke, or somebody else's words.
_NOT_STATED = re.compile(
    r"\?[\s\W]*$|\b(?:wish|imagine|suppose|pretend|hypothetically|what if|as if|maybe|perhaps|probably|possibly"
    r"|might|may have|i guess|kidding|joking|"
    r"sarcas\w*|yeah right|said no ?one|just what i needed|would have|would love|would like|could have|should have|"
    r"said|says|saying|told|tells|asked|claims?|according to|wrote that|heard that|thinks|reckons|believes"
    r"|quote)\b|/s\s*$|🙄|🙃|\bnot[.!]*\s*$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"^\W*(?:not|jk|just kidding|kidding|just joking|i'm (?:just )?(?:kidding|joking)|psych)\b[\s\W]*$", re.IGNORECASE
)
_QUOTATION = re.compile(
    r"[\"“][^\"”]*(?:\s[^\"”\s]+){3,}[^\"”]*[\"”]|[\"“][^\"”]*\b(?:I|my|me)\b[^\"”]*[\"”]|(?:^|\s)'I\b[^']*'"
)
_TRIGGER = re.compile(
    r"\b(?:I|I['’]\w+|my|we|we['’]\w+|always|never|please|stop|call|from now|going forward|do not|don['’]t)\b", re.IGNORECASE
)
_FAVOURITE = re.compile(
    r"^my (?:(?P<all>all-time )?favourite) (?P<kind>[\w ]{2,30}?) (?:is|are|has always been) (?P<what>.+)$", re.IGNORECASE
)
_MY_NAME = re.compile(
    rf"^my (?:full |first )?name is (?P<name>{people.NAME})$|^I (?:am called|go by) (?P<called>{people.NAME})$", re.IGNORECASE
)
_THEIR_NAME = re.compile(
    rf"^my (?P<relation>{people.RELATION})(?:'s name is|'s called| is called| is named|, called|'s name's) "
    rf"(?P<name>{people.NAME})$",
    re.IGNORECASE,
)
_HAS_NAMED = re.compile(
    rf"^I have (?:an?|one) (?:[\w-]+ ){{0,2}}?(?P<relation>{people.RELATION}),? (?:who is |whose name is "
    rf")?(?:called|named)?\s*(?P<name>[A-Z][\w-]+)\b",
    re.IGNORECASE,
)
_BIRTHDAY = re.compile(r"^my birthday is (?P<x>(?:on|in) .+)$", re.IGNORECASE)
_OCCASION = re.compile(r"^my (?P<what>(?:[\w'-]+ ){0,3}[\w-]+) is (?P<x>(?:on|in|at) .+)$", re.IGNORECASE)
_SINCE = re.compile(
    r"\bfor (?:the past |about |almost |over |nearly )?(?P<n>an?|\d{1,2}|two|three|four|five|six|seven|eight|nine"
    r"|ten|twelve) years?(?: now)?\b",
    re.IGNORECASE,
)
_NUMBERS = dict(zip(["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], range(1, 11), strict=False)) | {
    "an": 1,
    "twelve": 12,
}


def taken_back(sentence: str) -> bool:
    """Whether the sentence says that the one before was a joke."""
    return _TAKEN_BACK.match(sentence) is not None


def read(sentence: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    """The facts that `sentence` states about its speaker."""
    if not _TRIGGER.search(sentence) or _QUOTATION.search(sentence):
        return
    stated = not _NOT_STATED.search(sentence)
    lead = ""
    if stated and dates.HINT.search(sentence):
        found = dates.EXPRESSION.match(sentence := grammar.opened(sentence))
        if found and re.match(r",?\s+(?:I|we|my)\b", sentence[found.end() :], re.IGNORECASE):
            lead, sentence = found.group(), sentence[found.end() :].lstrip(" ,")
    for number, clause in enumerate(grammar.clauses(sentence)):
        if grammar.conditional(clause):
            return
        if stated:
            yield from _stated(clause, lead if number == 0 else "", speaker, clock)
        if not sentence.rstrip().endswith("?") and "kidding" not in sentence:
            yield from orders.orders(clause, speaker)


def _stated(clause: str, lead: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    if clause[:1] not in "IiMmWw":
        return
    me = people.subject_of(speaker)
    if found := _MY_NAME.match(clause):
        name = found["name"] or found["called"]
        if name[:1].isupper() or not name.isascii():
            who = "The user" if name.casefold() == speaker.name.casefold() else me
            if not (speaker.in_room and who != me):
                yield Fact(
                    f"{people.possessive(who)} name is {name}.",
                    PERSONA,
                    "Name",
                    ("identity",),
                    speaker.slot,
                    "name",
                    90,
                )
        return
    if found := _THEIR_NAME.match(clause) or _HAS_NAMED.match(clause):
        relation = found["relation"].lower()
        if found["name"][:1].isupper() or not found["name"].isascii():
            yield _named(relation, found["name"], speaker, certain=found.re is _THEIR_NAME)
        return
    if found := _FAVOURITE.match(clause):
        what = grammar.complete(found["what"])
        if what and grammar.complete(found["kind"]) is not None:
            kind = found["kind"].lower()
            verb = "are" if " are " in clause[: found.start("what")] else "is"
            text = f"{people.possessive(me)} favourite {kind} {verb} {what}."
            yield Fact(
                text,
                PERSONA,
                f"Favourite {kind}",
                ("preference",),
                speaker.slot,
                f"favourite {grammar.normal(kind)}",
                75,
            )
        return
    ahead = _dated(clause, clock, past=False) if " is " in clause and clause[:2].lower() == "my" else None
    if found := _BIRTHDAY.match(ahead[0] if ahead else ""):
        day = re.sub(
            r"\b\d{4}-\d\d-\d\d", lambda on: f"{date.fromisoformat(on.group()):%B %d}".replace(" 0", " "), found["x"]
        )
        if what := grammar.complete(day):
            yield Fact(
                f"{people.possessive(me)} birthday is {what}.",
                PERSONA,
                "Birthday",
                ("identity",),
                speaker.slot,
                "birthday",
                80,
            )
        return
    if (
        ahead
        and ahead[1]
        and (found := _OCCASION.match(ahead[0]))
        and (what := grammar.complete(f"{found['what']} is {found['x']}"))
    ):
        mine = people.Subject(people.possessive(me), speaker.slot, own=True)
        yield events.episode(mine, what, ahead[1], "plan", 70)
        return
    told = people.statement(clause, speaker)
    if told is None:
        return
    subject, predicate, named = told
    if named:
        yield _named(*named, speaker, certain=False)
    dated_ahead = _dated(predicate, clock, past=False, lead=lead)
    if dated_ahead and (plans := list(events.plan(subject, *dated_ahead))):
        yield from (one for one in plans if not _over(one.when, clock))
        return
    dated_past = _dated(predicate, clock, past=True, lead=lead)
    if dated_past is None:
        return
    words, when = dated_past
    if when and when.start is not None and when.start > clock.now.timestamp() * 1000:
        return
    lasting = list(facts.facts(subject, _since(words, clock)))
    if lasting:
        yield from (_placed(one, when, clock) for one in lasting)
    else:
        yield from events.event(subject, words, when)
        if when is None:
            yield from events.activity(subject, words)


def _dated(words: str, clock: Clock, past: bool, lead: str = "") -> tuple[str, Span | None] | None:
    """`words` with every date in it absolute, `lead` put where it reads well; None where one of them stays unclear."""
    if not (lead or dates.HINT.search(words)):
        return words, None
    if lead:
        listed = re.search(r",|\s+(?:and|with)\b", words)
        at = min(grammar.statement_end(words), listed.start() if listed else len(words))
        words = f"{words[:at]} {lead}{words[at:]}"
    span: Span | None = None
    unclear = False

    def absolute(found: re.Match[str]) -> str:
        nonlocal span, unclear
        resolved = dates.resolve(found, clock, past)
        if resolved is None:
            unclear = unclear or not re.fullmatch(
                r"(?:\w+ )?(?:(?:may|march|august)|\d{4}|(?:an?|\w+) \w+)(?: time)?", found.group(), re.IGNORECASE
            )
            return found.group()
        span = resolved[1] if span is None else span.joined(resolved[1])
        return resolved[0]

    words = dates.EXPRESSION.sub(absolute, words)
    return None if unclear else (words, span)


def _since(words: str, clock: Clock) -> str:
    """`for seven years` as the year it began: it stays true."""

    def year(found: re.Match[str]) -> str:
        count = found["n"].lower()
        return f"since {clock.today.year - (int(count) if count.isdigit() else _NUMBERS[count])}"

    return _SINCE.sub(year, words) if words.startswith("has ") else words


def _placed(one: Fact, when: Span | None, clock: Clock) -> Fact:
    """A dated lasting fact. A move of long ago says nothing of where someone lives now."""
    if when is None:
        return one
    old = (
        one.attribute in {"home", "employer"}
        and when.end is not None
        and clock.now.timestamp() * 1000 - when.end > 120 * 86_400_000
    )
    keeps = "" if old and " since " not in one.text else one.attribute
    return Fact(one.text, one.type, one.key, one.tags, one.about, keeps, one.priority, when)


def _over(when: Span | None, clock: Clock) -> bool:
    return when is not None and when.end is not None and when.end < clock.day(clock.today).start  # type: ignore[operator]


def _named(relation: str, name: str, speaker: Speaker, certain: bool) -> Fact:
    text, attribute = people.named(relation, name, speaker, certain)
    return Fact(text, PERSONA, f"{relation.capitalize()}'s name", ("relation",), speaker.slot, attribute, 80)
