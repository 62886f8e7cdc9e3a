"""Lasting facts of a life: names, homes, work, age, family."""

from prompts.rules.english.people import MANY, NAME, SINGLE
from prompts.rules.english.rule import rule

_PLACE = r"(?:the )?[A-Z][\w'.-]*(?:,? (?:[A-Z][\w'.-]*|de|la|of|del|upon))*"
_JOBS = (
    "nurse|doctor|teacher|engineer|developer|programmer|designer|lawyer|chef|cook|student|artist|musician|writer"
    "|author|journalist|architect|accountant|manager|scientist|researcher|professor|dentist|pilot|farmer|driver"
    "|electrician|plumber|mechanic|pharmacist|therapist|counsell?or|psychologist|librarian|photographer|actor"
    "|actress|dancer|singer|firefighter|officer|soldier|veteran|veterinarian|vet|barista|bartender|waiter|waitress"
    "|carpenter|consultant|analyst|translator|editor|director|producer|coach|trainer|nanny|entrepreneur|founder"
    "|freelancer|postdoc|intern|paramedic|surgeon|baker|painter|banker|economist|biologist|chemist|physicist"
    "|mathematician|novelist|violinist|pianist|guitarist|drummer|streamer|gamer|athlete|surveyor|technician"
    "|administrator|secretary|tutor|lecturer|physician|midwife|radiologist|cardiologist|anaesthetist|joiner|tailor"
    "|florist|geologist|historian|linguist|illustrator"
)
_NATIONS = (
    "American|Argentinian|Australian|Austrian|Belgian|Brazilian|British|Canadian|Chilean|Chinese|Colombian|Czech"
    "|Danish|Dutch|Egyptian|English|Estonian|Filipino|Finnish|French|German|Greek|Hungarian|Icelandic|Indian"
    "|Indonesian|Iranian|Irish|Israeli|Italian|Japanese|Kenyan|Korean|Latvian|Lithuanian|Malaysian|Mexican|Moroccan"
    "|Nigerian|Norwegian|Pakistani|Peruvian|Polish|Portuguese|Romanian|Russian|Scottish|Serbian|Singaporean|Spanish"
    "|Swedish|Swiss|Syrian|Taiwanese|Thai|Turkish|Ukrainian|Vietnamese|Welsh"
)
_STATES = (
    "married|engaged|single|divorced|widowed|retired|unemployed|self-employed|diabetic|pregnant|left-handed"
    "|colou?r-?blind|deaf|dyslexic"
)
_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|an?|\\d+"
_KIN = (
    f"(?:{SINGLE}|{MANY})|sisters|brothers|sons|daughters|children|kids|twins|siblings|dogs|cats|puppies|kittens"
    f"|pets|horses|rabbits|parrots"
)

