"""Chinese: a sentence in, facts in the third person out."""

import re
from collections.abc import Iterator

from prompts.rules.calendar import Clock, Span
from prompts.rules.chinese import dates, facts
from prompts.rules.fact import ABSOLUTE, EPISODIC, INSTRUCTION, PERSONA, Fact, Speaker

# Not stated: asked, supposed, doubted, meant as a joke, or somebody else's words.
_NOT_STATED = re.compile(
    r"[?？]|[吗嗎么]\W*$|呢[\W]*$|如果|要是|假如|假设|倘若|万一|也许|可能|大概|说不定|希望|但愿|好想|真想|想象"
    r"|听说|据说|好像|似乎|"
    r"[他她你们人妈爸哥姐弟妹友]说|告诉我|问我|觉得|以为|才怪|开玩笑|逗你|怎么|什么|为啥|哪里|是不是|有没有|能不能"
    r"|🙄|🙃|应该|本来"
)
_TAKEN_BACK = re.compile(r"^\W*(?:才怪|开玩笑的?|逗你的|骗你的|骗你玩的|当然是假的)\W*$")
_QUOTED = re.compile(r"[“\"「『][^”\"」』]*我[^”\"」』]*[”\"」』]|[“\"「『][^”\"」』]{8,}[”\"」』]")
_OPENING = re.compile(
    r"^(?:嗯+|哦|噢|啊|哈+|嘿|嗨|你好|大家好|好的?|对了|其实|另外|还有|而且|但是|不过|可是|然后|所以|因为"
    r"|顺便说一下|顺便|谢谢|行|没错|是的|对|"
    r"老实说|说实话|告诉你|跟你说|介绍一下|补充一下|哎|唉|那|就是|平时|目前|现在|最近|并且|同时)[\s,，、:：!！~]*"
)
_CLAUSE = re.compile(r"[，,；;。！!\n]+|\s{2,}|(?<=[^，])(?:但是?|不过|而且|然后|因为|所以|并且)(?=我)")
_ME = re.compile(r"^我(?:(?P<we>们)|自己|本人|家(?=有))?(?!国|校|方|觉|想|们)")
_KIN = re.compile(rf"^(?:我的?|我家的?)(?P<size>大|小|二)?(?P<kin>{facts.KIN_PATTERN})(?P<rest>.+)$")
_KIN_NAME = re.compile(r"^(?:的?名字)?(?:叫做?|是叫|的?名字[是叫])(?P<name>[\u4e00-\u9fff]{1,4}|[A-Z][\w-]*)$")
_HAS_NAMED = re.compile(
    rf"^有(?:一|个|只|条|位"
    rf"|了)*(?:[\u4e00-\u9fff]{{0,3}})?(?P<kin>{facts.KIN_PATTERN})[，,]?(?:名字)?叫(?P<name>[\u4e00-\u9fff]{{1,4}}|[A-Z][\w-]*)$"
)
_PLAN = re.compile(
    r"^(?P<verb>打算|计划|准备|决定|要去|要|会|得|将|有(?=一?[个场次趟门]|[^，]*(?:会议|考试|面试|比赛"
    r"|课)))(?P<what>[^，]{2,30})$"
)
_DONE = re.compile(
    r"^(?:刚|刚刚|已经|终于|就|都|才|一个人|和[^，]{1,6}一起"
    r"|跟[^，]{1,6}一起)*(?P<what>[^，]{0,6}?[\u4e00-\u9fff][了过完到][^，]{1,24}|去[^，]{2,20}(?:了|过)?|(?:参加"
    r"|完成|看完|毕业|搬家|买)[^，]{0,20})$"
)
_MILESTONE = re.compile(
    r"^(?:刚刚?|终于|已经|最近|前不久)*(?P<what>(?:买了|领养了|收养了|生了|考上了?|考过了|通过了|报名了|拿到了"
    r"|获得了|完成了|写完了|参加了|加入了|养了)[^，]{2,20}"
    r"|(?:毕业|辞职|升职|失业|离职|搬家)了)$"
)
_OMITTED = re.compile(
    r"^(?:也|还|现在|目前)*(?:在|是(?!的|吗|不)|住|喜[欢歡]|不喜[欢歡]|最喜[欢歡]|讨厌|[对對]|今年|有|会|不吃|不喝"
    r"|从|打算|计划)"
)
_TITLE_CUT = re.compile(
    r"在?\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?(?:那一周|那个周末|早上|上午|中午|下午|晚上|前不久)?(?:\d\d:\d\d)?"
)
_NOW_ON = r"(?:从现在起|从现在开始|从今以后|从今天起|今后|以后|往后|之后)"
_ORDER = re.compile(
    rf"^(?P<lead>(?:请你?|麻烦你?|你|{_NOW_ON}|每次|回答(?:我)?的?时候?|[,， ])*)"
    r"(?P<how>永远不要|永远别|绝不要?|绝对不要|千万别|千万不要|一律不要|不要再|不许|不要|别再|别|禁止|永远|总是"
    r"|始终|一律|务必|一定要|必须|一直|都要?|只)?"
    r"(?:请|要|给我|跟我)?(?P<what>(?:用|使用|说|写|叫|称呼|回答|回复|加|发|提|推荐|给出|保持|简短|列|解释|翻译"
    r"|道歉|重复|显示|附上|以)[^，]{0,24})$"
)
_CALL_ME = re.compile(
    r"^(?:请|你可以|以后|大家|就|都|直接)*(?:叫|称呼)我(?P<name>[\u4e00-\u9fff]{1,4}|[A-Z][\w-]*)(?:就好|就行|吧"
    r"|就可以)?了?$"
)
_LANGUAGE = re.compile(r"(?:用|说|以)(?P<language>中文|英文|英语|汉语|普通话|日语|日文|法语|德语|粤语)")
_ABSOLUTE = ("永远", "绝", "千万", "一律", "务必", "必须", "总是", "始终", "禁止", "不许")
_NEGATIVE = ("不", "别", "禁止")


