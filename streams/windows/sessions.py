"""One session as windowing keeps it: the open window, what came before, and its record.

The record (`schemas.window.Session`) is all that outlives the process. It is built from here, and
a session is built from it again; nothing in between is written.
"""

from collections.abc import Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace
from xxhash import xxh3_64_digest

from schemas import wire
from schemas.inbox import Arrived
from schemas.window import Cut, Filtered, Session, Turn, Window
from streams.messages.noise import clip
from streams.windows.replay import Pending

BACKGROUND_CHARS = 500
"""Background is there to be glanced at; it is copied into every cut, so a long text is clipped."""

_RUN_LENGTH = 64
_in_order = attrgetter("sent_at", "offset")


Kept = tuple[int, int, bytes, bytes]
"""A turn of an open window: its time and offset, which it is sorted by, and its body in two halves (`schemas.wire`)."""


class OpenWindow:
    """A window that still takes messages. `kept` and `filtered` are in order of arrival.

    `hold` is its first inbox offset that no session record covers yet, None where all are covered.
    `wanted` is the number of user turns that fill it.
    """

    __slots__ = (
        "filtered", "first_append", "first_offset", "hold", "kept", "last_append", "latest_sent",
        "tokens", "user_turns", "wanted",
    )  # fmt: skip

    def __init__(self, first_offset: int, first_append: int, wanted: int = 0) -> None:
        self.wanted = wanted
        self.first_offset = first_offset
        self.first_append = first_append
        self.last_append = first_append
        self.latest_sent = 0
        self.kept: list[Kept] = []
        self.filtered: list[Filtered] = []
        self.user_turns = 0
        self.tokens = 0
        self.hold: int | None = None

    def keep(self, turn: Kept, appended_at: int, role: str, cost: int) -> None:
        self.kept.append(turn)
        self.tokens += cost
        self.last_append = appended_at
        self.latest_sent = max(self.latest_sent, turn[0])
        if role == "user":
            self.user_turns += 1

    def drop(self, offset: int, reason: str) -> None:
        # A filtered message costs one token, so that a flood of noise cannot grow a window without end.
        # It leaves `last_append` alone: heartbeats do not keep a silent session awake.
        self.filtered.append(Filtered(offset, reason))
        self.tokens += 1

    def turns(self) -> Sequence[Turn]:
        """The turns so far, in order of arrival."""
        return wire.turns([head + extras for _, _, head, extras in self.kept])


class Keys(NamedTuple):
    """The record keys of a session's windows and of its own record."""

    scope: bytes
    session: bytes


class LiveSession:
    """A session in memory. Every message up to the inbox offset `accounted` is in its record.

    `known` has the hashes of message ids, the oldest first; a set beside a queue would be twice the memory.
    `last` is what was said last, `run` what the same speaker said right before and when, if anything.
    `due` is when to look at it again (partition time), `held_since` when its window began to hold
    the partition back (the clock that `PartitionWindows.spill` is given).
    """

    __slots__ = (
        "_background", "_last_at", "_role", "_speaker", "accounted", "due", "held_since", "keys", "known", "last",
        "open", "pending", "place",
        "record", "run",
    )  # fmt: skip

    def __init__(self, place: bytes, record: Session) -> None:
        self.place = place
        self.record = record
        scope = record.scope
        self.keys = Keys(scope.key, scope.session_key(record.session_id))
        self.accounted = max(record.closed_through, record.spilled_through)
        self.known = dict.fromkeys(_split(record.recent_ids))
        self.open = _reopened(record)
        self.pending: list[Pending] = []
        self.due = 0
        self.held_since = 0
        self._role = self._speaker = self.last = ""
        self._last_at = 0
        self.run: dict[str, int] | None = None
        for turn in (*record.background, *record.spilled):
            self.heard(turn.role, turn.speaker, turn.text, turn.sent_at)
        self._background = tuple(wire.head_of(turn) + wire.BARE for turn in record.background)
        record.background = wire.turns(self._background)

    def remember(self, id_hash: bytes, horizon: int) -> None:
        """Keep the hash of an id that is not known, and forget the oldest beyond the horizon."""
        self.known[id_hash] = None
        if len(self.known) > horizon:
            del self.known[next(iter(self.known))]

    def repeats(self, message: Arrived, within: int) -> bool:
        """Has this speaker said the same within so many milliseconds, and nobody spoken since?"""
        text = message.text
        if not text or message.role != self._role or message.speaker != self._speaker:
            return False
        said = self._last_at if text == self.last else self.run.get(text) if self.run else None
        return said is not None and abs(message.sent_at - said) <= within

    def heard(self, role: str, speaker: str, text: str, sent_at: int) -> None:
        if role != self._role or speaker != self._speaker:
            self._role, self._speaker = role, speaker
            self.run = None
        else:
            if self.run is None or len(self.run) >= _RUN_LENGTH:
                self.run = {}
            self.run[self.last] = self._last_at
        self.last = text
        self._last_at = sent_at

    def spill(self, position: int) -> Session:
        """The record with the open window's messages in it, for an early acknowledgement."""
        if self.open is not None:
            self.open.hold = None
        self.accounted = self.record.spilled_through = max(position - 1, self.accounted)
        return self.snapshot()

    def close(self, reason: str, at: int, position: int, background: int) -> tuple[Cut, Sequence[Turn], OpenWindow]:
        """End the open window before `position`, the next inbox offset: its cut, all its turns, and itself."""
        window, record = self.open, self.record
        if window is None:
            raise ValueError(f"session {self.keys.session!r} has no open window")
        ends = [kept[1] for kept in window.kept[-1:]] + [item.offset for item in window.filtered[-1:]]
        window.kept.sort()
        turns = window.turns()
        before = record.spilled_through
        cut = Cut(
            window_id=self._window_id(window.first_offset, window.first_append or at),
            ordinal=record.next_ordinal,
            first_offset=window.first_offset,
            last_offset=max(ends),
            included=[offset for _, offset, _, _ in window.kept],
            filtered=window.filtered,
            spilled=[turn for turn in turns if turn.offset <= before] if before >= window.first_offset else [],
            background=record.background,
            close_reason=reason,
            closed_at=at,
        )
        self.open = None
        record.cuts.append(cut)
        record.next_ordinal += 1
        # Up to the position, not to the last message: a committed offset beyond it then proves that
        # the window went out, even where a spill had let go of all its messages long before.
        self.accounted = record.closed_through = max(position - 1, self.accounted)
        if background:
            glances = (*self._background, *map(_glance, window.kept[-background:]))
            self._background = glances[-background:]
            record.background = wire.turns(self._background)
        return cut, turns, window

    def _window_id(self, first_offset: int, first_append: int) -> str:
        # The append time is in it so that no id comes again where a topic was lost and offsets restart.
        parts = b"%b[%d,%d,%d]" % (self.keys.session, self.record.next_ordinal, first_offset, first_append)
        return "w" + blake2b(parts, digest_size=16).hexdigest()[:31]

    def snapshot(self) -> Session:
        """The record as it has to be written now; it shares no list that changes later."""
        window = self.open
        spilled = window is not None and window.hold is None
        return replace(
            self.record,
            cuts=list(self.record.cuts),
            spilled=window.turns() if window and spilled else [],
            spilled_filtered=list(window.filtered) if window and spilled else [],
            recent_ids=b"".join(self.known),
        )


