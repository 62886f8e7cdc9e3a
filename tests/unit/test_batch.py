"""What a batch of records makes of the stored rows, without a store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.fold import apply
from schemas.memory import ACTIVE, SUPERSEDED, Memory
from schemas.scope import Scope
from sinks.batch import ScopeError, fold_batch, touched_ids
from sinks.upkeep import COMMITS, due
from tests.strategies import histories, memory, record, redeliveries

LIN = Scope("acme", "user", "lin")
OTHER_LIN = Scope("globex", "user", "lin")


@given(st.data())
def test_batches_over_fetched_rows_add_up_to_the_fold(data: st.DataObject) -> None:
    history = data.draw(histories([LIN, OTHER_LIN]))
    stored: dict[str, Memory] = {}
    for batch in data.draw(redeliveries(history)):
        known = [stored[memory_id] for memory_id in touched_ids(batch) if memory_id in stored]
        stored.update((changed.memory_id, changed) for changed in fold_batch(known, batch))
    folded: dict[str, Memory] = {}
    for each in history:
        apply(folded, each)
    assert stored == folded


def test_a_batch_gives_each_memory_once() -> None:
    a, b = memory(LIN, "a", 1), memory(LIN, "b", 2, supersedes=["a"])
    changed = fold_batch([], [record(LIN, [a]), record(LIN, [b])])
    assert [(each.memory_id, each.status) for each in changed] == [("a", SUPERSEDED), ("b", ACTIVE)]


def test_a_redelivered_image_does_not_hide_the_stored_one_from_a_later_record() -> None:
    old = memory(LIN, "a", 1)
    kept = memory(LIN, "a", 5, text="with another source")
    later = memory(LIN, "b", 6, supersedes=["a"])
    changed = {each.memory_id: each for each in fold_batch([kept], [record(LIN, [old]), record(LIN, [later])])}
    assert changed["a"].text == "with another source"
    assert changed["a"].superseded_by == "b"


def test_a_record_never_supersedes_another_scopes_memory() -> None:
    foreign = memory(OTHER_LIN, "a", 1)
    changed = fold_batch([foreign], [record(LIN, [memory(LIN, "b", 2, supersedes=["a"])])])
    assert [each.memory_id for each in changed] == ["b"]


def test_an_id_that_another_scope_holds_is_refused() -> None:
    with pytest.raises(ScopeError, match="memory a"):
        fold_batch([memory(OTHER_LIN, "a", 1)], [record(LIN, [memory(LIN, "a", 2)])])
    with pytest.raises(ScopeError, match="memory a"):
        fold_batch([], [record(LIN, [memory(LIN, "a", 2)]), record(OTHER_LIN, [memory(OTHER_LIN, "a", 3)])])


def test_an_image_of_another_scope_than_its_record_is_refused() -> None:
    with pytest.raises(ScopeError, match="window w2"):
        fold_batch([], [record(LIN, [memory(OTHER_LIN, "a", 2)])])


def test_a_table_is_due_after_enough_commits_and_a_large_one_later() -> None:
    assert not due(COMMITS - 1, rows=0)
    assert due(COMMITS, rows=1000)
    assert not due(COMMITS, rows=1_000_000)
    assert due(200, rows=1_000_000)
