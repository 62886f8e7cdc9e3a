"""Standing orders to the assistant, in Chinese: how it is to answer from now on."""

import re
from collections.abc import Iterator

from prompts.rules.chinese import facts, people
from prompts.rules.fact import ABSOLUTE, INSTRUCTION, Fact, Speaker

_NOW_ON = r"(?:从现在起|从现在开始|从今以后|从今天起|今后|以后|往后|之后)"
_STANDING = re.compile(rf"{_NOW_ON}|每次")
_ORDER = re.compile(
    rf"^(?P<lead>(?:请你?|麻烦你?|你|{_NOW_ON}|每次|回答(?:我)?的?时候?|[,， ])*)"
    r"(?P<how>永远不要|永远别|绝不要?|绝对不要|千万别|千万不要|一律不要|不要再|不许|不要|别再|别|禁止|永远|总是"
    r"|始终|一律|务必|一定要|必须|一直|都要?|只)?(?:请|要|给我|跟我)?(?P<what>(?:用|使用|说|写|叫|称呼|回答|回复|加"
    r"|发|提|推荐|给出|保持|简短|列|解释|翻译|道歉|重复|显示|附上|以)[^，]{0,24})$"
)
_CALL_ME = re.compile(
    rf"^(?:请|你可以|以后|大家|就|都|直接)*(?:叫|称呼)我(?P<name>{people.NAME}?)(?:就好|就行|吧|就可以)?了?$"
)
_LANGUAGE = re.compile(r"[用说以](?:中文|英文|英语|汉语|普通话|日语|日文|法语|德语|粤语)")
_ABSOLUTE = ("永远", "绝", "千万", "一律", "务必", "必须", "总是", "始终", "禁止", "不许")
_ALSO_STANDING = {"不要再", "别再", "总是", "一直"}
_NEGATIVE = re.compile(r"[不别绝]|禁止")
_OF_ANSWERS = re.compile(r"^回答(?:要|不要|别|不能|尽量|必须)")
_POINTING = re.compile(r"[他她它这那你]")


def orders(clause: str, speaker: Speaker) -> Iterator[Fact]:
    """The rule for the assistant in `clause`. In a room full of people it must be plain that the assistant is meant."""
    me = people.subject_of(speaker)
    if found := _CALL_ME.match(clause):
        text = f"{me}希望被称呼为{found['name']}。"
        yield Fact(text, INSTRUCTION, "称呼", ("rule",), speaker.slot, "form of address", 90)
        return
    found = _ORDER.match(clause)
    if found is None:
        return
    how = found["how"] or ""
    standing = _STANDING.search(found["lead"]) is not None
    language = _LANGUAGE.search(found["what"]) is not None
    absolute = how.startswith(_ABSOLUTE)
    if not (standing or absolute or how in _ALSO_STANDING) or (speaker.in_room and not (standing and language)):
        return
    what = facts.tidy(re.sub(r"^回答都?要?(用.+)$", r"\1回答", found["what"]))
    if len(what) < 2 or _POINTING.search(what) or "自己" in what:
        return
    negative = _NEGATIVE.search(how) is not None
    if _OF_ANSWERS.match(what):
        text = f"{me}要求助手的回答始终{what.removeprefix('回答')}。"
    elif negative:
        text = f"{me}要求助手{'永远' if absolute else ''}不要{what}。"
    else:
        text = f"{me}要求助手始终{what}。"
    attribute = "rule|answer language" if language and not negative else f"rule|{what}"
    yield Fact(
        text, INSTRUCTION, f"规则：{what[:20]}", ("rule",), speaker.slot, attribute, ABSOLUTE if absolute else 90
    )
