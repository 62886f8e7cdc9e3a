"""What holds of a person for a while, in Chinese: one table over clauses without their subject."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prompts.rules.fact import PERSONA, Fact

_JOBS = (
    r"(?:[\u4e00-\u9fffA-Za-z]{0,8}?(?:工程师|程序员|医生|护士|老师|教师|教授|律师|会计|设计师|学生|研究生|博士生"
    r"|厨师|司机|记者|作家|画家|翻译|编辑|"
    r"产品经理|经理|销售|顾问|研究员|科学家|建筑师|药剂师|演员|歌手|摄影师|公务员|警察|消防员|农民|咖啡师|创业者"
    r"|分析师|心理咨询师|教练))"
)
_LIKE = r"喜[欢歡]|热爱|钟爱|迷恋|爱(?![上死好情人])|讨厌|討厭|恨|受不了|怕|害怕"
_VERY = r"(?:真的|特别|非常|很|最|超级?|比较|还是|一直|挺|都|也|蛮|尤其)*"
_NAME = r"[\u4e00-\u9fff]{1,4}|[A-Z][\w'-]*(?: [A-Z][\w'-]*)?"
_PLACE = r"[\u4e00-\u9fffA-Za-z ]{2,12}"


def _pairs(listed: str) -> dict[str, str]:
    return {word: english for word, _, english in (pair.partition(":") for pair in listed.split())}


KIN = _pairs(
    "妈妈:mother 母亲:mother 爸爸:father 父亲:father 妻子:wife 老婆:wife 太太:wife "
    "丈夫:husband 老公:husband 先生:husband 儿子:son 女儿:daughter 哥哥:brother "
    "弟弟:brother 姐姐:sister 妹妹:sister 女朋友:girlfriend 男朋友:boyfriend "
    "爷爷:grandfather 奶奶:grandmother 外公:grandfather 外婆:grandmother 狗:dog "
    "小狗:dog 猫:cat 小猫:cat 老板:boss 室友:roommate 同事:colleague 朋友:friend "
    "表哥:cousin 表姐:cousin 表弟:cousin 表妹:cousin 孩子:child 宝宝:baby"
)
SINGLE = frozenset({"mother", "father", "wife", "husband", "girlfriend", "boyfriend", "boss"})
KIN_PATTERN = "(?:" + "|".join(sorted(KIN, key=len, reverse=True)) + ")"


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    text: str
    key: str
    attribute: str
    tag: str
    priority: int


def _rule(pattern: str, text: str, key: str, attribute: str, tag: str, priority: int = 70) -> _Rule:
    return _Rule(re.compile(rf"^{pattern}$"), text, key, attribute, tag, priority)


_RULES = (
    _rule(
        rf"(?:的?名字)?(?:就?叫做?|名叫|的?名字[是叫])(?P<name>{_NAME})",
        "{s}的名字是{name}。",
        "姓名",
        "name",
        "identity",
        90,
    ),
    _rule(
        rf"(?:刚|刚刚|已经)?从(?P<old>{_PLACE}?)搬(?:家)?[到去来](?:了)?(?P<new>{_PLACE}?)(?:了|住|生活)*",
        "{s}从{old}搬到了{new}。",
        "住处",
        "home",
        "place",
        80,
    ),
    _rule(
        rf"(?:刚|刚刚|已经|现在)*搬(?:家)?到(?:了)?(?P<new>{_PLACE}?)(?:了|住|生活)*",
        "{s}搬到了{new}。",
        "住处",
        "home",
        "place",
        80,
    ),
    _rule(
        rf"(?:现在|目前|一直)*(?:不住在?|不再住在?)(?P<place>{_PLACE}?)了?",
        "{s}不住在{place}。",
        "住处",
        "home",
        "place",
        75,
    ),
    _rule(
        rf"(?:现在|目前|一直|家)*(?:住在?|定居在?)(?P<place>{_PLACE}?)(?:市?了)?",
        "{s}住在{place}。",
        "住处",
        "home",
        "place",
        80,
    ),
    _rule(rf"(?:是)?(?:来自|从)(?P<place>{_PLACE}?)(?:来的)?", "{s}来自{place}。", "籍贯", "origin", "place", 75),
    _rule(r"是(?P<place>[\u4e00-\u9fff]{2,6})人", "{s}是{place}人。", "籍贯", "origin", "place", 75),
    _rule(rf"(?:的?老家|的?家乡)[在是](?P<place>{_PLACE})", "{s}的老家在{place}。", "籍贯", "hometown", "place", 75),
    _rule(rf"(?:出生在|出生于|生在)(?P<place>{_PLACE})", "{s}出生在{place}。", "出生地", "birthplace", "place"),
    _rule(rf"在(?P<place>{_PLACE})(?:出生|长大)(?:的)?", "{s}在{place}长大。", "成长地", "childhood", "place"),
    _rule(
        r"(?:今年|现在|已经)*(?P<age>\d{1,3}|[一二三四五六七八九十]{1,3})[岁歲]了?",
        "{s}{age}岁。",
        "年龄",
        "age",
        "identity",
        75,
    ),
    _rule(
        rf"(?:现在|目前)*在(?P<where>[^，]{{2,15}}?)(?:当|做|担任)(?P<job>{_JOBS})",
        "{s}是{job}。",
        "职业",
        "job",
        "work",
        80,
    ),
    _rule(rf"(?:现在|目前)*(?:是|当|做)(?:一?[名个位])?(?P<job>{_JOBS})", "{s}是{job}。", "职业", "job", "work", 80),
    _rule(r"的?(?:工作|职业)是(?P<job>[^，]{2,12})", "{s}的职业是{job}。", "职业", "job", "work", 80),
    _rule(
        r"(?:现在|目前)*在(?P<employer>[^，]{2,15}?)(?:工作|上班|任职)",
        "{s}在{employer}工作。",
        "工作单位",
        "employer",
        "work",
        80,
    ),
    _rule(
        r"(?:刚|刚刚|已经)?(?:跳槽到|入职|加入)了?(?P<employer>[^，]{2,15}?)了?",
        "{s}入职了{employer}。",
        "工作单位",
        "employer",
        "work",
        80,
    ),
    _rule(
        r"(?P<not>不)?[对對](?P<what>[^，]{1,10}?)(?:严重)?[过過]敏",
        "{s}对{what}{not}过敏。",
        "对{what}过敏",
        "allergy|{what}",
        "health",
        90,
    ),
    _rule(r"(?:是)?(?:一?个)?(?:吃素的?|素食者|素食主义者)", "{s}吃素。", "饮食", "diet", "food", 85),
    _rule(
        r"(?:从来|一直|现在)?(?:都)?不(?P<verb>吃|喝|抽)(?P<what>[^，]{1,8}?)",
        "{s}不{verb}{what}。",
        "不{verb}{what}",
        "{verb}|{what}",
        "food",
        80,
    ),
    _rule(
        r"(?:已经)?(?:不再|再也不)(?P<verb>吃|喝|抽)(?P<what>[^，]{1,8}?)了?",
        "{s}不再{verb}{what}。",
        "不再{verb}{what}",
        "{verb}|{what}",
        "food",
        80,
    ),
    _rule(
        r"(?P<what>(?:几乎)?每(?:天|晚|年|个?月|个?周末|个?周|个?星期)[^，]{2,16})",
        "{s}{what}。",
        "{what}",
        "",
        "habit",
        60,
    ),
    _rule(
        rf"(?:已经)?(?:不再|再也不)(?P<verb>{_LIKE})(?P<what>[^，]{{1,16}}?)了?",
        "{s}不再{verb}{what}。",
        "不再{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        r"(?:真的|现在|一直|其实)?不(?:太|怎么|是很|大)?(?P<verb>喜[欢歡]|爱)(?P<what>[^，]{1,16}?)",
        "{s}不{verb}{what}。",
        "不{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        r"最喜[欢歡]的(?P<kind>[^，是]{1,8})是(?P<what>[^，]{1,16})",
        "{s}最喜欢的{kind}是{what}。",
        "最喜欢的{kind}",
        "favourite {kind}",
        "preference",
        75,
    ),
    _rule(
        rf"{_VERY}(?P<verb>{_LIKE})(?P<what>[^，]{{1,18}}?)",
        "{s}{verb}{what}。",
        "{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    _rule(
        r"(?:正在|在|一直在)?(?P<how>学习?|练习?)(?P<what>(?![习到会了校生])[^，了过]{1,10})",
        "{s}在{how}{what}。",
        "{how}{what}",
        "learns|{what}",
        "habit",
        60,
    ),
    _rule(
        r"会(?P<how>说|弹|拉|打|讲)(?P<what>[^，]{1,10})",
        "{s}会{how}{what}。",
        "会{how}{what}",
        "can|{what}",
        "habit",
        60,
    ),
    _rule(
        rf"有(?P<what>[一二两三四五六七八九十\d]+[个只条位](?:[\u4e00-\u9fff]{{0,3}})?{KIN_PATTERN})",
        "{s}有{what}。",
        "家人",
        "",
        "relation",
        70,
    ),
    _rule(
        r"(?:已经)?(?P<state>结婚|离婚|退休|怀孕|单身|订婚)了?",
        "{s}已经{state}。",
        "{state}",
        "{state}",
        "identity",
        75,
    ),
    _rule(r"的?生日是(?P<what>[^，]{2,12})", "{s}的生日是{what}。", "生日", "birthday", "identity", 80),
)
# 你, 他, 它 and 这 point at something the sentence does not hold; a verb's object that is a clause is an opinion.
_DANGLING = re.compile(
    r"[你您她它這这那哪谁誰啥]|什么|什麼|怎么|多少|我们|咱|这样|一样|被|(?<![吉其])他|的时候|之一"
    r"|^[的了吗呢吧死过]|[的在和跟与]$"
)
_FILLER = re.compile(r"[了的啦啊呀哦呢吧哈嘛~～!！。.…\s]+$|(?:了)$")
_KINDS = _pairs(
    "颜色:color 水果:fruit 食物:food 菜:dish 电影:movie 书:book 运动:sport 歌手:singer "
    "城市:city 季节:season 动物:animal 饮料:drink 球队:team 乐队:band 歌:song 游戏:game"
)
_NOT_NAMES = re.compile(r"^(?:我|什么|做|真|到|不|醒|外卖|车|起|苦|好|停|板)")


def facts(subject: str, about: str, predicate: str) -> Iterator[Fact]:
    """The lasting statement in `predicate` (a clause without its subject), if it is one."""
    predicate = predicate.strip()
    for rule in _RULES:
        found = rule.pattern.match(predicate)
        if found is None:
            continue
        words = {
            name: tidy(value) if name not in {"not", "verb", "how"} else value
            for name, value in found.groupdict(default="").items()
        }
        if any((not value and name != "not") or _DANGLING.search(value) for name, value in words.items()):
            return
        if rule.attribute == "name" and _NOT_NAMES.match(words["name"]):
            return
        if words.get("verb") == "爱" and words["what"] == "上":
            return
        slots = {name: value.casefold() for name, value in words.items()}
        slots["kind"] = _KINDS.get(slots.get("kind", ""), slots.get("kind", ""))
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
    return words.replace("我自己", "自己").replace("我的", "自己的").replace("我", "自己").strip()


def complete(words: str) -> bool:
    """Whether `words` can be understood without what was said around them."""
    return bool(words) and not _DANGLING.search(words)
