"""A row of the tables of lasting facts."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`pattern` reads a third-person predicate; its groups fill the templates, the subject `{s}`."""

    pattern: re.Pattern[str]
    text: str
    key: str
    attribute: str
    tags: tuple[str, ...]
    priority: int = 70


def rule(pattern: str, text: str, key: str, attribute: str, *tags: str, priority: int = 70) -> Rule:
    """A row whose pattern has to match a whole predicate."""
    return Rule(re.compile(rf"^{pattern}$"), text, key, attribute, tags, priority)
