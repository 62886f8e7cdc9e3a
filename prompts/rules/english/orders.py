"""Standing orders to the assistant: how it is to answer from now on, not what it is to do this once."""

import re
from collections.abc import Iterator

from prompts.rules.english import grammar
from prompts.rules.english.people import NAME, subject_of
from prompts.rules.fact import ABSOLUTE, INSTRUCTION, Fact, Speaker

_VERB = (
    r"(?:answer|reply|respond|write|use|speak|talk|call|address|keep|format|cite|include|explain|translate"
    r"|summari[sz]e|show|ask|give|start|end|add|avoid|mention|remind|suggest|recommend|assume|convert|round|quote"
    r"|list|put|send|be (?:brief|concise|polite|formal|informal|direct|honest)|apologi[sz]e|repeat|share|discuss"
    r"|tell|check|double-check|confirm|provide|return|output|stop|sign|greet|wish)"
)
_FROM_NOW = r"(?:from now on|from here on|going forward|in (?:the )?future|henceforth)"
_STANDING = re.compile(
    rf"^(?:(?P<now>{_FROM_NOW}),?\s+)?(?P<rest>.+?)(?:,?\s+(?P<later>{_FROM_NOW}))?$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    rf"^(?:(?:please|can you|could you|you (?:must|should)|make sure to|be sure to|remember to|i want you to|i "
    rf"would like you to)\s+)*(?P<how>always|never|(?:please )?do not ever|do not|don't ever|don't|no longer|under "
    rf"no circumstances|only|stop)?\s*(?:please )?(?P<what>{_VERB}\b.*|\w+ing\b.*)$",
    re.IGNORECASE,
)
_CALL_ME = re.compile(rf"^(?:(?:you can|please|everyone|just)\s+)*call me (?P<name>{NAME})$", re.IGNORECASE)
_LANGUAGES = (
    "English|Chinese|Mandarin|Cantonese|German|French|Spanish|Norwegian|Italian|Portuguese|Japanese|Korean|Russian"
    "|Swedish|Danish|Dutch|Hindi|Arabic"
)
_ANSWER_IN = re.compile(
    rf"^(?:answer|reply|respond|write|speak|talk)\b.*\bin (?P<language>{_LANGUAGES})\b", re.IGNORECASE
)
_ABSOLUTE = {"always", "never", "do not ever", "please do not ever", "don't ever", "under no circumstances"}
_CUT = re.compile(r"\s*(?:[;(…–—]|:(?!\d)|\s-+\s|,?\s+(?:because|since|so that|so i|as i|i |it )\b).*$", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:it|this|that|these|those|them|he|she|him|her|they|there|here|up)\b", re.IGNORECASE)
_REWRITE = {
    "your": "its",
    "you": "it",
    "yourself": "itself",
    "me": "them",
    "my": "their",
    "myself": "themself",
    "i": "they",
    "us": "them",
    "our": "their",
}
_PRONOUN = re.compile(r"\b(your|yourself|you|me|myself|my|us|our)\b", re.IGNORECASE)
_ADDRESSED = re.compile(r"\b(?:assistant|bot|ai)\b", re.IGNORECASE)


def orders(clause: str, speaker: Speaker) -> Iterator[Fact]:
    """The rule for the assistant in `clause`. In a room full of people it must be plain that the assistant is meant."""
    me = subject_of(speaker)
    if found := _CALL_ME.match(clause):
        name = found["name"]
        if name[:1].isupper() or not name.isascii():
            yield Fact(
                f"{me} wants to be called {name}.",
                INSTRUCTION,
                "Form of address",
                ("rule",),
                speaker.slot,
                "form of address",
                90,
            )
        return
    framed = _STANDING.match(clause)
    if framed is None:
        return
    rest = framed["rest"]
    standing = bool(framed["now"] or framed["later"])
    found = _ORDER.match(rest)
    if found is None:
        return
    how = re.sub(r"\s+", " ", (found["how"] or "").lower())
    language = _ANSWER_IN.match(found["what"])
    if not (standing or how) or (speaker.in_room and not (standing and (language or _ADDRESSED.search(clause)))):
        return
    if how == "" and not re.match(_VERB, found["what"], re.IGNORECASE):
        return
    what = re.sub(
        r",? (?:please|ok(?:ay)?|thanks|thank you)$", "", _CUT.sub("", found["what"]).strip(" .,!"), flags=re.IGNORECASE
    )
    if _OTHERS.search(what) or len(what.split()) > 16 or len(what.split()) < 2:
        return
    negative = how in _ABSOLUTE - {"always"} or how in {"do not", "don't", "no longer", "stop"}
    if how == "stop" or re.match(r"\w+ing\b", what):
        if how != "stop":
            return
        frame = f"{me} wants the assistant to stop {{what}}."
    elif negative:
        frame = f"{me} wants the assistant {'never' if how in _ABSOLUTE else 'not'} to {{what}}."
    else:
        frame = (
            f"{me} wants the assistant to {'always ' if how == 'always' or (standing and language) else ''}{{what}}."
        )
    said = _PRONOUN.sub(lambda word: _REWRITE[word.group().lower()], what)
    attribute = "rule|answer language" if language and not negative else f"rule|{grammar.normal(said)}"
    priority = ABSOLUTE if how in _ABSOLUTE else 90
    yield Fact(frame.format(what=said), INSTRUCTION, f"Rule: {said[:50]}", ("rule",), speaker.slot, attribute, priority)
