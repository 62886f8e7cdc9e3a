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
    r"|ok(?:ay)?|sure|right|actually|honestly|personally|frankly|anyway|basically|of course|by the way|btw|fyi|for "
    r"me|in fact|to be honest|tbh|you know|look|listen|as for me|as you know|good news|guess what|thanks(?: \w+)?"
    r"|thank you(?: \w+)?|absolutely|definitely|totally|exactly|nice|cool|great|awesome|sorry|luckily|fortunately"
    r"|unfortunately|sadly|nowadays|these days|currently|finally|recently|lately|just(?= (?:last|yesterday|this"
    r"|today))|in the meantime|(?:please )?(?:remember|note)(?: that)?(?= (?:I|my|we)\b)|for the record|on another "
    r"note)\b[\s,!.:;-]*|[A-Z][a-z]+[,!]\s+(?=I\b|my\b|My\b|we\b))+",
    re.IGNORECASE,
)
_UNSPOKEN = re.compile(
    r"^(?:Just )?(?=(?:Lost|Took|Went|Got|Bought|Finished|Started|Moved|Visited|Quit|Met|Won) \w)"
)  # the I is
_NAME_CALL = re.compile(r",\s*(?:[A-Z][a-z]+|guys|everyone|all|mate|man|dude)\s*$")
_SPLIT = re.compile(
    r"(?:\s*[;–—]+\s*|\s+-+\s+|,?\s+(?:and|but|so|because|though|although|while|plus|since)\s+|,\s+)(?:(?:now|then"
    r"|also|actually|currently|still|yes)\s+)?(?=(?:I|I'\w+|my|we|from now on)\b)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*(?:[;(…–—]|:(?!\d))|\s+-+\s|\s*\.\.+|,?\s+(?:but|because|'cause|although|though|so that|so i|while|when"
    r"|whenever|where|after|before i|since (?:i|it|my|we|he|she|they)|as (?:i|it|my|we|a way|well as)|and (?:i|it"
    r"|its|it's|this|that|that's|he|she|they|we|you|was|were|is|am|are|had|have|has|then|so|my|just|really|got|let"
    r"|the)|so|which|who|whose|what|especially|even|like|to help|to (?:be honest|clear))\b|,(?!\s*[^,]{1,25}(?:,| "
    r"and | or ))",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|as long as|in case|provided|until (?:i|you|we|he|she|they))\b", re.IGNORECASE
)
_DANGLING = re.compile(
    r"\b(?:its?|it's|this|that|these|those|them|they|their|he|him|his|she|her|hers|you|your|yours|you're|there|here"
    r"|ones?|such|something|someone|anything|everything|things?|stuff|both|same|another|others?|whatever|how|why"
    r"|who|what|i|i'\w+|me|us|we|ya|u|ur)\b",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"(?<!put)(?<!putting)(?<!get)(?<!getting) together\b", re.IGNORECASE
)  # with people who are left out
_OPEN_END = re.compile(
    r"\b(?:an?|the|of|to|with|and|or|my|our|for|at|in|on|from|by|as|about|into|than|is|are|be|was|not|very|so|too"
    r"|some|own|more|most|such|all|any|every|each|no|really|also|just|few|several|lots?|couple|ton|tons|bit|those"
    r"|great)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,]*(?:\b(?:too|any ?more|any longer|as well|a lot|so much|very much|though|lol|haha|hehe|btw|of course"
    r"|actually|honestly|anyway|you know|for sure|right now|at the moment|for now|these days|nowadays|lately"
    r"|recently|currently|now|already|again|by the way|right|please|ever|tbh|to be honest|at all|overall|together"
    r"|myself|really|personally|thanks|thank you|so far|and more|etc)|[^\w\s'’\"”)%»]+)\s*$",
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
    return [clause for part in _SPLIT.split(sentence) if (clause := _plain(part))]


def _plain(part: str) -> str:
    clause = _NAME_CALL.sub("", opened(part.strip()).rstrip(" .!,"))
    clause, unspoken = _UNSPOKEN.subn("", clause)
    if unspoken:
        clause = f"I {clause[:1].lower()}{clause[1:]}"
    if "'" in clause:
        for pattern, full in _CONTRACTIONS:
            clause = pattern.sub(full, clause)
    clause = _LOOSE_WORD.sub(lambda word: _LOOSE[word.group().lower()], clause).replace("cannot", "can not")
    return f"I {clause[2:]}" if clause.startswith("i ") else clause


def statement_end(words: str) -> int:
    """Where the plain statement at the head of `words` ends."""
    cut = _CUT.search(words)
    return cut.start() if cut else len(words)


def head(words: str) -> str:
    """The plain statement at the head of `words`, without what trails behind it (`too`, `right now`)."""
    kept = _TOGETHER.sub("", " ".join(words[: statement_end(words)].split()))
    while (shorter := _TAIL.sub("", kept)) != kept:
        kept = shorter
    return kept.strip(" ,'\"")


def conditional(clause: str) -> bool:
    """Whether the clause only holds under a condition."""
    return _CONDITION.search(clause) is not None


def complete(words: str, longest: int = 14) -> str | None:
    """The part of `words` that says something without its context, in the third person; None where nothing does."""
    kept = head(words)
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
