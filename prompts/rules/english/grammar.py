"""English clauses: contractions undone, cut where they stop being plain statements, put in the third person."""

import re

_CONTRACTIONS = [
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bi'?m\b(?! name)", "I am"),
        (r"\bi've\b", "I have"),
        (r"\bi'll\b", "I will"),
        (r"\bwe're\b", "we are"),
        (r"\bwe've\b", "we have"),
        (r"\bwe'll\b", "we will"),
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should)n't\b", r"\1 not"),
    )
]
_LOOSE = {"dont": "do not", "gonna": "going to", "wanna": "want to", "gotta": "got to", "favorite": "favourite"}
_LOOSE_WORD = re.compile(rf"\b(?:{'|'.join(_LOOSE)})\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:(?:yeah|yes|yep|yup|no|nope|nah|well|oh|ooh|ah|wow|hmm+|haha\w*|lol|hey|hi|hello|so|and|but|or|also|plus"
    r"|ok(?:ay)?|sure|right|"
    r"actually|honestly|personally|frankly|anyway|basically|of course|by the way|btw|fyi|for me|in fact|to be "
    r"honest|tbh|you know|look|listen|"
    r"as for me|as you know|good news|guess what|thanks(?: \w+)?|thank you(?: \w+)?|absolutely|definitely|totally"
    r"|exactly|nice|cool|great|"
    r"awesome|sorry|luckily|fortunately|unfortunately|sadly|nowadays|these days|currently|finally|recently|lately"
    r"|just(?= (?:last|yesterday|this|today)))\b"
    r"[\s,!.:;-]*|[A-Z][a-z]+[,!]\s+(?=I\b|my\b|My\b|we\b))+",
    re.IGNORECASE,
)
_UNSPOKEN = re.compile(
    r"^(?:Just )?(?=(?:Lost|Took|Went|Got|Bought|Finished|Started|Moved|Visited|Quit|Met|Won) \w)"
)  # the I is
_NAME_CALL = re.compile(r",\s*(?:[A-Z][a-z]+|guys|everyone|all|mate|man|dude)\s*$")
_SPLIT = re.compile(
    r"(?:\s*[;–—]+\s*|\s+-+\s+|,?\s+(?:and|but|so|because|though|although|while|plus|since)\s+|,\s+)"
    r"(?:(?:now|then|also|actually|currently|still|yes)\s+)?(?=(?:I|I'\w+|my|we|from now on)\b)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*(?:[;(…–—]|:(?!\d))|\s+-+\s|\s*\.\.+|,?\s+(?:but|because|'cause|although|though|so that|so i|while|when"
    r"|whenever|where|after|before i|"
    r"since (?:i|it|my|we|he|she|they)|as (?:i|it|my|we|a way|well as)|and (?:i|it|its|it's|this|that|that's|he"
    r"|she|they|we|you|was|were|is|am|"
    r"are|had|have|has|then|so|my|just|really|got|let|the)|so|which|who|whose|what|especially|even|like|to help|to "
    r"(?:be honest|clear))\b"
    r"|,(?!\s*[^,]{1,25}(?:,| and | or ))",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|whether|as long as|in case|provided|until (?:i|you|we|he|she|they))\b", re.IGNORECASE)
_DANGLING = re.compile(
    r"\b(?:its?|it's|this|that|these|those|them|they|their|he|him|his|she|her|hers|you|your|yours|you're|there"
    r"|here|ones?|such|something|"
    r"someone|anything|everything|things?|stuff|both|same|another|others?|whatever|how|why|who|what|i|i'\w+|me|us"
    r"|we|ya|u|ur)\b",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"(?<!put)(?<!putting)(?<!get)(?<!getting) together\b", re.IGNORECASE)  # with people who are left out
