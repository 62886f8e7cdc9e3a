"""One session as windowing keeps it: the open window, what came before, and its record.

The record (`schemas.window.Session`) is all that outlives the process. It is built from here, and
a session is built from it again; nothing in between is written.
"""

from collections import deque
from hashlib import blake2b
from operator import add, attrgetter

import msgspec
from msgspec.structs import replace

from schemas import wire
from schemas.compiled import Unchanging
from schemas.inbox import Arrived
from schemas.window import Cut, Filtered, Session, Turn, Window
from streams.messages.noise import clip
from streams.windows.replay import Pending

BACKGROUND_CHARS = 500
"""Background is there to be glanced at; it is copied into every cut, so a long text is clipped."""

_RUN_LENGTH = 64
_ID_BYTES = 8
_in_order = attrgetter("sent_at", "offset")


class OpenWindow:
    """A window that still takes messages. Turns and filtered offsets are in order of arrival.

    `heads` and `extras` are the turns' bodies in two halves, as `schemas.wire` has them.
    `hold` is its first inbox offset that no session record covers yet, None where all are covered.
    """

    __slots__ = (
        "extras", "filtered", "first_append", "first_offset", "heads", "hold", "in_order", "last_append", "latest_sent",
        "tokens", "turns", "user_turns",
    )  # fmt: skip

    def __init__(self, first_offset: int, first_append: int) -> None:
        self.first_offset = first_offset
        self.first_append = first_append
        self.last_append = first_append
        self.latest_sent = 0
        self.turns: list[Turn] = []
        self.heads: list[bytes] = []
        self.extras: list[bytes] = []
        self.in_order = True
        self.filtered: list[Filtered] = []
        self.user_turns = 0
        self.tokens = 0
        self.hold: int | None = None

    def keep(self, turn: Turn, cost: int, head: bytes, extras: bytes) -> None:
        self.turns.append(turn)
        self.heads.append(head)
        self.extras.append(extras)
        self.tokens += cost
        self.last_append = turn.appended_at
        if turn.sent_at >= self.latest_sent:
            self.latest_sent = turn.sent_at
        else:
            self.in_order = False
        if turn.role == "user":
            self.user_turns += 1

    def drop(self, offset: int, reason: str) -> None:
        # A filtered message costs one token, so that a flood of noise cannot grow a window without end.
        # It leaves `last_append` alone: heartbeats do not keep a silent session awake.
        self.filtered.append(Filtered(offset, reason))
        self.tokens += 1

    def sort(self) -> None:
        """From the order of arrival into that of the turns' own time."""
        if not self.in_order:
            order = sorted(range(len(self.turns)), key=lambda i: _in_order(self.turns[i]))
            self.turns = [self.turns[i] for i in order]
            self.heads = [self.heads[i] for i in order]
            self.extras = [self.extras[i] for i in order]

    def unchanging(self) -> Unchanging:
        """The turns so far."""
        return Unchanging(self.turns, list(map(add, self.heads, self.extras)))


