"""Chinese: a sentence in, facts in the third person out."""

from prompts.rules.chinese.reading import read, taken_back

__all__ = ["read", "taken_back"]