def window_of(record: Session, cut: Cut, turns: Sequence[Turn], partition: int) -> Window:
    """The window of a cut: the same value each time, whatever was computed or read again.

    `turns` are in order of their own time.
    """
    return Window(
        tenant=record.tenant,
        scope_kind=record.scope_kind,
        scope_id=record.scope_id,
        session_id=record.session_id,
        window_id=cut.window_id,
        ordinal=cut.ordinal,
        partition=partition,
        first_offset=cut.first_offset,
        last_offset=cut.last_offset,
        turns=turns,
        background=cut.background,
        filtered=cut.filtered,
        close_reason=cut.close_reason,
        closed_at=cut.closed_at,
    )


def in_order(turns: list[Turn]) -> list[Turn]:
    """In order of their own time."""
    return sorted(turns, key=_in_order)


def turn_of(offset: int, append_time: int, message: Arrived) -> Turn:
    """A message as a window holds it."""
    return wire.turn(wire.head(offset, append_time, message.words) + message.extras)


def tokens(text: str) -> int:
    """About how many tokens: one a CJK, kana or hangul character, one per 4 ASCII letters; 1 at least.

    Counted by UTF-8 bytes, so that accents, Cyrillic and emoji lie between, as they do in tokenizers.
    """
    if text.isascii():
        return len(text) // 4 + 1
    wide = (len(text.encode()) - len(text)) // 2
    return wide + max(len(text) - wide, 0) // 4 + 1


def cost(text: str, extras: bytes) -> int:
    """Tokens of all that a turn carries: links and attributes too, since they bound the record's size."""
    if text.isascii():  # as `tokens` has it, without another call
        return len(text) // 4 + 1 + len(extras) // 4
    return tokens(text) + len(extras) // 4


def id_hash_of(message_id: str) -> bytes:
    """What is remembered of a message id: 8 bytes. Whoever makes two ids collide loses messages of their own."""
    return xxh3_64_digest(message_id.encode())


def _reopened(record: Session) -> OpenWindow | None:
    if not record.spilled and not record.spilled_filtered:
        return None
    offsets = [turn.offset for turn in record.spilled] + [item.offset for item in record.spilled_filtered]
    window = OpenWindow(min(offsets), record.spilled[0].appended_at if record.spilled else 0)
    for turn in record.spilled:
        extras = wire.extras_of(turn)
        kept = turn.sent_at, turn.offset, wire.head_of(turn), extras
        window.keep(kept, turn.appended_at, turn.role, cost(turn.text, extras))
    window.filtered = list(record.spilled_filtered)
    window.tokens += len(window.filtered)
    return window


def _split(hashes: bytes) -> list[bytes]:
    return [hashes[start : start + 8] for start in range(0, len(hashes), 8)]


def _glance(kept: Kept) -> bytes:
    """The body of a turn as the next window's background has it."""
    _, _, head, _ = kept
    if len(head) > BACKGROUND_CHARS:
        turn = wire.turn(head + wire.BARE)
        head = wire.head_of(replace(turn, text=clip(turn.text, BACKGROUND_CHARS)))
    return head + wire.BARE
