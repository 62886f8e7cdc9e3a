"""What holds of a person for a while: the tables of lasting facts put to use."""

import re
from collections.abc import Iterator

from prompts.rules.english import grammar, life, tastes
from prompts.rules.english.people import Subject
from prompts.rules.english.rule import Rule
from prompts.rules.fact import PERSONA, Fact

_ROWS = life.ROWS + tastes.ROWS
_CIRCUMSTANCE = re.compile(r"(?:as|with|on|in|since|for|near|at|around|shortly|to|from|after|before)\b")
_SPEAKERS_OWN_TASTE = re.compile(
    r"^(?:(?:when|if|where|a lot|lots|a ton|tons|a bit)\b|(?:all )?the (?!beach|sea|ocean|mountains|outdoors|rain"
    r"|summer|winter"
    r"|piano|guitar|violin|cello|drums|snow|sun|forest|city|countryside|desert|theat|cinema|Beatles|[A-Z])|to "
    r"(?:hear|see|know|say|think|thank|help|be)\b|(?:hearing|seeing|knowing|having|being)\b|(?:an?|my) (?:idea|look"
    r"|feeling|sound|way)\b|talking to\b|options?\b|idea\b)"
)
_SHARED = {"place", "relation"}  # what holds of each of us: we live in Bergen
_PRAISE = ("likes|", "is fond of|", "into|", "passionate about|")


def facts(subject: Subject, predicate: str) -> Iterator[Fact]:
    """The lasting statement in `predicate`, if it is one; dates in it are absolute already."""
    # as it stands, or else without what trails behind the statement
    for said in dict.fromkeys((predicate, grammar.head(predicate))):
        for rule in _ROWS:
            if found := rule.pattern.match(said):
                yield from _facts(subject, rule, found)
                return


def _facts(subject: Subject, rule: Rule, found: re.Match[str]) -> Iterator[Fact]:
    if subject.plural and rule.tags[0] not in _SHARED:
        return
    parts = {name: _part(name, value) for name, value in found.groupdict(default="").items()}
    if any(part is None for part in parts.values()):
        return
    words = {name: part or "" for name, part in parts.items()}
    slots = {name: grammar.normal(part) for name, part in words.items()}
    if "verb" in words:
        slots["verb"] = re.sub(r"ies$", "y", words["verb"]).removesuffix("s")
    attribute = rule.attribute.format(**slots)
    if attribute.startswith(_PRAISE) and _SPEAKERS_OWN_TASTE.match(words["what"]):
        return
    text = re.sub(r"\s+([.,])", r"\1", rule.text.format(s=subject.name, **words))
    key = rule.key.format(**words).strip()
    yield Fact(text, PERSONA, key[:1].upper() + key[1:60], rule.tags, subject.about, attribute, rule.priority)
    if "job" in words and "employer" in words:  # one changes without the other
        verb, kept = ("studies", "school") if words["job"].endswith("student") else ("works", "employer")
        text = f"{subject.name} {verb} at {words['employer']}."
        yield Fact(text, PERSONA, kept.capitalize(), rule.tags, subject.about, kept, rule.priority)


def _part(name: str, value: str) -> str | None:
    if name in {"not", "verb", "how", "year", "age", "state", "diet"} or not value:
        return value
    if name == "x":
        kept = grammar.complete(value.lstrip(" ,"), longest=8)
        return f" {kept}" if kept and _CIRCUMSTANCE.match(kept) else ""
    return grammar.complete(value, longest=10)
