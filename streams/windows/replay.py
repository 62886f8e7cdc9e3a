"""Recorded cuts after a restart: which may not be out, and what they still lack."""

from schemas.window import Cut, Session, Turn


class LostRecords(RuntimeError):
    """A recorded cut names messages that did not come again: the partition must not go on in silence."""


class Pending:
    """A recorded cut, until the messages that its record does not hold have been read again."""

    __slots__ = ("cut", "hold", "missing", "turns")

    def __init__(self, cut: Cut) -> None:
        known = {turn.offset for turn in cut.spilled}
        self.cut = cut
        self.turns = list(cut.spilled)
        self.missing = {offset for offset in cut.included if offset not in known}
        self.hold: int | None = None

    def take(self, turn: Turn) -> bool:
        """Add a turn that was read again; whether it is the first, which has to hold its offset."""
        self.missing.remove(turn.offset)
        self.turns.append(turn)
        first = self.hold is None
        if first:
            self.hold = turn.offset
        return first

    def lost(self) -> LostRecords:
        return LostRecords(f"window {self.cut.window_id} lacks the inbox offsets {sorted(self.missing)[:5]}")


def not_proved_out(record: Session, position: int) -> list[Pending]:
    """The record's cuts, without those that a commit at `position` proves to be out.

    Nothing is committed past a window that is not confirmed: neither past a message of its own that
    no record held, nor past the position where it closed. That position is not recorded as such,
    but lies at most at the start of the next window, or at the end of what the record has closed.
    """
    closings = [cut.first_offset for cut in record.cuts[1:]] + [record.closed_through + 1]
    return [
        pending
        for pending, closing in zip(map(Pending, record.cuts), closings, strict=False)
        if closing >= position and min(pending.missing, default=position) >= position
    ]
