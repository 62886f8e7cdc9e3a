"""What happened and what is planned: English clauses with a date, or of a kind that is worth keeping without one."""

import re
from collections.abc import Iterator

from prompts.rules.calendar import Span
from prompts.rules.english import grammar
from prompts.rules.english.people import Subject
from prompts.rules.fact import EPISODIC, Fact

_IRREGULAR_PAST = (
    "went|saw|met|bought|got|had|took|made|gave|ran|swam|won|lost|began|broke|built|came|drove|ate|flew|found|grew"
    "|left|read|rode|sang|sold|spent|taught|wrote|hurt|caught|held|led|sent|quit|drank|drew|hung out|did|threw|paid"
    "|slept|fell|was (?:in|at)|put|set up"
)
_NOT_AN_EVENT = (
    "wanted|needed|liked|loved|hated|enjoyed|hoped|wished|wondered|guessed|figured|noticed|realized|realised|missed"
    "|tried|seemed|looked|appreciated|mentioned|asked|used|liked|believed|remembered|talked|laughed|cried|supposed"
    "|stayed up|called|texted|helped|felt|worried|happened"
)
_PAST = re.compile(rf"^(?:{_IRREGULAR_PAST}|(?!(?:{_NOT_AN_EVENT})\b)[a-z]{{2,}}ed)\b")
# these are worth keeping even where nobody said when
_MILESTONE = re.compile(
    r"^(?:has )?(?:adopted|bought|graduated|joined|passed|retired|got (?:married|engaged|divorced|promoted|accepted"
    r"|hired|fired|laid off|into)|got an? (?:[\w-]+ ){0,2}(?:job|dog|cat|puppy|kitten|car|house|flat|apartment"
    r"|tattoo|scholarship|degree|promotion|raise|bike|piano|guitar|internship|visa)\b|moved (?!to (?!the [A-Z]"
    r"|[A-Z]))|quit|(?:won|sold|published|opened|finished|completed|founded)(?! (?:in|on|at|with|up|by|for)\b)"
    r"|signed up|started (?:my|an?|work\w*|play\w*|learn\w*|study\w*|volunteer\w*|going|taking)\b|launched|enrolled"
    r"|ran a (?:half |charity )?marathon|has been accepted|was accepted|was promoted|was diagnosed|gave birth"
    r"|became|visited|been to|participated in|took part in|volunteered|attended|organi[sz]ed|hosted|set up|teamed "
    r"up with|founded|built|lost (?:my|our|an?)|found an?|wrote an?|met my|was (?:laid off|fired|hired)|broke (?:my"
    r"|up)|had (?:surgery|an operation|a baby))\b"
)
_HOLLOW = re.compile(
    r"^had (?:an?|some|so much) (?:\w+ )*(?:time|experience|blast|fun|day|moment|week|weekend|feeling)(?! (?:at"
    r"|with|in the (?!week))\b)"
)
_ACTIVITY = re.compile(
    r"^is (?:writing an? (?!e?-?mail|message|letter|text|note|post|reply|function|script|test)|working on|reading"
    r"|taking|training for|preparing for|saving (?:up )?for|organi[sz]ing|expanding|building|renovating|researching"
    r"|rehearsing for|looking for|applying (?:to|for)|recovering from|fostering|raising|volunteering|mentoring) .+$"
    r"|^has been (?:volunteering|working|learning|teaching|studying|training|playing|painting|writing|practi[sc]ing"
    r"|running|dating|seeing a|taking|reading|blogging|attending|helping|mentoring|coaching|building|saving|looking "
    r"for) .+$"
)
_PERFECT = re.compile(
    r"^has (?:been to|visited|finished|adopted|bought|completed|joined|started|signed up|enrolled|published|won"
    r"|moved|quit|sold)\b"
)
_PLANS = (
    (re.compile(r"^is going to (?P<x>(?!the\b|an?\b|my\b|[A-Z])\S.+)$"), "plans to {x}", False),
    (re.compile(r"^(?:is planning|plans|intends|is hoping|is supposed) to (?P<x>.+)$"), "plans to {x}", True),
    (re.compile(r"^is (?:planning|organising|organizing) (?P<x>(?!on\b).+)$"), "is planning {x}", True),
    (re.compile(r"^is planning on (?P<x>\w+ing .+)$"), "is planning on {x}", True),
    (
        re.compile(
            r"^(?P<x>will (?!not have\b|never\b|be sure|be honest|definitely\b|let|see|always|tell|keep|check|try"
            r"|think|have to see).+)$"
        ),
        "{x}",
        False,
    ),
    (
        re.compile(
            r"^(?P<x>is (?!feeling|thinking|hoping|wondering|looking|trying|getting(?! married)|being|having a hard"
            r"|struggling|really)\w+ing\b.+)$"
        ),
        "{x}",
        False,
    ),
    (re.compile(r"^(?P<x>(?:leaves|starts|ends|arrives|opens|begins|expires|is due|takes place)\b.*)$"), "{x}", False),
    (re.compile(r"^(?P<x>has (?:an?|my|the|two|three|tickets?|plans?) .+)$"), "{x}", False),
    (re.compile(r"^(?P<x>(?:needs|has|wants) to .+)$"), "{x}", False),
)


