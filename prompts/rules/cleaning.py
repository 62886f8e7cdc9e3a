"""What of a message is its author's own prose: code, addresses, pasted transcripts and echoes are not."""

import re
from collections import Counter

MAX_CHARS = 4000  # longer than anyone types: the rest is pasted

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
# A mail address within RFC 5321's lengths: without them 4,000 at signs took 80 s.
_URL = re.compile(r"(?:https?://|www\.)[^\s，。！？、）)]+|[^\s@]{1,64}@[^\s@]{1,255}\.\w+", re.IGNORECASE)
_BLOCK = re.compile(
    r"<(?P<tag>[\w:-]*(?:memor|recall|context|system|instruction|history"
    r"|background)[\w:-]*)\b[^>]*>.*?(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BOOT = re.compile(
    r"\s*(?:#+\s*)?(?:\[?(?:system|系统)(?:\s+(?:prompt|message|notice))?\]?\s*[:：\]>]|<\|?(?:im_start|system)|you "
    r"are (?:a|an|the|now)\b(?=.*\b(?:assistant|agent|bot|model|ai)\b)|you are (?:chatgpt|claude|gpt)|your (?:role"
    r"|task) is\b|你是(?:一个|一名|一位)?[^。\n]{0,12}(?:助手|助理|机器人|模型|智能体))",
    re.IGNORECASE,
)
_ECHO_HEADING = re.compile(
    r"^\W*(?:(?:relevant|related|recalled|retrieved|known|stored|long-term|user)\s+)*(?:memories|memory"
    r"|facts)\b[^.!?\n]{0,60}[:：]\s*$|^\W*(?:相关|已知|召回的?|用户|长期)*(?:记忆|事实)[^。\n]{0,20}[:：]\s*$",
    re.IGNORECASE,
)
_ECHO_LINE = re.compile(r"^\W*\[?(?:memory|mem|记忆)(?:\s*#?\d+)?\s*[\]:：]", re.IGNORECASE)
_ROLE_LINE = re.compile(r"^\s*(?:\[[^\]\n]{1,40}\]\s*)?[\w.\u4e00-\u9fff][\w .\u4e00-\u9fff-]{0,24}[:：](?!//|\d)")
_TOP_CODE = re.compile(
    r"^\s*(?:[{}\[\]]|(?:def|class|import|from \w+ import|return|const|let|var|SELECT|INSERT)\b.*[=:;({*])|[;{]\s*$"
)
_TIMESTAMP_PREFIX = re.compile(
    r"^\s*[\[(【]?\s*(?:\d{2,4}\s*[-/.年]\s*)?\d{1,2}\s*[-/.月]\s*\d{1,2}\s*日?[\sT]*(?:(?:星期"
    r"|周)[一二三四五六日天])?\s*(?:上午|下午|晚上|早上)?\s*\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:Z"
    r"|[+-]\d\d:?\d\d)?\s*[\])】]?\s*[-–|]?\s*"
)


def without_code(text: str) -> str:
    """`text` without code, addresses and mail addresses."""
    if "`" in text or "~~~" in text:
        text = _INLINE_CODE.sub(" ", _FENCE.sub("\n", text))
    if "://" in text or "www." in text or "@" in text:
        text = _URL.sub(" ", text)
    return text


def own_lines(text: str) -> tuple[list[str], Counter[str]]:
    """The lines of `text` that its author wrote as prose, and what was left out, by reason."""
    dropped: Counter[str] = Counter()
    if len(text) > MAX_CHARS:
        text, dropped["too_long"] = text[:MAX_CHARS], 1
    if _BOOT.match(text):
        dropped["boot_text"] = 1
        return [], dropped
    if "<" in text:
        text, blocks = _BLOCK.subn("\n", text)
        if blocks:
            dropped["echoed"] += blocks
    lines: list[str] = []
    echoing = False
    for raw in without_code(text).splitlines():
        line = _TIMESTAMP_PREFIX.sub("", raw).strip() if raw[:16].strip(" [(【")[:1].isdigit() else raw.strip()
        if not line:
            echoing = False
        elif _ECHO_HEADING.match(line):
            echoing = True
            dropped["echoed"] += 1
        elif echoing or _ECHO_LINE.match(line):
            dropped["echoed"] += 1
        elif line.startswith((">", "|", "$ ", "#!")) or _ROLE_LINE.match(line):
            dropped["quoted"] += 1
        elif _TOP_CODE.search(line):
            dropped["code"] += 1
        else:
            lines.append(line.lstrip("-*•·#").strip())
    return lines, dropped
