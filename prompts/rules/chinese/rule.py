"""A row of the tables of lasting facts."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`pattern` reads a clause without its subject; its groups fill the templates, the subject `{s}`."""

    pattern: re.Pattern[str]
    text: str
    key: str
    attribute: str
    tag: str
    priority: int


def rule(pattern: str, text: str, key: str, attribute: str, tag: str, priority: int = 70) -> Rule:
    return Rule(re.compile(rf"^{pattern}$"), text, key, attribute, tag, priority)
