"""What one partition's scopes are known to hold: the fold of its decision records, in memory."""

from collections.abc import Iterable, Mapping

from schemas import fold
from schemas.memory import DecisionRecord, Memory
from schemas.scope import Scope


class Knowledge:
    """Memories, decided windows and the next `scope_seq` of every scope of a partition."""

    def __init__(self) -> None:
        self._memories: dict[Scope, dict[str, Memory]] = {}
        self._decided: set[str] = set()
        self._last_seq: dict[Scope, int] = {}

    @classmethod
    def of(cls, records: Iterable[DecisionRecord]) -> "Knowledge":
        """Fold records as a compacted topic gives them back: in order by scope, whatever their offsets.

        Compaction and rewriting move a record to a later offset, so offsets tell nothing here.
        """
        knowledge = cls()
        for record in sorted(records, key=_first_seq):
            knowledge.apply(record)
        return knowledge

    def decided(self, window_id: str) -> bool:
        """Whether the window has its record: then a redelivery is dropped."""
        return window_id in self._decided

    def memories(self, scope: Scope) -> Mapping[str, Memory]:
        """The scope's memories by id, superseded ones included."""
        return self._memories.get(scope, {})

    def next_seq(self, scope: Scope) -> int:
        return self._last_seq.get(scope, 0) + 1

    def apply(self, record: DecisionRecord) -> None:
        scope = record.scope
        self._decided.add(record.window_id)
        if record.decisions:
            last = record.decisions[-1].scope_seq
            self._last_seq[scope] = max(self._last_seq.get(scope, 0), last)
        if record.memories:
            fold.apply(self._memories.setdefault(scope, {}), record)


def _first_seq(record: DecisionRecord) -> int:
    return record.decisions[0].scope_seq if record.decisions else 0
