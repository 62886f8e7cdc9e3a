"""Lasting facts of taste: food, health, likes, habits, goals."""

from prompts.rules.chinese.rule import rule

_LIKE = r"喜[欢歡]|热爱|钟爱|迷恋|爱(?![上死好情人])|讨厌|討厭|恨(?!不得)|受不了|怕(?!是)|害怕"
_VERY = r"(?:真的|特别|非常|很|最|超级?|比较|还是|一直|挺|都|也|蛮|尤其)*"

ROWS = (
    rule(
        r"有(?P<what>糖尿病|高血压|哮喘|抑郁症|偏头痛|失眠症|心脏病|鼻炎)",
        "{s}有{what}。",
        "健康",
        "has|{what}",
        "health",
        85,
    ),
    rule(
        r"(?:一直|很)*想(?P<what>(?:学|当|成为|考)[^，]{2,10}|去[^，]{2,8}旅[行游])",
        "{s}想{what}。",
        "想{what}",
        "",
        "goal",
        60,
    ),
    rule(
        r"(?P<not>不)?[对對](?P<what>[^，]{1,10}?)(?:严重)?[过過]敏",
        "{s}对{what}{not}过敏。",
        "对{what}过敏",
        "allergy|{what}",
        "health",
        90,
    ),
    rule(r"(?:是)?(?:一?个)?(?:吃素的?|素食者|素食主义者)", "{s}吃素。", "饮食", "diet", "food", 85),
    rule(
        r"(?:从来|一直|现在)?(?:都)?不(?P<verb>吃|喝|抽)(?P<what>[^，]{1,8}?)",
        "{s}不{verb}{what}。",
        "不{verb}{what}",
        "{verb}|{what}",
        "food",
        80,
    ),
    rule(
        r"(?:已经)?(?:不再|再也不)(?P<verb>吃|喝|抽)(?P<what>[^，]{1,8}?)了?",
        "{s}不再{verb}{what}。",
        "不再{verb}{what}",
        "{verb}|{what}",
        "food",
        80,
    ),
    rule(
        r"(?P<what>(?:几乎)?每(?:天|晚|年|个?月|个?周末|个?周|个?星期)[^，]{2,16})",
        "{s}{what}。",
        "{what}",
        "",
        "habit",
        60,
    ),
    rule(
        rf"(?:已经)?(?:不再|再也不)(?P<verb>{_LIKE})(?P<what>[^，]{{1,16}}?)了?",
        "{s}不再{verb}{what}。",
        "不再{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        r"(?:真的|现在|一直|其实)?不(?:太|怎么|是很|大)?(?P<verb>喜[欢歡]|爱)(?P<what>[^，]{1,16}?)",
        "{s}不{verb}{what}。",
        "不{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        r"最喜[欢歡]的(?P<kind>[^，是]{1,8})是(?P<what>[^，]{1,16})",
        "{s}最喜欢的{kind}是{what}。",
        "最喜欢的{kind}",
        "favourite {kind}",
        "preference",
        75,
    ),
    rule(
        rf"{_VERY}(?P<verb>{_LIKE})(?P<what>[^，]{{1,18}}?)",
        "{s}{verb}{what}。",
        "{verb}{what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        r"(?:正在|在|一直在)?(?P<how>学习?|练习?)(?P<what>(?![习到会了校生])[^，了过]{1,10})",
        "{s}在{how}{what}。",
        "{how}{what}",
        "learns|{what}",
        "habit",
        60,
    ),
    rule(
        r"会(?P<how>说|弹|拉|打|讲)(?![给到清服])(?P<what>[^，]{1,10})",
        "{s}会{how}{what}。",
        "会{how}{what}",
        "can|{what}",
        "habit",
        60,
    ),
)