class LiveSession:
    """A session in memory. Every message up to the inbox offset `accounted` is in its record.

    `due` is when to look at it again (partition time), `held_since` when its window began to hold
    the partition back (the clock that `PartitionWindows.spill` is given).
    """

    __slots__ = (
        "_background", "_heard", "_run", "accounted", "due", "held_since", "key", "known", "open", "pending", "recent",
        "record",
    )  # fmt: skip

    def __init__(self, key: bytes, record: Session) -> None:
        self.key = key
        self.record = record
        heads = map(wire.head_of, record.background)
        self._background = record.background = Unchanging(record.background, [head + wire.BARE for head in heads])
        self.accounted = max(record.closed_through, record.spilled_through)
        self.recent = deque(_split(record.recent_ids))
        self.known = set(self.recent)
        self.open = _reopened(record)
        self.pending: deque[Pending] = deque()
        self.due = 0
        self.held_since = 0
        self._heard: Turn | None = None
        self._run: dict[str, int] = {}
        for turn in (*record.background, *record.spilled):
            self.heard(turn)

    def remember(self, id_hash: bytes, horizon: int) -> None:
        if horizon and id_hash not in self.known:
            self.known.add(id_hash)
            self.recent.append(id_hash)
            if len(self.recent) > horizon:
                self.known.discard(self.recent.popleft())

    def repeats(self, message: Arrived, text: str, within: int) -> bool:
        """Has this speaker said `text` within so many milliseconds, and nobody spoken since?"""
        last = self._heard
        if last is None or last.role != message.role or last.speaker != message.speaker:
            return False
        said = self._run.get(text)
        return said is not None and abs(message.sent_at - said) <= within

    def heard(self, turn: Turn) -> None:
        last, run = self._heard, self._run
        if last is None or last.role != turn.role or last.speaker != turn.speaker or len(run) >= _RUN_LENGTH:
            run.clear()
        self._heard = turn
        run[turn.text] = turn.sent_at

    def spill(self, position: int) -> Session:
        """The record with the open window's messages in it, for an early acknowledgement."""
        if self.open is not None:
            self.open.hold = None
        self.accounted = self.record.spilled_through = max(position - 1, self.accounted)
        return self.snapshot()

    def close(self, reason: str, at: int, position: int, background: int) -> tuple[Cut, list[Turn], int | None]:
        """End the open window before `position`, the next inbox offset: its cut, all its turns, its hold."""
        window, record = self.open, self.record
        if window is None:
            raise ValueError(f"session {self.key!r} has no open window")
        last_offset = max(each[-1].offset for each in (window.turns, window.filtered) if each)
        window.sort()
        turns = window.unchanging()
        cut = Cut(
            window_id=_window_id(record, window.first_offset, window.first_append or at),
            ordinal=record.next_ordinal,
            first_offset=window.first_offset,
            last_offset=last_offset,
            included=[turn.offset for turn in turns],
            filtered=window.filtered,
            spilled=[turn for turn in turns if turn.offset <= record.spilled_through],
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
            self._background = record.background = _background(self._background, window, background)
        return cut, turns, window.hold

    def snapshot(self) -> Session:
        """The record as it has to be written now; it shares no list that changes later."""
        window = self.open
        spilled = window is not None and window.hold is None
        return replace(
            self.record,
            cuts=list(self.record.cuts),
            spilled=window.unchanging() if window and spilled else [],
            spilled_filtered=list(window.filtered) if window and spilled else [],
            recent_ids=b"".join(self.recent),
        )


def window_of(record: Session, cut: Cut, turns: list[Turn], partition: int) -> Window:
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


def turn_of(offset: int, append_time: int, m: Arrived, text: str) -> Turn:
    """A message as a window holds it, with the text that noise left of it."""
    return Turn(
        offset, m.message_id, m.role, m.speaker, text, m.sent_at, append_time, m.time_zone, m.kind, m.attachments,
        m.attributes,
    )  # fmt: skip


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
    return tokens(text) + len(extras) // 4


def id_hash_of(message_id: str) -> bytes:
    """What is remembered of a message id: 8 bytes."""
    return blake2b(message_id.encode(), digest_size=_ID_BYTES).digest()


def _window_id(record: Session, first_offset: int, first_append: int) -> str:
    # The append time is in it so that no id comes again where a topic was lost and offsets restart.
    parts = msgspec.json.encode((record.next_ordinal, first_offset, first_append))
    return "w" + blake2b(record.scope.session_key(record.session_id) + parts, digest_size=16).hexdigest()[:31]


def _reopened(record: Session) -> OpenWindow | None:
    if not record.spilled and not record.spilled_filtered:
        return None
    offsets = [each[0].offset for each in (record.spilled, record.spilled_filtered) if each]
    window = OpenWindow(min(offsets), record.spilled[0].appended_at if record.spilled else 0)
    for turn in record.spilled:
        extras = wire.extras_of(turn)
        window.keep(turn, cost(turn.text, extras), wire.head_of(turn), extras)
    window.filtered = list(record.spilled_filtered)
    window.tokens += len(window.filtered)
    return window


def _split(hashes: bytes) -> list[bytes]:
    return [hashes[start : start + _ID_BYTES] for start in range(0, len(hashes), _ID_BYTES)]


def _background(before: Unchanging, window: OpenWindow, length: int) -> Unchanging:
    """The last turns of a session whose window is sorted: what the next one can glance at."""
    glances, bodies = list(before), list(before.bodies)
    for turn, head in zip(window.turns[-length:], window.heads[-length:], strict=True):
        glance = Turn(
            turn.offset, turn.message_id, turn.role, turn.speaker, clip(turn.text, BACKGROUND_CHARS), turn.sent_at,
            turn.appended_at, turn.time_zone, turn.kind,
        )  # fmt: skip
        glances.append(glance)
        bodies.append((head if glance.text is turn.text else wire.head_of(glance)) + wire.BARE)
    return Unchanging(glances[-length:], bodies[-length:])