_VAGUE = re.compile(r"\b(?:a break|a look|care|time|hard|a lot|lots|new ways?|the (?:best|right|perfect))\b")


def event(subject: Subject, predicate: str, when: Span | None) -> Iterator[Fact]:
    """A completed event; `when` is its date, where one was said."""
    if not (when or (subject.own and not subject.plural and _MILESTONE.match(predicate))):
        return
    if _PAST.match(predicate) or _PERFECT.match(predicate):
        if when and predicate.startswith("has "):  # a day goes with the simple past
            predicate = re.sub(
                r"^has (?:been to\b)?", "visited" if predicate.startswith("has been to ") else "", predicate
            )
        kept = grammar.complete(predicate, longest=18)
        if kept and len(kept.split()) > 1 and not _HOLLOW.match(kept):
            yield episode(subject, kept, when, "event", 60 if when else 50)


def activity(subject: Subject, predicate: str) -> Iterator[Fact]:
    """What someone is busy with these days, without a date."""
    if subject.own and not subject.plural and _ACTIVITY.match(predicate):
        kept = grammar.complete(predicate, longest=14)
        if kept and len(kept.split()) > 2 and not _VAGUE.search(kept):
            yield episode(subject, kept, None, "activity", 50)


def plan(subject: Subject, predicate: str, when: Span | None) -> Iterator[Fact]:
    """Something that is to happen; without a date only what was called a plan."""
    for pattern, text, undated in _PLANS:
        found = pattern.match(predicate)
        if found and (when or (undated and not subject.plural)):
            kept = grammar.complete(found["x"], longest=18)
            if kept and len(kept.split()) > 1:
                yield episode(subject, text.format(x=kept), when, "plan", 70 if when else 55)
            return


_AUXILIARY = re.compile(r"^(?:plans to|will|wants to|needs to|has to|is|has been|has(?: an?)?)\s+")
_DATE = re.compile(
    r"\s*\b(?:(?:on|in|at|by|since|until|before|after|from|around|shortly before) )?(?:the \w+ of )?(?:[A-Z][a-z]+ )?"
    r"\d{4}(?:-\d\d-\d\d)?\b.*$"
)
_CUT_SHORT = re.compile(r"(?:\s+(?:an?|the|their|some|of|for|to|in|on|at|with|and|from|by|into|about|is))+$")


def episode(subject: Subject, words: str, when: Span | None, tag: str, priority: int) -> Fact:
    """The fact that `subject` did or will do what `words` say; its title is what they say without a date."""
    title = " ".join(_AUXILIARY.sub("", _DATE.sub("", words) or words).split()[:7])
    title = _CUT_SHORT.sub("", title)
    return Fact(
        f"{subject.name} {words}.",
        EPISODIC,
        title[:1].upper() + title[1:],
        (tag,),
        subject.about,
        "",
        priority,
        when,
    )
