"""What resolution knows of its scopes: the fold of the decisions topic, in whatever order it comes back."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import DecisionRecord
from schemas.scope import Scope
from streams.decisions.knowledge import Knowledge
from tests.resolving import Scope as HeardScope
from tests.resolving import said, year

LIN = Scope("t", "user", "lin")


def history() -> list[DecisionRecord]:
    """Records of one scope: a place that changes twice, a fact said again, a window without a candidate."""
    scope = HeardScope()
    scope.hear(said("Lin lives in Oslo.", "lin|home", year(2020)), said("Lin loves ramen."))
    scope.hear()
    scope.hear(said("Lin lives in Bergen.", "lin|home", year(2021)))
    scope.hear(said("Lin loves ramen.", message_id="again"), said("Lin lives in Porto.", "lin|home", year(2022)))
    return scope.records


RECORDS = history()


def test_an_empty_scope_starts_at_one_and_knows_nothing() -> None:
    knowledge = Knowledge()
    assert knowledge.next_seq(LIN) == 1
    assert knowledge.memories(LIN) == {}
    assert not knowledge.decided("w0")


def test_records_as_they_are_made_and_as_they_are_restored_are_one_knowledge() -> None:
    live = Knowledge()
    for record in RECORDS:
        live.apply(record)
    restored = Knowledge.of(RECORDS)
    assert restored.memories(LIN) == live.memories(LIN)
    assert restored.next_seq(LIN) == live.next_seq(LIN) == 1 + sum(len(record.decisions) for record in RECORDS)


@given(st.permutations(RECORDS))
def test_the_order_in_which_a_compacted_topic_returns_records_does_not_matter(shuffled: list[DecisionRecord]) -> None:
    knowledge = Knowledge.of(shuffled)
    assert knowledge.memories(LIN) == Knowledge.of(RECORDS).memories(LIN)
    assert knowledge.next_seq(LIN) == Knowledge.of(RECORDS).next_seq(LIN)


def test_a_window_without_a_decision_is_decided_too() -> None:
    knowledge = Knowledge.of(RECORDS)
    assert RECORDS[1].decisions == []
    assert all(knowledge.decided(record.window_id) for record in RECORDS)
    assert not knowledge.decided("another")


def test_a_decision_that_changes_no_row_still_takes_its_number() -> None:
    scope = HeardScope()
    scope.hear(said("Lin loves ramen."))
    (skip,) = scope.hear(said("Lin loves ramen.")).decisions
    assert skip.action == "skip"
    assert scope.records[-1].memories == []
    assert Knowledge.of(scope.records).next_seq(LIN) == skip.scope_seq + 1


def test_scopes_know_nothing_of_each_other() -> None:
    knowledge = Knowledge.of(RECORDS)
    for other in (Scope("u", "user", "lin"), Scope("t", "team", "lin"), Scope("t", "user", "Lin")):
        assert knowledge.memories(other) == {}
        assert knowledge.next_seq(other) == 1
