"""Who an English clause is about: the speaker, or someone or some animal of theirs."""

import re
from dataclasses import dataclass

from prompts.rules.english import grammar
from prompts.rules.fact import Speaker

# people one has at most one of: their name is a slot; of the others there may be many
SINGLE = "wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|mother|father|mom|mum|dad|boss|manager"
MANY = (
    "sister|brother|son|daughter|child|kid|baby|twin|stepson|stepdaughter|grandson|granddaughter|aunt|uncle|cousin"
    "|nephew|niece|grandma|grandpa|grandmother|grandfather|roommate|flatmate|neighbou?r|colleague|coworker|friend"
    "|best friend|dog|cat|puppy|kitten|horse|parrot|rabbit|hamster|turtle|pet"
)
RELATION = rf"(?:(?:older|elder|big|younger|little|oldest|youngest|twin|late|step|half)[ -])?(?:{SINGLE}|{MANY})"
NAME = r"[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2}|[\u4e00-\u9fff]{2,4}"

_SINGLE = re.compile(rf"(?:.* )?(?:{SINGLE})$")
_RELATIVE = re.compile(
    rf"^my (?P<relation>{RELATION})(?:,? (?P<name>[A-Z][\w-]+)(?!'),?)? (?P<rest>\S.*)$", re.IGNORECASE
)
# my car broke down, my flight leaves: things of one's own, where a date follows
_THING = re.compile(
    r"^my (?P<thing>[\w-]+(?: [\w-]+){0,2}?) (?P<rest>(?:broke|died|arrived|opened|closed|started|ended|crashed|won"
    r"|got|went|was (?:stolen|delivered|cancelled|canceled|moved)|leaves|starts|ends|arrives|opens|begins|expires"
    r"|is due|takes place)\b.+)$",
    re.IGNORECASE,
)
_SELF = re.compile(r"^(?:I|(?P<we>we))\s+(?P<rest>\S.*)$", re.IGNORECASE)
_ADVERB = re.compile(
    r"^((?:am|is|are|was|have|has|had)\s+)?(?:(?:really|absolutely|totally|just|also|even|still|actually|truly"
    r"|honestly|definitely|personally|simply|particularly|especially|quite|currently|now|finally|recently|already"
    r"|generally|mostly|usually|genuinely|at the moment|happily|lately)\s+)+",
    re.IGNORECASE,
)
_BASE_FORMS = (
    "live reside work like love enjoy adore prefer hate dislike detest eat drink avoid play speak study teach "
    "collect practise practice volunteer own run swim cook bake paint draw write knit sing dance have come plan "
    "intend want need do am go commute drive cycle walk wake get meditate meet train mentor tutor foster coach "
    "manage garden sew surf ski climb hike take suffer wear use listen watch read keep raise"
)
_BASE = frozenset(_BASE_FORMS.split())


@dataclass(frozen=True)
class Subject:
    """`name` starts the sentence; `about` is its slot part; `own` where the speaker is meant; `plural` for `we`."""

    name: str
    about: str
    own: bool
    plural: bool = False


def subject_of(speaker: Speaker) -> str:
    return speaker.name or "The user"


def possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") and name[:1].isupper() and name != "The user" else f"{name}'s"


def statement(clause: str, speaker: Speaker) -> tuple[Subject, str, tuple[str, str] | None] | None:
    """Subject and predicate in the third person, and (relation, name) where the clause names someone.

    None where the clause is about nobody the rules can name.
    """
    me = subject_of(speaker)
    if found := _SELF.match(clause):
        predicate = _adverbs_gone(found["rest"])
        if predicate is None:
            return None
        return Subject(me, speaker.slot, own=True, plural=bool(found["we"])), _third(predicate), None
    if found := _RELATIVE.match(clause):
        relation = found["relation"].lower()
        named = found["name"] if found["name"] and found["name"][:1].isupper() else None
        rest = found["rest"] if named or not found["name"] else f"{found['name']} {found['rest']}"
        who = f"{possessive(me)} {relation}" + (f" {named}" if named else "")
        about = f"{speaker.slot}'s {relation}" + (f" {named.casefold()}" if named else "")
        predicate = _adverbs_gone(rest)
        if predicate is None:
            return None
        return Subject(who, about, own=False), predicate, (relation, named) if named else None
    if found := _THING.match(clause):
        thing = found["thing"].lower() if found["thing"].istitle() else found["thing"]
        return Subject(f"{possessive(me)} {thing}", f"{speaker.slot}'s {thing}", own=False), found["rest"], None
    return None


def named(relation: str, name: str, speaker: Speaker, certain: bool) -> tuple[str, str]:
    """Text and slot attribute of who someone is. `certain`: the speaker spoke of the one there is."""
    single = certain or _SINGLE.match(relation)
    attribute = f"{relation}'s name" if single else f"{relation} named {name.casefold()}"
    return f"{possessive(subject_of(speaker))} {relation} is called {name}.", attribute


def _adverbs_gone(predicate: str) -> str | None:
    found = _ADVERB.match(predicate)
    if found:
        predicate = (found.group(1) or "") + predicate[found.end() :]
    return predicate or None


def _third(predicate: str) -> str:
    head, _, rest = predicate.partition(" ")
    verb = head.lower()
    if verb == "do" and rest.startswith("not "):
        return f"does {rest}"
    if verb in {"am", "are"}:
        return f"is {rest}"
    if verb == "were":
        return f"was {rest}"
    if verb in {"never", "always", "only"}:
        return f"{verb} {_third(rest)}" if rest else predicate
    if verb == "no" and rest.startswith("longer "):
        return f"no longer {_third(rest.removeprefix('longer '))}"
    if verb in _BASE:
        return f"{grammar.third(verb)} {rest}" if rest else grammar.third(verb)
    return predicate
