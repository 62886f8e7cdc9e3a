"""What holds of a person for a while: names, homes, work, tastes, health, habits. One table over third-person predicates."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prompts.rules.english import grammar
from prompts.rules.english.people import MANY, NAME, SINGLE, Subject
from prompts.rules.fact import PERSONA, Fact

_PLACE = r"(?:the )?[A-Z][\w'.-]*(?:,? (?:[A-Z][\w'.-]*|de|la|of|del|upon))*"
_JOBS = (
    "nurse|doctor|teacher|engineer|developer|programmer|designer|lawyer|chef|cook|student|artist|musician|writer"
    "|author|journalist|"
    "architect|accountant|manager|scientist|researcher|professor|dentist|pilot|farmer|driver|electrician|plumber"
    "|mechanic|pharmacist|"
    "therapist|counsell?or|psychologist|librarian|photographer|actor|actress|dancer|singer|firefighter|officer"
    "|soldier|veteran|"
    "veterinarian|vet|barista|bartender|waiter|waitress|carpenter|consultant|analyst|translator|editor|director"
    "|producer|coach|trainer|"
    "nanny|entrepreneur|founder|freelancer|postdoc|intern|paramedic|surgeon|baker|painter|banker|economist"
    "|biologist|chemist|physicist|"
    "mathematician|novelist|violinist|pianist|guitarist|drummer|streamer|gamer|athlete|surveyor|technician"
    "|administrator|secretary|tutor|"
    "lecturer|physician|midwife|radiologist|cardiologist|anaesthetist|joiner|tailor|florist|geologist|historian"
    "|linguist|illustrator"
)
_DIETS = "vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|teetotal"
_STATES = (
    "married|engaged|single|divorced|widowed|retired|unemployed|self-employed|diabetic|pregnant|left-handed"
    "|colou?r-?blind|deaf|dyslexic"
)
_TASTES = "likes?|loves?|enjoys?|adores?|prefers?|hates?|dislikes?|detests?|can not stand"
_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|an?|\\d+"
_KIN = (
    f"(?:{SINGLE}|{MANY})|sisters|brothers|sons|daughters|children|kids|twins|siblings|dogs|cats|puppies|kittens"
    f"|pets|horses|rabbits|parrots"
)


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    text: str  # {s} is the subject; {name} a group of the pattern
    key: str
    attribute: str
    tags: tuple[str, ...]
    priority: int = 70
    own: bool = False  # only where the speaker is the subject


def _rule(
    pattern: str, text: str, key: str, attribute: str, *tags: str, priority: int = 70, own: bool = False
) -> _Rule:
    return _Rule(re.compile(rf"^{pattern}$"), text, key, attribute, tags, priority, own)


_RULES = (
    _rule(rf"is (?:called|named) (?P<name>{NAME})", "{s} is called {name}.", "Name", "name", "identity", priority=85),
    _rule(
        rf"(?:lives|is living|resides|is based) in (?P<place>{_PLACE})(?P<x>.*)",
        "{s} lives in {place}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    _rule(
        rf"(?:does not live in|no longer lives in) (?P<place>{_PLACE}?)(?: any ?more| any longer| now)?",
        "{s} does not live in {place}.",
        "Home",
        "home",
        "place",
        priority=75,
    ),
    _rule(
        rf"has (?:lived|been living) in (?P<place>{_PLACE})(?P<x>.*)",
        "{s} has lived in {place}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    _rule(
        rf"(?:has )?(?:moved|relocated) (?:here )?from (?P<old>{_PLACE}) to (?P<new>{_PLACE})(?P<x>.*)",
        "{s} moved from {old} to {new}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    _rule(
        rf"(?:has )?(?:moved|relocated) to (?P<new>{_PLACE})(?P<x>.*)",
        "{s} moved to {new}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    _rule(rf"grew up in (?P<place>{_PLACE})(?P<x>.*)", "{s} grew up in {place}{x}.", "Childhood", "childhood", "place"),
    _rule(
        rf"was born in (?P<place>{_PLACE})(?P<x>.*)", "{s} was born in {place}{x}.", "Birthplace", "birthplace", "place"
    ),
    _rule(
        r"was born in (?P<year>(?:19|20)\d\d)", "{s} was born in {year}.", "Year of birth", "year of birth", "identity"
    ),
    _rule(
        rf"(?:is|comes) (?:originally )?from (?P<place>{_PLACE})", "{s} is from {place}.", "Origin", "origin", "place"
    ),
    _rule(
        rf"(?:is|works as) (?P<job>an? (?:[\w-]+ ){{0,3}}(?:{_JOBS})) (?:at|for|with) (?P<employer>(?:the )?[A-Z].*)",
        "{s} is {job}.",
        "Job",
        "job",
        "work",
        priority=80,
    ),
    _rule(
        rf"(?:is|works as|is working as) (?P<job>an? (?:[\w-]+ ){{0,3}}(?:{_JOBS}))(?P<x> in .*)?",
        "{s} is {job}{x}.",
        "Job",
        "job",
        "work",
        priority=80,
    ),
    _rule(
        r"(?P<how>quit|left|lost) my (?:old |current )?job(?P<x>.*)",
        "{s} {how} their job{x}.",
        "Job",
        "employer",
        "work",
        priority=75,
    ),
    _rule(r"works as (?P<job>an? .+)", "{s} works as {job}.", "Job", "job", "work", priority=80),
    _rule(
        r"(?:works|is working) (?P<how>at|for) (?P<employer>(?:the |an? )?.+)",
        "{s} works {how} {employer}.",
        "Employer",
        "employer",
        "work",
        priority=80,
    ),
    _rule(r"works (?P<how>in|from) (?P<field>.+)", "{s} works {how} {field}.", "Work", "work field", "work"),
    _rule(
        r"(?:got|has got|landed|took) a (?:new )?job (?P<how>at|as|with|in) (?P<job>.+)",
        "{s} got a job {how} {job}.",
        "New job",
        "employer",
        "work",
        priority=80,
    ),
    _rule(
        r"(?:started|has started) (?:working|a (?:new )?job) (?P<how>at|as|for|with) (?P<job>.+)",
        "{s} started a job {how} {job}.",
        "New job",
        "employer",
        "work",
        priority=80,
    ),
    _rule(r"is (?P<age>\d{1,3})(?: years old)?", "{s} is {age} years old.", "Age", "age", "identity", priority=75),
    _rule(r"(?:just )?turned (?P<age>\d{1,3})(?P<x>.*)", "{s} turned {age}{x}.", "Age", "age", "identity", priority=75),
    _rule(
        rf"is (?P<not>not )?(?:an? (?:strict )?)?(?P<diet>{_DIETS})",
        "{s} is {not}{diet}.",
        "Diet",
        "diet",
        "food",
        "health",
        priority=85,
    ),
    _rule(
        r"is (?P<not>not )?allergic to (?P<what>.+)",
        "{s} is {not}allergic to {what}.",
        "Allergy to {what}",
        "allergy|{what}",
        "health",
        priority=90,
    ),
    _rule(
        r"has an? (?P<what>[\w ]{2,30}) allergy",
        "{s} is allergic to {what}.",
        "Allergy to {what}",
        "allergy|{what}",
        "health",
        priority=90,
    ),
    _rule(
        r"(?:does not|never) (?P<verb>eat|drink|smoke)s? ?(?P<what>.*)",
        "{s} does not {verb} {what}.",
        "Does not {verb} {what}",
        "{verb}|{what}",
        "food",
        priority=80,
    ),
    _rule(
        r"no longer (?P<verb>eats|drinks|smokes) ?(?P<what>.*)",
        "{s} no longer {verb} {what}.",
        "No longer {verb} {what}",
        "{verb}|{what}",
        "food",
        priority=80,
    ),
    _rule(
        r"only (?P<verb>eats|drinks) (?P<what>.+)",
        "{s} only {verb} {what}.",
        "Only {verb} {what}",
        "{verb} only",
        "food",
    ),
    _rule(
        rf"(?:is|got) (?P<not>not |no longer )?(?P<state>{_STATES})(?P<x> to .+)?",
        "{s} is {not}{state}{x}.",
        "{state}",
        "{state}",
        "identity",
        priority=75,
    ),
    _rule(
        r"is (?P<nation>[A-Z][a-z]+(?:ish|ese|ian|can|ch|an))",
        "{s} is {nation}.",
        "Nationality",
        "nationality",
        "identity",
    ),
    _rule(rf"(?P<verb>{_TASTES}) (?P<what>.+)", "{s} {verb} {what}.", "{verb} {what}", "likes|{what}", "preference"),
    _rule(
        r"(?:does not|do not) (?:really )?(?P<verb>like|love|enjoy)(?: to)? (?P<what>.+?)(?: any ?more| any longer)?",
        "{s} does not {verb} {what}.",
        "Does not {verb} {what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        rf"no longer (?P<verb>{_TASTES}) (?P<what>.+)",
        "{s} no longer {verb} {what}.",
        "No longer {verb} {what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        r"is (?P<not>not )?a (?:(?:big|huge|massive|great) )?fan of (?P<what>.+)",
        "{s} is {not}a fan of {what}.",
        "Fan of {what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        r"is (?P<not>not )?(?P<how>fond of|crazy about|obsessed with|interested in|passionate about|keen on|good "
        r"at|afraid of|scared of|terrified of|into) (?P<what>.+)",
        "{s} is {not}{how} {what}.",
        "{how} {what}",
        "{how}|{what}",
        "preference",
    ),
    _rule(
        rf"has (?P<what>(?:{_NUMBERS}) (?:[\w-]+ ){{0,2}}(?:{_KIN})(?: (?:called|named) .+)?)",
        "{s} has {what}.",
        "Has {what}",
        "",
        "relation",
    ),
    _rule(
        r"has (?P<what>diabetes|asthma|ADHD|autism|epilepsy|celiac disease|coeliac disease|migraines|insomnia"
        r"|arthritis)",
        "{s} has {what}.",
        "Health",
        "has|{what}",
        "health",
        priority=85,
    ),
    _rule(
        r"(?P<verb>plays|speaks|studies|teaches|collects|practises|practices|coaches|owns|runs|drives|takes"
        r"|raises) (?P<what>(?!care|a break|time|part|place|into|out|over|after|away).+)",
        "{s} {verb} {what}.",
        "{verb} {what}",
        "{verb}|{what}",
        "habit",
        priority=60,
    ),
    _rule(
        r"(?P<what>(?:drinks|eats|cooks|bakes|goes|commutes|cycles|walks|swims|reads|wakes up|gets up|meditates"
        r"|works out|meets)\b.*\b"
        r"(?:every|each|daily|in the (?:morning|evening)s?|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days|by "
        r"(?:bike|train|bus|car))\b.*)",
        "{s} {what}.",
        "{what}",
        "",
        "habit",
        priority=60,
    ),
    _rule(
        r"volunteers (?P<what>(?:at|for|with|in) .+)",
        "{s} volunteers {what}.",
        "Volunteers {what}",
        "volunteers|{what}",
        "habit",
    ),
    _rule(
        r"is (?P<how>learning|studying) (?P<what>(?!how|so|about|more|as|new|a lot|lots|a ton|a bit|from|to).+)",
        "{s} is {how} {what}.",
        "{how} {what}",
        "learns|{what}",
        "habit",
    ),
    _rule(
        r"used to (?P<what>(?:live|work|go|play|study|smoke|teach|own|run|swim|dance|be an?) .+)",
        "{s} used to {what}.",
        "Used to {what}",
        "",
        "history",
        priority=50,
    ),
    _rule(
        r"wants to (?P<what>(?:become|learn|be|visit|travel|start|open|buy|write|get|move|study) .+)",
        "{s} wants to {what}.",
        "Wants to {what}",
        "",
        "goal",
        priority=60,
    ),
    _rule(
        rf"has been (?P<what>(?:[a-z]+ing|married|vegan|vegetarian|sober|a [\w ]*(?:{_JOBS}))\b.* since .+)",
        "{s} has been {what}.",
        "Has been {what}",
        "",
        "habit",
    ),
    _rule(
        r"has (?P<what>(?:worked|played|known|taught|owned|had) .* since .+)",
        "{s} has {what}.",
        "Has {what}",
        "",
        "habit",
    ),
)
_SPEAKERS_OWN_TASTE = re.compile(
    r"^(?:(?:a lot|lots|a ton|tons|a bit)\b|(?:all )?the (?!beach|sea|ocean|mountains|outdoors|rain|summer|winter"
    r"|piano|guitar|violin|cello|drums|snow|sun|forest|city|"
    r"countryside|desert|theat|cinema|Beatles|[A-Z])|to (?:hear|see|know|say|think|thank|help|be)\b|(?:hearing"
    r"|seeing|knowing|having|being)\b"
    r"|(?:an?|my) (?:idea|look|feeling|sound|way)\b|talking to\b|idea\b)"
)
_PRAISE = ("likes|", "is fond of|", "into|", "passionate about|")


def facts(subject: Subject, predicate: str) -> Iterator[Fact]:
    """The lasting statement in `predicate`, if it is one; dates in it are absolute already."""
    if subject.plural:
        return
    for rule in _RULES:
        if rule.own and not subject.own:
            continue
        found = rule.pattern.match(predicate)
        if found is None:
            continue
        parts = {name: _part(name, value) for name, value in found.groupdict(default="").items()}
        if any(part is None for part in parts.values()):
            return
        words = {name: part or "" for name, part in parts.items()}
        slots = {name: grammar.normal(part) for name, part in words.items()}
        if "verb" in words:
            slots["verb"] = words["verb"].removesuffix("s")
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
        return


def _part(name: str, value: str) -> str | None:
    if name in {"not", "verb", "how", "year", "age", "state", "diet"} or not value:
        return value
    if name == "x":
        lead = value.lstrip(" ,")
        kept = grammar.complete(lead, longest=8) if lead else None
        return (
            f" {kept}"
            if kept and re.match(r"(?:with|on|in|since|for|near|at|shortly|to|from|after|before)\b", kept)
            else ""
        )
    return grammar.complete(value, longest=10)
