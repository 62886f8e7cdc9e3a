"""What a batch of decision records makes of the rows it touches. Pure."""

from collections.abc import Iterable, Sequence

from schemas.fold import apply, superseded_ids
from schemas.memory import DecisionRecord, Memory
from schemas.scope import Scope
from sinks.rows import scope_of


class ScopeError(ValueError):
    """A memory id belongs to two scopes, or an image to another scope than its record."""


def touched_ids(records: Iterable[DecisionRecord]) -> set[str]:
    """The memories whose stored versions `fold_batch` must know."""
    touched: set[str] = set()
    for record in records:
        # The images' own ids too: a redelivered image must lose to the version that is stored,
        # or a later record of the batch would supersede the stale one.
        touched |= superseded_ids(record)
        touched.update(image.memory_id for image in record.memories)
    return touched


def fold_batch(known: Iterable[Memory], records: Sequence[DecisionRecord]) -> list[Memory]:
    """The rows that `records` change, each memory once, given the stored versions of `touched_ids`.

    Empty where the batch was applied before. A target in another scope is no target: it stays as
    it is. Raises ScopeError where writing would put one scope's memory in another's place.
    """
    scopes: dict[Scope, dict[str, Memory]] = {}
    holders: dict[str, Scope] = {}
    for memory in known:
        scope = holders[memory.memory_id] = scope_of(memory)
        scopes.setdefault(scope, {})[memory.memory_id] = memory
    changed: dict[str, Memory] = {}
    for record in records:
        scope = record.scope
        for image in record.memories:
            if scope_of(image) != scope or holders.setdefault(image.memory_id, scope) != scope:
                raise ScopeError(f"memory {image.memory_id} of window {record.window_id} is another scope's")
        changed.update((memory.memory_id, memory) for memory in apply(scopes.setdefault(scope, {}), record))
    return list(changed.values())
