"""Chinese sentences taken apart: what is not stated is left out, clauses get their subject back."""

import re
from collections.abc import Iterator
from dataclasses import replace

from prompts.rules.calendar import Clock
from prompts.rules.chinese import dates, episodes, facts, orders, people
from prompts.rules.fact import Fact, Speaker

# Not stated: asked, supposed, doubted, meant as a joke, or somebody else's words.
_NOT_STATED = re.compile(
    r"[?？]|[吗嗎么]\W*$|呢\W*$|如果|要是|假如|假设|倘若|万一|也许|可能|大概|说不定|希望|但愿|好想|真想|想象|听说"
    r"|据说|好像|似乎|[他她你们人妈爸哥姐弟妹友事]说|告诉我|问我|觉得|以为|才怪|开玩笑|逗你|怎么|什么|为啥|哪里"
    r"|是不是|有没有|能不能|🙄|🙃|应该|本来"
)
_NO_ORDER = re.compile(r"[?？]|如果|要是|吗\W*$")
_TAKEN_BACK = re.compile(r"^\W*(?:才怪|开玩笑的?|逗你的|骗你的|骗你玩的|当然是假的)\W*$")
_QUOTED = re.compile(r"[“\"「『][^”\"」』]*我[^”\"」』]*[”\"」』]|[“\"「『][^”\"」』]{8,}[”\"」』]")
_OPENING = re.compile(
    r"^(?:嗯+|哦|噢|啊|哈+|嘿|嗨|你好|大家好|早上好|好的?|对了|其实|另外|还有|而且|但是|不过|可是|然后|所以|因为"
    r"|顺便说一下|顺便|谢谢|行|没错|是的|老实说|说实话|告诉你|跟你说|介绍一下|补充一下|请?记住|请?记得|记一下|哎"
    r"|唉|那|就是|平时|目前|现在"
    r"|最近|并且|同时)[\s,，、:：!！~]*"
)
_CLAUSE = re.compile(r"[，,；;。！!\n]+|\s{2,}|(?<=[^，])(?:但是?|不过|而且|然后|因为|所以|并且)(?=我)")
_ME = re.compile(r"^我(?:(?P<we>们)|自己|本人|家(?=有))?(?!国|校|方|觉|们)")
_KIN = re.compile(rf"^(?:我的?|我家的?)(?P<size>大|小|二)?(?P<kin>{people.KIN_PATTERN})(?P<rest>.+)$")
_KIN_NAME = re.compile(rf"^(?:的?名字)?(?:叫做?|是叫|的?名字[是叫])(?P<name>{people.NAME})$")
_CALLED = re.compile(rf"^(?:名字)?(?:叫|是叫)(?P<name>{people.NAME})$")
_HAS_KIN = re.compile(rf"^我?有[^，]*?(?P<kin>{people.KIN_PATTERN})$")
_HAS_NAMED = re.compile(
    rf"^有[一个只条位了]*[\u4e00-\u9fff]{{0,3}}?(?P<kin>{people.KIN_PATTERN})(?:名字)?叫(?P<name>{people.NAME})$"
)
_OMITTED = re.compile(
    r"^(?:也|还|现在|目前)*(?:在|是(?![的吗不])|住|来自|不?喜[欢歡]|最喜[欢歡]|讨厌|[对對]|今年|有|会|不吃|不喝|从|打算"
    r"|计划)"
)
_OF_THIS_YEAR = re.compile(r"^今年(?=\d|[一二三四五六七八九十]+[岁歲])")
_BIRTHDAY = re.compile(r"^的?生日")


def taken_back(sentence: str) -> bool:
    """Whether the sentence says that the one before was a joke."""
    return _TAKEN_BACK.match(sentence) is not None


def read(sentence: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    """The facts that `sentence` states about its speaker."""
    if _QUOTED.search(sentence):
        return
    if not _NO_ORDER.search(sentence):
        for clause in _clauses(sentence):
            yield from orders.orders(clause, speaker)
    if _NOT_STATED.search(sentence):
        return
    lead, kin, of_me = "", "", False
    for clause in _clauses(sentence):
        date = dates.EXPRESSION.match(clause)
        if date and date.group() == clause:
            lead = clause
            continue
        if kin and (named := _CALLED.match(clause)):  # 我有个儿子，叫林雨
            yield people.named(kin, named["name"], speaker, certain=False)
            kin = ""
            continue
        whole = f"我{clause}" if of_me and _OMITTED.match(clause) else clause
        found = _HAS_KIN.match(whole)
        kin = found["kin"] if found else ""
        of_me = _ME.match(whole) is not None and not _KIN.match(whole)
        yield from _stated(lead, whole, speaker, clock)
        lead = ""


def _clauses(sentence: str) -> Iterator[str]:
    for part in _CLAUSE.split(sentence):
        clause = part.strip(" 。.!！~～…、")
        while (opened := _OPENING.sub("", clause, count=1)) != clause:
            clause = opened
        if clause:
            yield clause


def _stated(lead: str, clause: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    me, about = people.subject_of(speaker), speaker.slot
    date = dates.EXPRESSION.match(clause)
    if date and clause[date.end() :].startswith("我"):
        lead, clause = date.group(), clause[date.end() :]
    if found := _KIN.match(clause):
        size, kin, rest = found["size"] or "", found["kin"], found["rest"]
        if len(kin) == 1 and kin * 2 in people.KIN:  # 我爸
            kin *= 2
        if named := _KIN_NAME.match(rest):
            yield people.named(size + kin, named["name"], speaker, certain=True, kin=kin)
            return
        yield from _predicate(f"{me}的{size}{kin}", f"{about}'s {people.KIN[kin]}", lead + rest, clock)
    elif found := _ME.match(clause):
        rest = clause[found.end() :]
        if named := _HAS_NAMED.match(rest):
            yield people.named(named["kin"], named["name"], speaker, certain=False)
            return
        for fact in _predicate(me, about, lead + rest, clock, plural=bool(found["we"])):
            yield from _renamed(fact, speaker)


def _predicate(me: str, about: str, words: str, clock: Clock, *, plural: bool = False) -> Iterator[Fact]:
    lasting = _OF_THIS_YEAR.sub("", words)
    if lasting != words or _BIRTHDAY.match(words):
        yield from facts.facts(me, about, lasting)
    elif dates.HINT.search(words) and dates.EXPRESSION.search(words):
        yield from episodes.dated(me, about, words, clock, plural)
    elif plural:
        if words.startswith(("有", "住在", "搬")):  # what holds of each of us
            yield from facts.facts(me, about, words)
    else:
        yield from facts.facts(me, about, words)
        yield from episodes.undated(me, about, words)


def _renamed(fact: Fact, speaker: Speaker) -> Iterator[Fact]:
    """`林浩的名字是林浩` says nothing; of a person alone with an assistant it still says who they are."""
    if fact.text != f"{speaker.name}的名字是{speaker.name}。":
        yield fact
    elif not speaker.in_room:
        yield replace(fact, text=f"用户的名字是{speaker.name}。")