def taken_back(sentence: str) -> bool:
    """Whether the sentence says that the one before was a joke."""
    return _TAKEN_BACK.match(sentence) is not None


def read(sentence: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    """The facts that `sentence` states about its speaker."""
    if _QUOTED.search(sentence):
        return
    stated = not _NOT_STATED.search(sentence)
    spoken_of: str | None = None  # the person of the clause before: 我有个儿子，叫林雨
    lead = ""
    of_me = False
    for raw in _CLAUSE.split(sentence):
        clause = raw.strip(" 。.!！~～…、")
        while (opened := _OPENING.sub("", clause, count=1)) != clause:
            clause = opened
        if not clause:
            continue
        found = dates.EXPRESSION.match(clause)
        if found and found.group() == clause:
            lead = clause
            continue
        if stated:
            about_kin = re.match(rf"^我?有[^，]*?(?P<kin>{facts.KIN_PATTERN})$", clause)
            if spoken_of and (
                named := re.match(r"^(?:名字)?(?:叫|是叫)(?P<name>[\u4e00-\u9fff]{1,4}|[A-Z][\w-]*)$", clause)
            ):
                yield _named(spoken_of, named["name"], speaker, certain=False)
                spoken_of = None
                continue
            spoken_of = about_kin["kin"] if about_kin else None
            if of_me and _OMITTED.match(clause):  # the subject of the clause before goes on
                clause = f"我{clause}"
            of_me = _ME.match(clause) is not None and not _KIN.match(clause)
            yield from _stated(lead + clause, speaker, clock)
        if not re.search(r"[?？]|如果|要是|吗\W*$", sentence):
            yield from _orders(clause, speaker)
        lead = ""


def _stated(clause: str, speaker: Speaker, clock: Clock) -> Iterator[Fact]:
    me, about = _name(speaker), speaker.slot
    own, plural = True, False
    first = dates.EXPRESSION.match(clause)
    moved = ""
    if first and clause[first.end() :].startswith("我"):
        moved, clause = first.group(), clause[first.end() :]
    if found := _KIN.match(clause):
        if named := _KIN_NAME.match(found["rest"]):
            yield _named((found["size"] or "") + found["kin"], named["name"], speaker, certain=True, kin=found["kin"])
            return
        own = False
        me, about = f"{me}的{found['size'] or ''}{found['kin']}", f"{about}'s {facts.KIN[found['kin']]}"
        rest = found["rest"]
    elif found := _ME.match(clause):
        rest, plural = clause[found.end() :], bool(found["we"])
    else:
        return
    if own and (named := _HAS_NAMED.match(rest)):
        yield _named(named["kin"], named["name"], speaker, certain=False)
        return
    rest = moved + rest
    if plural and not dates.EXPRESSION.search(rest):
        return
    if not dates.HINT.search(rest) or not dates.EXPRESSION.search(rest):
        yield from _lasting(me, about, rest, own, speaker)
        if found := re.match(r"^(?P<verb>打算|计划|准备)(?P<what>[^，]{3,30})$", rest):
            yield from _episode(me, about, found.group(), None, "plan")
        elif found := _MILESTONE.match(rest):
            yield from _episode(me, about, found["what"], None, "event")
        return
    bare = re.sub(r"^今年(?=\d|[一二三四五六七八九十]+[岁歲])", "", rest)
    if bare != rest or rest.startswith(("的生日", "生日")):
        yield from facts.facts(me, about, bare)
        return
    past, ahead = _dated(rest, clock, past=True), _dated(rest, clock, past=False)
    if past is None or ahead is None:
        return
    done, planned = _undated(past[0]), _undated(ahead[0])
    now = clock.now.timestamp() * 1000
    if _PLAN.match(planned) and not planned.endswith("过") and (ahead[1].end is None or ahead[1].end >= now):
        yield from _episode(me, about, _readable(ahead[0]), ahead[1], "plan")
    elif past[1].start is None or past[1].start <= now:
        lasting = [] if plural else list(facts.facts(me, about, done))
        if lasting and "搬" in done:
            yield Fact(
                f"{me}{tidy_end(_readable(past[0]))}。",
                PERSONA,
                "住处",
                ("place",),
                about,
                "home" if now - (past[1].end or now) < 120 * 86_400_000 else "",
                80,
                past[1],
            )
        elif _DONE.match(done):
            yield from _episode(me, about, _readable(past[0]), past[1], "event")


def _lasting(me: str, about: str, rest: str, own: bool, speaker: Speaker) -> Iterator[Fact]:
    for fact in facts.facts(me, about, rest):
        if own and fact.attribute == "name":
            same = fact.text == f"{speaker.name}的名字是{speaker.name}。"
            if same and speaker.in_room:
                continue
            yield Fact(fact.text.replace(me, "用户", 1) if same else fact.text, *list(vars(fact).values())[1:])
        else:
            yield fact


def _dated(words: str, clock: Clock, past: bool) -> tuple[str, Span] | None:
    span: Span | None = None
    unclear = False

    def absolute(found: re.Match[str]) -> str:
        nonlocal span, unclear
        resolved = dates.resolve(found, clock, past)
        if resolved is None:
            unclear = True
            return found.group()
        span = resolved[1] if span is None else span.joined(resolved[1])
        return f"⟦{resolved[0]}⟧"

    words = dates.EXPRESSION.sub(absolute, words)
    return None if unclear or span is None else (words, span)


def _undated(words: str) -> str:
    return re.sub(r"⟦[^⟧]*⟧", "", words)


def _readable(words: str) -> str:
    """With its dates, the first right after the subject: 林浩打算在2026年3月14日去北京."""
    return words.replace("⟦", "").replace("⟧", "")


def _episode(me: str, about: str, words: str, when: Span | None, tag: str) -> Iterator[Fact]:
    said = tidy_end(words)
    if len(said) > 60 or not facts.complete(_TITLE_CUT.sub("", said)):
        return
    title = _TITLE_CUT.sub("", said)[:20]
    yield Fact(f"{me}{said}。", EPISODIC, title, (tag,), about, "", (70 if tag == "plan" else 60) if when else 55, when)


def tidy_end(words: str) -> str:
    """Keeps the 了 of a completed act, which `facts.tidy` takes for a particle."""
    ended = words.rstrip("啦啊呀哦呢吧哈嘛~～!！。.… ")
    return ended.replace("我自己", "自己").replace("我的", "自己的").replace("我", "自己")


def _orders(clause: str, speaker: Speaker) -> Iterator[Fact]:
    me = _name(speaker)
    if found := _CALL_ME.match(clause):
        yield Fact(
            f"{me}希望被称呼为{found['name']}。", INSTRUCTION, "称呼", ("rule",), speaker.slot, "form of address", 90
        )
        return
    found = _ORDER.match(clause)
    if found is None:
        return
    how, lead = found["how"] or "", found["lead"]
    standing = re.search(_NOW_ON, lead) is not None or "每次" in lead
    language = _LANGUAGE.search(found["what"])
    if not (standing or how.startswith(_ABSOLUTE) or how in {"不要再", "别再", "总是", "一直"}):
        return
    if speaker.in_room and not (standing and language):
        return
    what = facts.tidy(found["what"]).replace("自己", "对方" if "自己" in found["what"] else me)
    what = re.sub(r"^回答(?:都)?要?(用.+)$", r"\1回答", what)
    if not what or re.search(r"[他她它这那你]", what) or len(what) < 2:
        return
    negative = how.startswith(("不", "别", "禁止")) or "不" in how or "别" in how
    if what.startswith("回答要"):
        frame = f"{me}要求助手的回答始终{what.removeprefix('回答')}。"
    else:
        never = "永远不要" if how.startswith(_ABSOLUTE) else "不要"
        frame = f"{me}要求助手{never if negative else '始终' if standing or how else ''}{what}。"
    attribute = "rule|answer language" if language and not negative else f"rule|{what}"
    yield Fact(
        frame,
        INSTRUCTION,
        f"规则：{what[:20]}",
        ("rule",),
        speaker.slot,
        attribute,
        ABSOLUTE if how.startswith(_ABSOLUTE) else 90,
    )


def _named(relation: str, name: str, speaker: Speaker, certain: bool, kin: str = "") -> Fact:
    english = facts.KIN[kin or relation]
    single = certain or english in facts.SINGLE
    attribute = f"{english}'s name" if single else f"{english} named {name.casefold()}"
    return Fact(
        f"{_name(speaker)}的{relation}叫{name}。",
        PERSONA,
        f"{relation}的名字",
        ("relation",),
        speaker.slot,
        attribute,
        80,
    )


def _name(speaker: Speaker) -> str:
    return speaker.name or "用户"
