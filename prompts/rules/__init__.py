"""The offline extractor: what people plainly state about themselves, found by rules, without a model."""

from prompts.rules.strategy import RulesStrategy

__all__ = ["RulesStrategy"]
