"""What holds of a person for a while, in Chinese: the tables put to use."""

import re
from collections.abc import Iterator

from prompts.rules.chinese import life, tastes
from prompts.rules.chinese.people import KINDS
from prompts.rules.fact import PERSONA, Fact

_ROWS = life.ROWS + tastes.ROWS
# 你, 他, 它 and 这 point at something the sentence does not hold; a verb's object that is a clause is an opinion.
_DANGLING = re.compile(
    r"[你您她它這这那哪谁誰啥]|什么|什麼|怎么|多少|我们|咱|这样|一样|被|(?<![吉其])他|的时候|之一|^[的了吗呢吧死过]"
    r"|[的在和跟与]$"
)
_FILLER = re.compile(r"[了的啦啊呀哦呢吧哈嘛~～!！。.…\s]+$|(?:了)$")
_NOT_NAMES = re.compile(r"^(?:我|什么|做|真|到|不|醒|外卖|车|起|苦|好|停|板|朋友|同事|家|妈|爸|孩)|[来去]$")


def facts(subject: str, about: str, predicate: str) -> Iterator[Fact]:
    """The lasting statement in `predicate` (a clause without its subject), if it is one."""
    predicate = predicate.strip()
    for rule in _ROWS:
        found = rule.pattern.match(predicate)
        if found is None:
            continue
        words = {
            name: tidy(value) if name not in {"not", "verb", "how"} else value
            for name, value in found.groupdict(default="").items()
        }
        if any((not value and name != "not") or _DANGLING.search(value) for name, value in words.items()):
            return
        if len(words.get("place", "　　")) < 2 or len(words.get("new", "　　")) < 2:
            return
        if rule.attribute == "name" and _NOT_NAMES.match(words["name"]):
            return
        slots = {name: value.casefold() for name, value in words.items()}
        slots["kind"] = KINDS.get(slots.get("kind", ""), slots.get("kind", ""))
        attribute = rule.attribute.format(**slots)
        key = rule.key.format(**words)[:30]
        yield Fact(rule.text.format(s=subject, **words), PERSONA, key, (rule.tag,), about, attribute, rule.priority)
        if "where" in words:  # one changes without the other
            yield Fact(
                f"{subject}在{words['where']}工作。", PERSONA, "工作单位", ("work",), about, "employer", rule.priority
            )
        return


def tidy(words: str) -> str:
    """`words` without trailing particles, `我的` put in the third person."""
    while (shorter := _FILLER.sub("", words)) != words:
        words = shorter
    return _third_person(words)


def complete(words: str) -> bool:
    """Whether `words` can be understood without what was said around them."""
    return bool(words) and not _DANGLING.search(words)


def ended(words: str) -> str:
    """Like `tidy`, but the 了 of a completed act stays."""
    return _third_person(words.rstrip("啦啊呀哦呢吧哈嘛~～!！。.… "))


def _third_person(words: str) -> str:
    return words.replace("我自己", "自己").replace("我的", "自己的").replace("我", "自己").strip()
