"""What the memories must be: the same pure functions, in one process, over the recorded windows."""

import asyncio

from prompts.embedder import UniversalSentenceEmbedder
from prompts.rules.strategy import RulesStrategy
from prompts.strategy import Extracted
from schemas.codec import Codec
from schemas.memory import Memory
from schemas.scope import Scope
from schemas.window import Window
from streams.decisions.knowledge import Knowledge
from streams.decisions.resolve import resolve_by_rules
from streams.extraction import candidates_of
from topics.catalogue import SCENES
from topics.reader import read_topic

ANY_TIME = 0


def recorded_windows(bootstrap_servers: str) -> list[Window]:
    """The windows on the scenes topic, each once, in the order of their first sending a partition."""
    codec = Codec()
    first: dict[str, Window] = {}
    for message in read_topic(bootstrap_servers, SCENES.name):
        window = codec.decode(message.value(), Window)
        first.setdefault(window.window_id, window)
    return list(first.values())


def expected_memories(windows: list[Window]) -> dict[Scope, dict[str, Memory]]:
    """All memories by scope and id, superseded ones included; times of processing are `ANY_TIME`."""
    return asyncio.run(_expected(windows))


async def _expected(windows: list[Window]) -> dict[Scope, dict[str, Memory]]:
    strategy, embedder, knowledge = RulesStrategy(), UniversalSentenceEmbedder(), Knowledge()
    scene_names: dict[bytes, str] = {}
    for window in windows:
        session = window.scope.session_key(window.session_id)
        name = scene_names.get(session, "")
        extracted = await strategy.extract(window, name) if window.turns else Extracted([])
        scenes = extracted.scenes
        scene_names[session] = scenes[-1].name if scenes else name
        candidates = candidates_of(window, strategy, extracted, ANY_TIME)
        vectors = embedder.embed([candidate.text for scene in scenes for candidate in scene.candidates])
        scope = window.scope
        knowledge.apply(
            resolve_by_rules(candidates, knowledge.memories(scope), vectors, knowledge.next_seq(scope), ANY_TIME)
        )
    return {scope: dict(knowledge.memories(scope)) for scope in {window.scope for window in windows}}
