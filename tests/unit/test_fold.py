"""The fold of decision records: what every reader of the decisions topic derives from it."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.fold import apply, superseded_ids
from schemas.memory import ACTIVE, SUPERSEDED, DecisionRecord, Memory
from schemas.scope import Scope
from tests.strategies import histories, memory, record, redeliveries

LIN = Scope("acme", "user", "lin")


def fold(records: list[DecisionRecord]) -> dict[str, Memory]:
    memories: dict[str, Memory] = {}
    for each in records:
        apply(memories, each)
    return memories


@given(histories([LIN]))
def test_a_record_applied_twice_changes_nothing_the_second_time(history: list[DecisionRecord]) -> None:
    memories = fold(history)
    before = dict(memories)
    for each in history:
        assert apply(memories, each) == []
    assert memories == before


@given(st.data())
def test_redelivery_leads_to_the_same_memories(data: st.DataObject) -> None:
    history = data.draw(histories([LIN]))
    memories: dict[str, Memory] = {}
    for batch in data.draw(redeliveries(history)):
        for each in batch:
            apply(memories, each)
    assert memories == fold(history)


@given(histories([LIN]))
def test_scope_seq_of_a_memory_never_falls(history: list[DecisionRecord]) -> None:
    memories: dict[str, Memory] = {}
    for each in [*history, *reversed(history)]:
        before = dict(memories)
        changed = apply(memories, each)
        for memory_id, old in before.items():
            assert memories[memory_id].scope_seq >= old.scope_seq
        assert {new.memory_id for new in changed} == {
            memory_id for memory_id, new in memories.items() if before.get(memory_id) != new
        }


@given(histories([LIN]))
def test_what_is_superseded_names_its_successor_and_stays_superseded(history: list[DecisionRecord]) -> None:
    memories: dict[str, Memory] = {}
    successors: dict[str, str | None] = {}
    for each in history:
        apply(memories, each)
        for target in superseded_ids(each):
            assert memories[target].status == SUPERSEDED
        for memory_id, successor in successors.items():
            assert memories[memory_id].superseded_by == successor
        successors = {m.memory_id: m.superseded_by for m in memories.values() if m.status == SUPERSEDED}
        assert None not in successors.values()


@given(histories([LIN]))
def test_validity_only_shrinks_and_never_ends_before_it_begins(history: list[DecisionRecord]) -> None:
    memories: dict[str, Memory] = {}
    for each in history:
        before = {memory_id: m.valid_until for memory_id, m in memories.items()}
        apply(memories, each)
        for memory_id, now in memories.items():
            earlier = before.get(memory_id)
            if earlier is not None:
                assert now.valid_until is not None
                assert now.valid_until <= earlier
            assert now.valid_until is None or now.valid_until >= now.valid_from


@given(histories([LIN]))
def test_no_version_is_lost(history: list[DecisionRecord]) -> None:
    assert fold(history).keys() == {image.memory_id for each in history for image in each.memories}


def test_a_late_import_takes_its_place_in_the_middle_of_a_history() -> None:
    oslo = memory(LIN, "oslo", 1, valid_from=10)
    bergen = memory(LIN, "bergen", 2, valid_from=30, supersedes=["oslo"])
    paris = memory(
        LIN,
        "paris",
        3,
        valid_from=20,
        valid_until=30,
        status=SUPERSEDED,
        superseded_by="bergen",
        supersedes=["oslo"],
    )
    memories = fold([record(LIN, [each]) for each in (oslo, bergen, paris)])
    assert [memories[place].valid_until for place in ("oslo", "paris", "bergen")] == [20, 30, None]
    assert memories["oslo"].superseded_by == "bergen"
    assert memories["bergen"].status == ACTIVE


def test_a_memory_may_be_made_and_superseded_in_one_record() -> None:
    memories = fold([record(LIN, [memory(LIN, "a", 1), memory(LIN, "b", 2, supersedes=["a"])])])
    assert memories["a"].status == SUPERSEDED
    assert memories["a"].superseded_by == "b"
    assert memories["b"].status == ACTIVE


def test_a_target_that_is_not_there_is_ignored() -> None:
    assert list(fold([record(LIN, [memory(LIN, "a", 1, supersedes=["gone"])])])) == ["a"]
