"""English clauses that start with `my`: names, favourites, birthdays, occasions."""

import re
from collections.abc import Iterator
from datetime import date

from prompts.rules.calendar import Clock
from prompts.rules.english import dates, events, grammar, people
from prompts.rules.fact import PERSONA, Fact, Speaker

_MY_NAME = re.compile(rf"^(?:my (?:full |first )?name is|I am called|I go by) (?P<name>{people.NAME})$", re.IGNORECASE)
_THEIR_NAME = re.compile(
    rf"^my (?P<relation>{people.RELATION})(?:'s name is|'s called| is called| is named|, called|'s name's) "
    rf"(?P<name>{people.NAME})$",
    re.IGNORECASE,
)
_HAS_NAMED = re.compile(
    rf"^I have (?:an?|one) (?:[\w-]+ ){{0,2}}?(?P<relation>{people.RELATION}),? (?:who is |whose name is )?"
    r"(?:called|named)?\s*(?P<name>[A-Z][\w-]+)\b",
    re.IGNORECASE,
)
_FAVOURITE = re.compile(
    r"^my (?:all-time )?favourite (?P<kind>[\w ]{2,30}?) (?P<verb>is|are|has always been) (?P<what>.+)$", re.IGNORECASE
)
_BIRTHDAY = re.compile(r"^my birthday is (?P<day>(?:on|in) .+)$", re.IGNORECASE)
_OCCASION = re.compile(r"^my (?P<what>(?:[\w'-]+ ){0,3}[\w-]+ is (?:on|in|at) .+)$", re.IGNORECASE)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d")


def facts(clause: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    """What `clause` calls by its name, by its day, or a favourite."""
    if found := _MY_NAME.match(clause):
        yield from _own_name(found["name"], speaker)
    elif found := _THEIR_NAME.match(clause) or _HAS_NAMED.match(clause):
        if _proper(found["name"]):
            yield relative(found["relation"].lower(), found["name"], speaker, certain=found.re is _THEIR_NAME)
    elif found := _FAVOURITE.match(clause):
        yield from _favourite(found["kind"].lower(), found["verb"].lower(), found["what"], speaker)
    elif " is " in clause and clause[:3].lower() == "my ":
        yield from _day(clause, speaker, clock)


def relative(relation: str, name: str, speaker: Speaker, certain: bool) -> Fact:
    """Who someone of the speaker's is; `certain`: the speaker spoke of the one there is."""
    text, attribute = people.named(relation, name, speaker, certain)
    return Fact(text, PERSONA, f"{relation.capitalize()}'s name", ("relation",), speaker.slot, attribute, 80)


def _own_name(name: str, speaker: Speaker) -> Iterator[Fact]:
    known = name.casefold() == speaker.name.casefold()
    if _proper(name) and not (known and speaker.in_room):  # "Maya's name is Maya" says nothing
        who = "The user" if known else people.subject_of(speaker)
        yield Fact(
            f"{people.possessive(who)} name is {name}.", PERSONA, "Name", ("identity",), speaker.slot, "name", 90
        )


def _favourite(kind: str, verb: str, what: str, speaker: Speaker) -> Iterator[Fact]:
    kept = grammar.complete(what)
    if kept and grammar.complete(kind):
        text = f"{people.possessive(people.subject_of(speaker))} favourite {kind} {verb} {kept}."
        attribute = f"favourite {grammar.normal(kind)}"
        yield Fact(text, PERSONA, f"Favourite {kind}", ("preference",), speaker.slot, attribute, 75)


def _day(clause: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    dated = dates.absolute(clause, clock, past=False)
    if dated is None or dated[1] is None:
        return
    words, when = dated
    mine = people.possessive(people.subject_of(speaker))
    if found := _BIRTHDAY.match(words):
        day = _DAY.sub(lambda on: f"{date.fromisoformat(on.group()):%B %d}".replace(" 0", " "), found["day"])
        if kept := grammar.complete(day):
            text = f"{mine} birthday is {kept}."
            yield Fact(text, PERSONA, "Birthday", ("identity",), speaker.slot, "birthday", 80)
    elif (found := _OCCASION.match(words)) and (kept := grammar.complete(found["what"])):
        yield events.episode(people.Subject(mine, speaker.slot, own=True), kept, when, "plan", 70)


def _proper(name: str) -> bool:
    return name[:1].isupper() or not name.isascii()
