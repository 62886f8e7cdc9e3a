"""Strategy `scenes`: a model splits a window into named scenes and says what to remember of each."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from prompts.answers import ids_of, parse_records, text_of
from prompts.client import ModelClient
from prompts.fields import EPISODIC, PERSONA, SCENE_TYPES, priority_of, shown_time, times_of, type_of, zone_of
from prompts.language import language_of, language_of_users
from prompts.strategy import Extracted
from prompts.templates import Prompt, load
from schemas.candidates import Candidate, Scene, Source
from schemas.window import Turn, Window

TEMPLATE = "scenes.extract"
DEFAULT_PRIORITY = 60
LONGEST_NAME = 200
"""Characters of a scene's name; it goes into the next prompt and into every row."""

_SCENE_FIELDS = ("scene_name", "message_ids", "memories")
_MEMORY_FIELDS = ("content", "type", "source_message_ids")


class ScenesStrategy:
    """Extraction by one model call a window. Raises ModelOutage and UnusableAnswer (`prompts/client.py`)."""

    name = "scenes"

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self.model = client.model
        self.prompt = load(TEMPLATE, "en").label

    async def extract(self, window: Window, scene_name: str) -> Extracted:
        """Scenes of `window` in the model's order, every turn in exactly one; without turns no model is asked."""
        if not window.turns:
            return Extracted([], {})
        reply = await self._client.ask(
            render(window, scene_name), lambda text, truncated: read(text, truncated, window, scene_name)
        )
        return reply.value


def render(window: Window, scene_name: str) -> Prompt:
    """The prompt for `window`, in the language of its users. Background has no ids: nothing can be cited from it."""
    return load(TEMPLATE, language_of_users(window.turns)).render(
        previous_scene=scene_name,
        background=[_shown(turn) for turn in window.background],
        messages=[{"id": turn.message_id} | _shown(turn) for turn in window.turns],
    )


def read(text: str, truncated: bool, window: Window, scene_name: str) -> Extracted:
    """A model's answer under our contract; a scene without a name is taken as `scene_name` going on.

    Raises UnparsableError where there is no record in it at all.
    """
    records = parse_records(text, _SCENE_FIELDS + _MEMORY_FIELDS, truncated=truncated)
    dropped = records.dropped
    shown = {turn.message_id: turn for turn in window.turns}
    scenes: list[Scene] = []
    taken: set[str] = set()
    for item in _as_scenes(records.items):
        ids = _known(item.get("message_ids"), shown, dropped)
        memories = item.get("memories")
        candidates = [
            candidate
            for memory in (memories if isinstance(memories, list) else [])
            if (candidate := _candidate(memory, ids, shown, window, dropped))
        ]
        ids += [source.message_id for candidate in candidates for source in candidate.sources]
        own = [id_ for id_ in shown if id_ in ids and id_ not in taken]
        taken.update(own)
        if own or candidates:
            name = " ".join(text_of(item.get("scene_name")).split())[:LONGEST_NAME]
            scenes.append(Scene(name or scene_name, own, candidates))
        else:
            dropped["empty_scene"] += 1
    return Extracted(_complete(scenes, shown, taken, scene_name, dropped), dict(dropped))


def _shown(turn: Turn) -> dict[str, object]:
    time = shown_time(turn.sent_at, zone_of(turn.time_zone))
    shown: dict[str, object] = {"role": turn.role, "speaker": turn.speaker, "time": time}
    if turn.attachments:
        shown["attachments"] = [{"type": a.type, "name": a.name or ""} for a in turn.attachments]
    return shown | {"text": turn.text}


def _as_scenes(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Scenes as they are; memories that came without scenes around them, as one scene."""
    if items and not any(field in item for item in items for field in ("memories", "message_ids")):
        memories = [item for item in items if "content" in item]
        return [{"memories": memories}] if memories else items
    return items


def _known(value: object, shown: Mapping[str, Turn], dropped: Counter[str]) -> list[str]:
    ids = ids_of(value)
    known = [id_ for id_ in ids if id_ in shown]
    if len(known) < len(ids):
        dropped["unknown_id"] += len(ids) - len(known)
    return known


def _candidate(
    memory: object, scene_ids: list[str], shown: Mapping[str, Turn], window: Window, dropped: Counter[str]
) -> Candidate | None:
    text = text_of(memory.get("content")) if isinstance(memory, dict) else ""
    if not isinstance(memory, dict) or not text:
        dropped["no_content"] += 1
        return None
    named = memory.get("source_message_ids")
    ids = _known(named, shown, dropped)
    if not ids_of(named):
        # Said to rest on nothing: then on all of its scene, so that a forget of any part reaches it.
        dropped["sources_missing"] += 1
        ids = scene_ids
    turns = [turn for id_, turn in shown.items() if id_ in ids]
    spoken = [turn for turn in turns if turn.role == "user"]
    if not spoken:
        dropped["no_user_source" if turns else "no_source"] += 1
        return None
    start, end = times_of(memory.get("metadata"), zone_of(spoken[0].time_zone), dropped)
    type_ = type_of(memory.get("type"), SCENE_TYPES, PERSONA if start is end is None else EPISODIC, dropped)
    speaker = spoken[0].speaker
    return Candidate(
        text=text,
        type=type_,
        event_at=max(turn.sent_at for turn in turns),
        sources=[
            Source(window.session_id, turn.message_id, turn.offset, turn.sent_at, window.window_id) for turn in turns
        ],
        priority=priority_of(memory.get("priority"), type_, DEFAULT_PRIORITY, dropped),
        # The contract has no field for it, and only a name that stands in the text is certain.
        subject=speaker if speaker and speaker.casefold() in text.casefold() else "",
        speaker=speaker,
        language=language_of(text),
        activity_start=start,
        activity_end=end,
    )


def _complete(
    scenes: list[Scene], shown: Mapping[str, Turn], taken: set[str], scene_name: str, dropped: Counter[str]
) -> list[Scene]:
    """`scenes` with every message that none has in the last one."""
    left = [id_ for id_ in shown if id_ not in taken]
    if not scenes:
        dropped["no_scene"] += 1
        return [Scene(scene_name, left, [])]
    if left:
        dropped["unassigned_message"] += len(left)
        last = scenes[-1]
        last.message_ids = [id_ for id_ in shown if id_ in last.message_ids or id_ in left]
    return scenes