_OPEN_END = re.compile(
    r"\b(?:an?|the|of|to|with|and|or|my|our|for|at|in|on|from|by|as|about|into|than|is|are|be|was|not|very|so|too"
    r"|some|own|more|most|such|"
    r"all|any|every|each|no|really|also|just|few|several|lots?|couple|ton|tons|bit|those|great)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,]*(?:\b(?:too|any ?more|any longer|as well|a lot|so much|very much|though|lol|haha|hehe|btw|of course"
    r"|actually|honestly|anyway|you know|for sure|"
    r"right now|at the moment|for now|these days|nowadays|lately|recently|currently|now|already|again|by the way"
    r"|right|please|ever|tbh|"
    r"to be honest|at all|overall|together|myself|really|personally|thanks|thank you|so far|and more|etc)"
    r"|[^\w\s'’\"”)%»]+)\s*$",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(my|our|mine|myself|ourselves)\b", re.IGNORECASE)
_THIRD = {"my": "their", "our": "their", "mine": "theirs", "myself": "themself", "ourselves": "themselves"}
_SPELLINGS = {"colour": "color", "film": "movie", "neighbour": "neighbor"}
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "am": "is", "be": "is"}


def opened(sentence: str) -> str:
    """`sentence` without the interjections and forms of address that it opens with."""
    return _OPENING.sub("", sentence)


def clauses(sentence: str) -> list[str]:
    """The statements of a sentence that begin with the speaker (I, my, we) or with an order; contractions undone."""
    sentence = sentence.replace("’", "'").strip()
    found = []
    for part in _SPLIT.split(sentence):
        part = _NAME_CALL.sub("", _OPENING.sub("", part.strip()).rstrip(" .!,"))
        part, unspoken = _UNSPOKEN.subn("", part)
        if unspoken:
            part = f"I {part[:1].lower()}{part[1:]}"
        if "'" in part:
            for pattern, full in _CONTRACTIONS:
                part = pattern.sub(full, part)
        part = _LOOSE_WORD.sub(lambda word: _LOOSE[word.group().lower()], part).replace("cannot", "can not")
        if part.startswith("i "):
            part = f"I {part[2:]}"
        if part:
            found.append(part)
    return found


def statement_end(words: str) -> int:
    """Where the plain statement at the head of `words` ends."""
    cut = _CUT.search(words)
    return cut.start() if cut else len(words)


def conditional(clause: str) -> bool:
    """Whether the clause only holds under a condition."""
    return _CONDITION.search(clause) is not None


def complete(words: str, longest: int = 14) -> str | None:
    """The part of `words` that says something without its context, in the third person; None where nothing does."""
    kept = _TOGETHER.sub("", " ".join(words[: statement_end(words)].split()))
    while (shorter := _TAIL.sub("", kept)) != kept:
        kept = shorter
    kept = kept.strip(" ,'\"")
    if not kept or len(kept.split()) > longest or _DANGLING.search(kept) or _OPEN_END.search(kept):
        return None
    return third_person(kept)


def third_person(words: str) -> str:
    """First-person possessives of `words` as those of someone whose gender nobody stated."""
    return _FIRST_PERSON.sub(lambda found: _THIRD[found.group().lower()], words)


def third(verb: str) -> str:
    """The third person singular of a verb's base form; a first word like `really` is not expected."""
    head, _, rest = verb.partition(" ")
    if head in _IRREGULAR:
        form = _IRREGULAR[head]
    elif head.endswith(("s", "x", "z", "ch", "sh", "o")):
        form = head + "es"
    elif head.endswith("y") and head[-2:-1] not in "aeiou":
        form = head[:-1] + "ies"
    else:
        form = head + "s"
    return f"{form} {rest}" if rest else form


def normal(words: str) -> str:
    """`words` as part of a slot: casefolded, without articles, adverbs and punctuation."""
    kept = re.sub(r"[^\w\s-]", "", words.casefold()).split()
    kept = [_SPELLINGS.get(word, word) for word in kept]
    return " ".join(word for word in kept if word not in {"a", "an", "the", "their", "some", "all", "any", "to"})
