"""What every extraction strategy offers, whether a model stands behind it or not."""

from typing import Protocol

import msgspec

from schemas.candidates import Scene
from schemas.window import Window


class Extracted(msgspec.Struct, frozen=True):
    """What one window gave: its scenes, and how many parts were dropped, by reason."""

    scenes: list[Scene]
    dropped: dict[str, int] = {}


class Strategy(Protocol):
    """Turns a window into scenes with candidate memories.

    `name` is the strategy, `model` who answered (`rules` where nobody did), `prompt` is `id@version`:
    all three end up in the provenance of every memory.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def prompt(self) -> str: ...

    async def extract(self, window: Window, scene_name: str) -> Extracted:
        """The scenes of `window`; `scene_name` is that of the session's previous scene, or empty.

        Raises only what is worth a retry (an outage, a timeout); whatever a model answers is handled.
        """
        ...