ROWS = (
    rule(
        r"is (?P<age>\d{1,3} years old|[1-9]\d)",
        "{s} is {age}.",
        "Age",
        "age",
        "identity",
        priority=75,
    ),
    rule(
        r"turned (?P<age>[1-9]\d?)(?P<x>(?: (?:on|in|shortly)\b.*)?)",
        "{s} turned {age}{x}.",
        "Age",
        "age",
        "identity",
        priority=75,
    ),
    rule(rf"is (?:called|named) (?P<name>{NAME})", "{s} is called {name}.", "Name", "name", "identity", priority=85),
    rule(
        rf"(?:lives|is living|resides|is based) in (?P<place>{_PLACE})(?P<x>.*)",
        "{s} lives in {place}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    rule(
        rf"(?:does not live in|no longer lives in) (?P<place>{_PLACE}?)(?: any ?more| any longer| now)?",
        "{s} does not live in {place}.",
        "Home",
        "home",
        "place",
        priority=75,
    ),
    rule(
        rf"has (?:lived|been living) in (?P<place>{_PLACE})(?P<x>.*)",
        "{s} has lived in {place}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    rule(
        rf"(?:has )?(?:moved|relocated) (?:here )?from (?P<old>{_PLACE}) to (?P<new>{_PLACE})(?P<x>.*)",
        "{s} moved from {old} to {new}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    rule(
        rf"(?:has )?(?:moved|relocated) to (?P<new>{_PLACE})(?P<x>.*)",
        "{s} moved to {new}{x}.",
        "Home",
        "home",
        "place",
        priority=80,
    ),
    rule(rf"grew up in (?P<place>{_PLACE})(?P<x>.*)", "{s} grew up in {place}{x}.", "Childhood", "childhood", "place"),
    rule(
        rf"was born in (?P<place>{_PLACE})(?P<x>.*)", "{s} was born in {place}{x}.", "Birthplace", "birthplace", "place"
    ),
    rule(
        r"was born in (?P<year>(?:19|20)\d\d)", "{s} was born in {year}.", "Year of birth", "year of birth", "identity"
    ),
    rule(
        rf"(?:is|comes) (?:originally )?from (?P<place>{_PLACE})", "{s} is from {place}.", "Origin", "origin", "place"
    ),
    rule(
        rf"(?:is|works as) (?P<job>an? (?:[\w-]+ ){{0,3}}(?:{_JOBS})) (?:at|for|with) (?P<employer>(?:the )?[A-Z].*)",
        "{s} is {job}.",
        "Job",
        "job",
        "work",
        priority=80,
    ),
    rule(
        rf"(?:is|works as|is working as) (?P<job>an? (?:[\w-]+ ){{0,3}}(?:{_JOBS}))(?P<x> in .*)?",
        "{s} is {job}{x}.",
        "Job",
        "job",
        "work",
        priority=80,
    ),
    rule(
        r"(?P<how>quit|left|lost) my (?:old |current )?job(?P<x>.*)",
        "{s} {how} their job{x}.",
        "Job",
        "employer",
        "work",
        priority=75,
    ),
    rule(r"works as (?P<job>an? .+)", "{s} works as {job}.", "Job", "job", "work", priority=80),
    rule(
        r"(?:works|is working) (?P<how>at|for) (?!night|home|weekends|least|times|all|free)(?P<employer>(?:the |an? "
        r")?.+)",
        "{s} works {how} {employer}.",
        "Employer",
        "employer",
        "work",
        priority=80,
    ),
    rule(r"works (?P<how>in|from) (?P<field>.+)", "{s} works {how} {field}.", "Work", "work field", "work"),
    rule(
        r"(?:got|has got|landed|took) a (?:new )?job (?P<how>at|as|with|in) (?P<job>.+)",
        "{s} got a job {how} {job}.",
        "New job",
        "employer",
        "work",
        priority=80,
    ),
    rule(
        r"(?:started|has started) (?:working|a (?:new )?job) (?P<how>at|as|for|with) (?P<job>.+)",
        "{s} started a job {how} {job}.",
        "New job",
        "employer",
        "work",
        priority=80,
    ),
    rule(
        rf"(?P<how>is|got) (?P<not>not |no longer )?(?P<state>{_STATES})(?P<x> to .+)?",
        "{s} {how} {not}{state}{x}.",
        "{state}",
        "{state}",
        "identity",
        priority=75,
    ),
    rule(
        rf"is (?P<nation>{_NATIONS})",
        "{s} is {nation}.",
        "Nationality",
        "nationality",
        "identity",
    ),
    rule(
        rf"has (?P<what>(?:{_NUMBERS}) (?:[\w-]+ ){{0,2}}(?:{_KIN})(?: (?:called|named|and) .+)?)",
        "{s} has {what}.",
        "Has {what}",
        "",
        "relation",
    ),
    rule(
        r"used to (?P<what>(?:live|work|go|play|study|smoke|teach|own|run|swim|dance|be an?) .+)",
        "{s} used to {what}.",
        "Used to {what}",
        "",
        "history",
        priority=50,
    ),
    rule(
        rf"has been (?P<what>(?:[a-z]+ing|married|vegan|vegetarian|sober|a [\w ]*(?:{_JOBS}))\b.* since .+)",
        "{s} has been {what}.",
        "Has been {what}",
        "",
        "habit",
    ),
    rule(
        r"has (?P<what>(?:worked|played|known|taught|owned|had) .* since .+)",
        "{s} has {what}.",
        "Has {what}",
        "",
        "habit",
    ),
)
