"""Who a Chinese clause is about, and what the people and things around someone are called in slots."""

from prompts.rules.fact import PERSONA, Fact, Speaker


def _pairs(listed: str) -> dict[str, str]:
    return {word: english for word, _, english in (pair.partition(":") for pair in listed.split())}


KIN = _pairs(
    "妈:mother 爸:father 哥:brother 弟:brother 姐:sister 妹:sister 妈妈:mother 母亲:mother 爸爸:father 父亲:father "
    "妻子:wife 老婆:wife 太太:wife 丈夫:husband 老公:husband "
    "先生:husband 儿子:son 女儿:daughter 哥哥:brother 弟弟:brother 姐姐:sister 妹妹:sister 女朋友:girlfriend "
    "男朋友:boyfriend 爷爷:grandfather 奶奶:grandmother 外公:grandfather 外婆:grandmother 狗:dog 小狗:dog 猫:cat "
    "小猫:cat 老板:boss 室友:roommate 同事:colleague 朋友:friend 表哥:cousin 表姐:cousin 表弟:cousin 表妹:cousin "
    "孩子:child 宝宝:baby"
)
SINGLE = frozenset({"mother", "father", "wife", "husband", "girlfriend", "boyfriend", "boss"})
KIN_PATTERN = "(?:" + "|".join(sorted(KIN, key=len, reverse=True)) + ")"
KINDS = _pairs(
    "颜色:color 水果:fruit 食物:food 菜:dish 电影:movie 书:book 运动:sport 歌手:singer 城市:city 季节:season "
    "动物:animal 饮料:drink 球队:team 乐队:band 歌:song 游戏:game"
)
NAME = r"[\u4e00-\u9fff]{1,4}|[A-Z][\w-]*"


def subject_of(speaker: Speaker) -> str:
    return speaker.name or "用户"


def named(relation: str, name: str, speaker: Speaker, certain: bool, kin: str = "") -> Fact:
    """Who someone is; `certain`: the speaker spoke of the one there is. `kin` is `relation` without its size."""
    english = KIN[kin or relation]
    single = certain or english in SINGLE
    attribute = f"{english}'s name" if single else f"{english} named {name.casefold()}"
    text = f"{subject_of(speaker)}的{relation}叫{name}。"
    return Fact(text, PERSONA, f"{relation}的名字", ("relation",), speaker.slot, attribute, 80)
