"""Lasting facts of a life: names, homes, work, age, family."""

from prompts.rules.chinese.people import KIN_PATTERN
from prompts.rules.chinese.rule import rule

_JOBS = (
    r"(?:[\u4e00-\u9fffA-Za-z]{0,8}?(?:工程师|程序员|医生|护士|老师|教师|教授|律师|会计|设计师|学生|研究生|博士生"
    r"|厨师|司机|记者|作家|画家|翻译|编辑|产品经理|经理|销售|顾问|研究员|科学家|建筑师|药剂师|演员|歌手|摄影师"
    r"|公务员|警察|消防员|农民|咖啡师|创业者|分析师|心理咨询师|教练))"
)
_NAME = r"[\u4e00-\u9fff]{1,4}|[A-Z][\w'-]*(?: [A-Z][\w'-]*)?"
_PLACE = r"[\u4e00-\u9fffA-Za-z ]{2,12}"

ROWS = (
    rule(
        r"没有(?P<what>孩子|宠物|兄弟姐妹|驾照|对象|女朋友|男朋友)",
        "{s}没有{what}。",
        "没有{what}",
        "has|{what}",
        "relation",
        70,
    ),
    rule(
        rf"(?:现在|目前)*在(?P<place>{_PLACE}?)(?P<how>留学|读书|上学|念书|读研|读博)",
        "{s}在{place}{how}。",
        "学业",
        "school",
        "work",
        75,
    ),
    rule(
        rf"(?:的?名字)?(?:就?叫做?|名叫|的?名字[是叫])(?P<name>{_NAME})",
        "{s}的名字是{name}。",
        "姓名",
        "name",
        "identity",
        90,
    ),
    rule(
        rf"(?:刚|刚刚|已经)?从(?P<old>{_PLACE}?)搬(?:家)?[到去来](?:了)?(?P<new>{_PLACE}?)(?:了|住|生活)*",
        "{s}从{old}搬到了{new}。",
        "住处",
        "home",
        "place",
        80,
    ),
    rule(
        rf"(?:刚|刚刚|已经|现在)*搬(?:家)?到(?:了)?(?P<new>{_PLACE}?)(?:了|住|生活)*",
        "{s}搬到了{new}。",
        "住处",
        "home",
        "place",
        80,
    ),
    rule(
        rf"(?:现在|目前|一直)*(?:不住在|不再住在)(?P<place>{_PLACE}?)了?",
        "{s}不住在{place}。",
        "住处",
        "home",
        "place",
        75,
    ),
    rule(
        rf"(?:现在|目前|一直|家)*(?:住在|定居在?|住(?![院手口宿进过了不得]))(?P<place>{_PLACE}?)(?:市?了)?",
        "{s}住在{place}。",
        "住处",
        "home",
        "place",
        80,
    ),
    rule(rf"是?来自(?P<place>{_PLACE}?)(?:的)?", "{s}来自{place}。", "籍贯", "origin", "place", 75),
    rule(
        r"是(?!好|男|女|坏|成年|本地|外地|普通|年轻|老|单身|商|病|当事)(?P<place>[\u4e00-\u9fff]{2,6})人",
        "{s}是{place}人。",
        "籍贯",
        "origin",
        "place",
        75,
    ),
    rule(rf"(?:的?老家|的?家乡)[在是](?P<place>{_PLACE})", "{s}的老家在{place}。", "籍贯", "hometown", "place", 75),
    rule(rf"(?:出生在|出生于|生在)(?P<place>{_PLACE})", "{s}出生在{place}。", "出生地", "birthplace", "place"),
    rule(rf"在(?P<place>{_PLACE}?)(?P<how>出生|长大)的?", "{s}在{place}{how}。", "{how}地", "{how}", "place"),
    rule(
        r"(?:今年|现在|已经)*(?P<age>\d{1,3}|[一二三四五六七八九十]{1,3})[岁歲]了?",
        "{s}{age}岁。",
        "年龄",
        "age",
        "identity",
        75,
    ),
    rule(
        rf"(?:现在|目前)*在(?P<where>[^，]{{2,15}}?)(?:当|做|担任)(?P<job>{_JOBS})",
        "{s}是{job}。",
        "职业",
        "job",
        "work",
        80,
    ),
    rule(rf"(?:现在|目前)*(?:是|当|做)(?:一?[名个位])?(?P<job>{_JOBS})", "{s}是{job}。", "职业", "job", "work", 80),
    rule(r"的?(?:工作|职业)是(?P<job>[^，]{2,12})", "{s}的职业是{job}。", "职业", "job", "work", 80),
    rule(
        r"(?:现在|目前)*在(?!努力|认真|加班|拼命|好好)(?P<employer>[^，]{2,15}?)(?:工作|上班|任职)",
        "{s}在{employer}工作。",
        "工作单位",
        "employer",
        "work",
        80,
    ),
    rule(
        r"(?:刚|刚刚|已经)?(?:跳槽到|入职|加入)了?(?P<employer>[^，]{2,15}?)了?",
        "{s}入职了{employer}。",
        "工作单位",
        "employer",
        "work",
        80,
    ),
    rule(
        rf"有(?P<what>[一二两三四五六七八九十\d]+[个只条位](?:[\u4e00-\u9fff]{{0,3}})?{KIN_PATTERN})",
        "{s}有{what}。",
        "家人",
        "",
        "relation",
        70,
    ),
    rule(
        r"(?:已经)?(?P<state>结婚|离婚|退休|怀孕|订婚)了?",
        "{s}已经{state}。",
        "{state}",
        "{state}",
        "identity",
        75,
    ),
    rule(r"的?生日是(?P<what>[^，]{2,12})", "{s}的生日是{what}。", "生日", "birthday", "identity", 80),
)
