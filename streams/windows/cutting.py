"""When a window ends, and which messages stay out of it: the rules, over plain values."""

from schemas.inbox import Arrived
from streams.settings import Windowing
from streams.windows.sessions import LiveSession, OpenWindow

TURNS = "turns"
TOKENS = "tokens"
IDLE = "idle"
GAP = "gap"
AGE = "age"
END_SESSION = "end-session"

DUPLICATE = "duplicate"
REPEAT = "repeat"


class Rules:
    """The settings as decisions. Times are epoch milliseconds."""

    def __init__(self, settings: Windowing) -> None:
        self.idle = int(settings.idle_seconds * 1000)
        self.spill_after = int(settings.spill_seconds * 1000)
        self.spill_offsets = settings.spill_offsets
        self.horizon = settings.dedup_horizon
        self.background = settings.background_turns
        self._age = int(settings.max_age_seconds * 1000)
        self.shortest = min(self.idle, self._age)
        self._repeat = int(settings.repeat_seconds * 1000)
        self._budget = settings.token_budget
        self._warm_up = settings.warm_up_turns
        self._user_turns = settings.user_turns

    def expired(self, window: OpenWindow, now: int) -> str:
        """What ends a window beyond its deadline: it is silent, or open, for too long, in append time."""
        return IDLE if now - window.last_append > self.idle else AGE

    def deadline(self, window: OpenWindow) -> int:
        """The last moment of a window to which nothing more comes."""
        silent, old = window.last_append + self.idle, window.first_append + self._age
        return silent if silent < old else old  # noqa: FURB136 (per message: no call)

    def ends_before(self, window: OpenWindow, sent_at: int, cost: int) -> str | None:
        """Whether a turn belongs to the next window: a gap in event time, or no room left.

        Only forward gaps count, from the latest event so far: a late message joins and is sorted in,
        it does not tear a conversation in two. A turn larger than the budget gets a window to itself.
        """
        if not window.kept:
            return None
        if sent_at - window.latest_sent > self.idle:
            return GAP
        return TOKENS if window.tokens + cost > self._budget else None

    def wanted(self, ordinal: int) -> int:
        """How many user turns fill the session's window of this ordinal."""
        return self._warm_up[ordinal] if ordinal < len(self._warm_up) else self._user_turns

    def ends_after(self, window: OpenWindow) -> str | None:
        """Whether the window is full with what it holds now."""
        if window.user_turns >= window.wanted:
            return TURNS
        return TOKENS if window.tokens >= self._budget else None

    def left_out(self, live: LiveSession, message: Arrived, id_hash: bytes) -> str | None:
        """The reason to filter a message, None to keep it."""
        if message.noise:
            return message.noise
        if id_hash in live.known:
            return DUPLICATE
        if (message.text == live.last or live.run) and live.repeats(message, self._repeat):
            return REPEAT
        return None
