"""The word lists that streams/decisions/reading.py reads by: English and Chinese, each list one kind of word."""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words("not no never none nobody nothing neither nor without cannot stopped quit stop stops")
AVERSIONS = _words("dislike dislikes disliked hate hates hated detest detests")

# Whether something is so, or only wished for, planned, possible or past
MODALS = _words(
    "will would want wants wanted plan plans planned planning hope hopes might may should could try tries trying used "
    "considering thinking wish wishes if maybe perhaps probably almost nearly former formerly previously"
)
COMPARATORS = _words("than before after over instead rather until since")
PEOPLE = _words(
    "son daughter wife husband partner mother mom mum father dad brother sister cousin uncle aunt nephew niece friend "
    "girlfriend boyfriend boss manager colleague neighbor neighbour roommate teacher grandmother grandfather grandma "
    "grandpa child children kid kids parents team dog cat"
)

# Carry no part of what is said
NEUTRAL = _words(
    "a an the of to in on at by as for with and or is are was were be been being am it its he she they them his her "
    "hers their i me my mine we our us you your this that these those there has have had having do does did done s t "
    "really very also just now currently still too so m ve ll re d quite actually already who which what both"
)
# Name a slot rather than its value: left out where two values of one slot are compared
FRAMES = _words(
    "live lives lived living move moves moved moving reside resides stay stays settle settled work works worked "
    "working job call called name named names like likes liked love loves loved enjoy enjoys enjoyed adore adores "
    "dislike dislikes disliked hate hates hated detest detests home city town country based located come comes came "
    "from become became becomes get got start started new old years year birthday born favorite favourite prefer "
    "prefers preferred belong belongs owner owned owns owning go goes went"
)
SYNONYMS = dict.fromkeys(_words("like likes liked love loves loved enjoy enjoys enjoyed adore adores"), "like")

_COUNTING = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
NUMBERS = {word: value for value, word in enumerate(_COUNTING.split())} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}

# A capital at the start of a sentence does not make these a name
STARTERS = (
    _words("please every when where always yes ok okay user assistant some all each another once use")
    | NEGATORS | MODALS | COMPARATORS | FRAMES | PEOPLE | NUMBERS.keys()
)  # fmt: skip

ZH_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
ZH_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}

# 不, 没, 别, 无, 未 inside words that deny nothing
ZH_KEPT = re.compile(
    "不错|不过|不仅|不但|不管|不同|差不多|不好意思|不断|不久|没关系|没问题|没事|特别|别人|区别|分别|级别|个别|性别|告别|类别|别墅"
    r"|无论|无锡|除非|未来|未婚|未必|有没有|是不是|好不好|要不要|能不能"
    # numerals that count nothing
    "|一起|一些|一下|一样|一直|一点|一定|一般|一边|一切|万一|千万|十分|三明治|统一|唯一"
)
ZH_NEGATORS = re.compile("不再|不是|不会|不能|不要|不想|不|没有|没|别|无|未")
ZH_AVERSIONS = re.compile("讨厌|厌恶|反感")
ZH_MODALS = re.compile("想要|想|打算|计划|希望|可能|也许|或许|曾经|曾|以前|从前|如果|差点|将要|将会|准备|考虑")
ZH_COMPARATORS = re.compile("比|先|之前|之后|以后")
ZH_PEOPLE = re.compile(
    "儿子|女儿|妻子|老婆|太太|丈夫|老公|妈妈|母亲|爸爸|父亲|哥哥|弟弟|姐姐|妹妹|表哥|表弟|叔叔|阿姨|侄子|朋友|老板|同事|邻居"
    "|室友|老师|奶奶|爷爷|外婆|外公|孩子|父母|团队|女友|男友|经理"
)
ZH_LIKING = re.compile("喜欢|喜爱|热爱|爱吃|爱喝|爱看|爱玩")
ZH_NUMBER = re.compile("[零〇一二两俩三四五六七八九十百千万亿]+")
ZH_NEUTRAL = re.compile("现在|目前|如今|已经|非常|很|最|也|都|就|的|了|是|呢|啊|吧|着")
ZH_FRAMES = re.compile(
    "住在|住|搬到|搬去|搬家|搬|名字|名叫|叫做|叫|来自|出生于|出生|工作|上班|担任|职业|从事|当|做"
    "|家在|老家|家|在|到|去|有|我|他|她|你|用户|今年|岁|生日|负责|属于|归|由|一名|一位|一个|换成|换到|换|改成|改为|变成"
)
