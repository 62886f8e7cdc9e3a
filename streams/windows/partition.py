"""The windows of one inbox partition: a state machine over plain values, with no clock of its own.

What makes it safe to kill at any moment:

- A `Closed` carries the session record with the window's cut; it is written before the window goes
  out. A restart finds the cut, reads the messages again and emits the very same window.
- The inbox may be committed up to `low_watermark`: below every message that is neither in a window
  known to be out nor in a session record known to be written.
- What a record accounts for (`closed_through`, `spilled_through`) is never decided anew.

A session without an open window rests as one packed record (8 bytes a remembered message id
plus its background), and wakes with its next message. None is forgotten: without its ordinal and
`closed_through` a session would begin again at zero, and a replay would cut its messages twice.
"""

import heapq
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from schemas import wire
from schemas.inbox import Arrived, InboxCommand
from schemas.window import Session, Window
from streams.settings import Windowing
from streams.windows import cutting
from streams.windows.holds import Holds
from streams.windows.replay import not_proved_out
from streams.windows.sessions import Keys, LiveSession, OpenWindow, cost, id_hash_of, in_order, turn_of, window_of


class Closed(NamedTuple):
    """A window to emit once `session` is written; None where its cut is on the topic already.

    Of several for one session only the last record need be written: it holds the earlier cuts.
    """

    session: Session | None
    window: Window
    keys: Keys


