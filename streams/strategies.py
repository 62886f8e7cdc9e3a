"""Which strategy and which model the settings choose."""

from prompts.client import Call, ModelClient
from prompts.embedder import UniversalSentenceEmbedder
from prompts.rules.strategy import RulesStrategy
from prompts.scenes import ScenesStrategy
from prompts.strategy import Strategy
from streams import metrics
from streams.settings import Model, Settings, SettingsError, variable

DIMENSIONS = UniversalSentenceEmbedder.dimensions
"""Length of a memory's vector, as the tables are made for it."""


def strategy_for(settings: Settings) -> Strategy:
    """The extraction strategy. Raises SettingsError where it needs a model and none is named."""
    if settings.extraction.strategy == "rules":
        return RulesStrategy()
    return ScenesStrategy(model_client(settings.model, "extraction strategy scenes"))


def model_client(model: Model, purpose: str) -> ModelClient:
    """A client for the configured model. Raises SettingsError where none is named."""
    if not model.name:
        raise SettingsError(f"{purpose} needs a model: set {variable('model', 'name')}")
    return ModelClient(
        model.name,
        base_url=model.base_url,
        api_key=model.api_key.get_secret_value() if model.api_key else None,
        timeout=model.timeout,
        retries=model.retries,
        on_call=_count,
    )


def _count(call: Call) -> None:
    metrics.MODEL_CALLS.labels(call.prompt, call.outcome).inc()
    metrics.MODEL_TOKENS.labels(call.prompt, "prompt").inc(call.usage.prompt_tokens)
    metrics.MODEL_TOKENS.labels(call.prompt, "completion").inc(call.usage.completion_tokens)
    metrics.MODEL_SECONDS.labels(call.prompt).observe(call.seconds)
