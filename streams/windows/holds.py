"""Which inbox offsets may not be committed yet, and for the sake of which session."""

from collections.abc import Iterator

from streams.windows.sessions import LiveSession


class Holds:
    """Holds of one partition. A hold at an offset keeps the low watermark from passing it.

    Each is set at the partition's current position, so that both dicts are in rising order and the
    first entry is the lowest: the watermark costs nothing however many windows are open.
    """

    def __init__(self) -> None:
        self._by_offset: dict[int, LiveSession] = {}
        self._by_closing: dict[str, int] = {}
        self._unconfirmed: dict[str, tuple[LiveSession, int | None]] = {}
        self._spilling: list[int] = []

    def take(self, offset: int, live: LiveSession) -> None:
        """The message at `offset` is in no session record yet."""
        self._by_offset[offset] = live

    def closed(self, window_id: str, live: LiveSession, hold: int | None, position: int) -> None:
        """A window closed. Without a hold of its own (all spilled) it holds the position until confirmed."""
        self._unconfirmed[window_id] = (live, hold)
        if hold is None:
            self._by_closing[window_id] = position

    def confirmed(self, window_id: str) -> LiveSession:
        """Let go of a window that is on its topic. Raises KeyError for one that was never closed."""
        live, hold = self._unconfirmed.pop(window_id)
        if hold is None:
            del self._by_closing[window_id]
        else:
            del self._by_offset[hold]
        return live

    def waiting(self) -> Iterator[tuple[int, LiveSession]]:
        """Holds of open windows, lowest first."""
        for offset, live in self._by_offset.items():
            if live.open is not None and live.open.hold == offset:
                yield offset, live

    def spill(self, offset: int) -> None:
        self._spilling.append(offset)

    def spilled(self) -> None:
        for offset in self._spilling:
            del self._by_offset[offset]
        self._spilling.clear()

    def lowest(self, position: int) -> int:
        return min(
            position,
            next(iter(self._by_offset), position),
            next(iter(self._by_closing.values()), position),
        )