class PartitionWindows:
    """All sessions of one partition. Times are epoch milliseconds, `append_time` is the inbox record's.

    `partition_time` is the largest append time seen, or the wall clock where a caller who had
    nothing left to read gave it to `tick`.
    """

    def __init__(self, settings: Windowing, partition: int) -> None:
        self.partition_time = 0
        self._rules = cutting.Rules(settings)
        self._partition = partition
        self._position = 0
        self._clock: int | None = None
        self._live: dict[bytes, LiveSession] = {}
        self._resting: dict[bytes, bytes] = {}
        self._deadlines: list[tuple[int, int, LiveSession]] = []
        self._sequence = count()
        self._holds = Holds()

    @property
    def open_count(self) -> int:
        return sum(live.open is not None for live in self._live.values())

    def restore(self, sessions: Iterable[Session], position: int) -> list[Closed]:
        """Take over session records before the first message; `position` is the offset it will have.

        Returns recorded windows that may not be out and need no message to be read again. Cuts that
        `position` proves to be out are dropped: nothing is committed past a window that is not.
        """
        self._position = position
        again: list[Closed] = []
        for record in sessions:
            key = wire.place_of(record)
            pending = not_proved_out(record, position)
            kept = replace(record, cuts=[each.cut for each in pending])
            if not pending and not record.spilled and not record.spilled_filtered:
                self._resting[key] = wire.packed(kept)
                continue
            live = self._live[key] = LiveSession(key, kept)
            live.pending.extend(pending)
            if live.open is not None:
                live.open.wanted = self._rules.wanted(kept.next_ordinal)
            self._watch(live, self._rules.deadline(live.open) if live.open else 0)
            again += self._emit_again(live)
        return again

    def add(self, offset: int, append_time: int, message: Arrived) -> list[Closed]:
        """Take the message at `offset`; the windows it closes, oldest first. Raises LostRecords."""
        if offset < self._position:
            return []
        if append_time > self.partition_time:  # noqa: PLR1730 (per message: no call)
            self.partition_time = append_time
        rules = self._rules
        live = self._live.get(message.place) or self._session(message.place)
        if offset <= live.accounted:
            self._position = offset + 1
            return self._read_again(live, offset, append_time, message)
        if live.pending:
            raise live.pending[0].lost()
        # Until the message is in a window, the position stays before it: a window that closes now
        # ends before the message, and its session record must not know of it.
        self._position = offset
        closed: list[Closed] = []
        id_hash = id_hash_of(message.message_id)
        reason = rules.left_out(live, message, id_hash)
        window = live.open
        # No window ends before the shorter of the two limits: mostly this asks no further.
        if (
            window is not None
            and append_time - window.first_append > rules.shortest
            and append_time > rules.deadline(window)
        ):
            closed.append(self._close(live, rules.expired(window, append_time)))
            window = None
        if reason is None:
            sent_at, text, extras = message.sent_at, message.text, message.extras
            weight = cost(text, extras)
            if window is not None and (ended := rules.ends_before(window, sent_at, weight)):
                closed.append(self._close(live, ended))
                window = None
            if window is None or window.hold is None:
                window = self._window(live, offset, append_time)
            head = wire.head(offset, append_time, message.words)
            window.keep((sent_at, offset, head, extras), append_time, message.role, weight)
            live.heard(message.role, message.speaker, text, sent_at)
        else:
            window = self._window(live, offset, append_time)
            window.drop(offset, reason)
        if reason != cutting.DUPLICATE:
            live.remember(id_hash, rules.horizon)
        self._position = offset + 1
        if ended := rules.ends_after(window):
            closed.append(self._close(live, ended))
        return closed

    def end_session(self, offset: int, append_time: int, command: InboxCommand) -> list[Closed]:
        """Close the session's open window, if there is one."""
        if offset < self._position:
            return []
        self._position = offset + 1
        self.partition_time = max(self.partition_time, append_time)
        live = self._session(wire.place_of(command))
        # A record that reaches beyond the command is of a later window, which it must not end.
        if live.open is None or offset <= live.accounted:
            return []
        return [self._close(live, cutting.END_SESSION)]

    def tick(self, partition_time: int) -> list[Closed]:
        """Close what is idle or too old by `partition_time`: the wall clock only where all has been read."""
        now = self.partition_time = max(self.partition_time, partition_time)
        closed: list[Closed] = []
        while self._deadlines and self._deadlines[0][0] < now:
            due, _, live = heapq.heappop(self._deadlines)
            if due != live.due:
                continue
            if live.open is not None and not live.pending:
                if now > self._rules.deadline(live.open):
                    closed.append(self._close(live, self._rules.expired(live.open, now)))
                else:
                    self._watch(live, self._rules.deadline(live.open))
                    continue
            elif live.open is None and not live.record.cuts:
                self._rest(live)
                continue
            self._watch(live, now + self._rules.idle)
        return closed

    def spill(self, position: int, now: int) -> list[Session]:
        """Records of open windows that hold the partition back too long; write them, then call `spilled`.

        `position` as for `low_watermark`. `now` is any clock in milliseconds that goes on steadily.
        """
        self._position = max(self._position, position)
        if self._clock is None:
            for _, live in self._holds.waiting():
                live.held_since = now
        self._clock = now
        records = []
        for offset, live in self._holds.waiting():
            if now - live.held_since <= self._rules.spill_after and position - offset <= self._rules.spill_offsets:
                break
            self._holds.spill(offset)
            records.append(live.spill(self._position))
        return records

    def spilled(self) -> None:
        """All records that `spill` returned are on their topic."""
        self._holds.spilled()

    def confirmed(self, window_id: str) -> None:
        """The window is on its topic: its messages hold nothing any more, its cut leaves the session's record."""
        live = self._holds.confirmed(window_id)
        live.record.cuts = [cut for cut in live.record.cuts if cut.window_id != window_id]

    def low_watermark(self, position: int) -> int:
        """Every offset below may be committed. `position` is the one after the last record that is done with.

        Records below it that never came here (dead letters) count as done.
        """
        self._position = max(self._position, position)
        return self._holds.lowest(position)

    def _session(self, key: bytes) -> LiveSession:
        live = self._live.get(key)
        if live is None:
            packed = self._resting.pop(key, None)
            record = wire.session_at(key) if packed is None else wire.unpacked(packed)
            live = self._live[key] = LiveSession(key, record)
            self._watch(live, self.partition_time + self._rules.idle)
        return live

    def _rest(self, live: LiveSession) -> None:
        del self._live[live.place]
        live.due = -1  # whatever deadline of it is still in the heap
        if live.record.next_ordinal:
            self._resting[live.place] = wire.packed(live.snapshot())

    def _window(self, live: LiveSession, offset: int, append_time: int) -> OpenWindow:
        window = live.open
        if window is None:
            window = live.open = OpenWindow(offset, append_time, self._rules.wanted(live.record.next_ordinal))
            deadline = self._rules.deadline(window)
            if deadline < live.due:
                self._watch(live, deadline)
        if window.hold is None:
            window.hold = offset
            live.held_since = self._clock or 0
            self._holds.take(offset, live)
        return window

    def _watch(self, live: LiveSession, due: int) -> None:
        # One deadline a session, moved when it is reached and not at each message.
        live.due = due
        heapq.heappush(self._deadlines, (due, next(self._sequence), live))

    def _close(self, live: LiveSession, reason: str) -> Closed:
        cut, turns, window = live.close(reason, self.partition_time, self._position, self._rules.background)
        self._holds.closed(cut.window_id, live, window.hold, self._position)
        return Closed(live.snapshot(), window_of(live.record, cut, turns, self._partition), live.keys)

    def _read_again(self, live: LiveSession, offset: int, append_time: int, message: Arrived) -> list[Closed]:
        for each in live.pending:
            if offset in each.missing:
                if each.take(turn_of(offset, append_time, message)):
                    self._holds.take(offset, live)
                break
        return self._emit_again(live)

    def _emit_again(self, live: LiveSession) -> list[Closed]:
        closed = []
        while live.pending and not live.pending[0].missing:
            each = live.pending.pop(0)
            self._holds.closed(each.cut.window_id, live, each.hold, self._position)
            window = window_of(live.record, each.cut, in_order(each.turns), self._partition)
            closed.append(Closed(None, window, live.keys))
        return closed
