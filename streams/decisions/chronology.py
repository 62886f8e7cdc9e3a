"""Event time: which of two statements is the older one, and where a late one belongs among the versions of a slot."""

from collections.abc import Collection, Iterable

from schemas.candidates import Candidate, Source
from schemas.memory import SUPERSEDED, Memory


def is_older(candidate: Candidate, memory: Memory) -> bool:
    """Whether `candidate` may not take the place of `memory`: it became true earlier, or was last said earlier.

    The second matters where a memory of 2020 was said again in 2024, and a statement of 2022 arrives after that.
    """
    if candidate.event_at < memory.valid_from:
        return True
    return _last_said(candidate.event_at, candidate.sources) < _last_said(memory.valid_from, memory.sources)


def neighbours(
    candidate: Candidate, versions: Iterable[Memory], in_place: Collection[Memory]
) -> tuple[Memory | None, Memory]:
    """The superseded version before a late candidate in event time, if any, and the one that follows it.

    `in_place` holds the memories that are newer than the candidate; at least one.
    """
    before: list[Memory] = []
    after: list[Memory] = []
    for version in versions:
        if version.valid_from > candidate.event_at:
            after.append(version)
        elif version.status == SUPERSEDED:
            before.append(version)
    last = max(before, key=_order, default=None)
    return last, min(after, key=_order) if after else max(in_place, key=_order)


def end_of_history(candidate: Candidate, successor: Memory) -> int:
    """Until when (epoch ms) a late candidate held: its successor's start, or when that was said again."""
    times = (successor.valid_from, *(source.sent_at for source in successor.sources))
    if successor.valid_from > candidate.event_at:
        return successor.valid_from
    return min((at for at in times if at > candidate.event_at), default=candidate.event_at)


def _last_said(event_at: int, sources: Iterable[Source]) -> int:
    return max((source.sent_at for source in sources), default=event_at)


def _order(memory: Memory) -> tuple[int, int]:
    return memory.valid_from, memory.scope_seq
