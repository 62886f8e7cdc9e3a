"""Random streams of windows: what must hold whatever is said, in whatever order it arrives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.verdict import Verdict
from schemas import fold
from schemas.candidates import Candidate
from schemas.memory import ACTIVE, MERGE, SKIP, STORE, UPDATE, DecisionRecord, Memory
from streams.decisions.pool import Vectors
from streams.decisions.resolve import build_record, memory_id, resolve_by_rules
from tests.resolving import NOW, said, window, year

untimed = settings(deadline=None)

SLOTS = ("", "lin|home", "lin|job", "ana|home")
TOWNS = ("Oslo", "Bergen", "Hamar")
SAID = ("Lin lives in {}", "Lin moved to {}", "Lin does not live in {}", "林住在{}")

candidates = st.builds(
    lambda slot, form, town, at, since, message: said(
        form.format(town), slot, year(at), f"{message}@{at}", event_at=year(at - since)
    ),
    st.sampled_from(SLOTS),
    st.sampled_from(SAID),
    st.sampled_from(TOWNS),
    st.integers(2015, 2024),
    st.sampled_from((0, 0, 0, 3)),
    st.integers(0, 3),
)
streams = st.lists(st.lists(candidates, max_size=4), max_size=8)
Window = list[Candidate]


def vectors_for(heard: Window) -> Vectors:
    """A vector a text, stable: sentences of one form lie close."""
    rows = [[1.0 + len(candidate.text), float(ord(candidate.text[-1]) % 7), 1.0] for candidate in heard]
    return np.array(rows, dtype=np.float32).reshape(len(heard), 3)


def decide(stream: list[Window]) -> tuple[list[DecisionRecord], list[dict[str, Memory]]]:
    """The records of a stream decided by the rules, and what is known after each."""
    known: dict[str, Memory] = {}
    records, states, next_seq = [], [], 1
    for number, heard in enumerate(stream):
        before = dict(known)
        record = resolve_by_rules(window(f"w{number}", heard), known, vectors_for(heard), next_seq, NOW + number)
        assert known == before  # a policy touches nothing that it was given
        fold.apply(known, record)
        next_seq += len(record.decisions)
        records.append(record)
        states.append(dict(known))
    return records, states


def last_said(memory: Memory) -> int:
    return max(memory.valid_from, *(source.sent_at for source in memory.sources))


@untimed
@given(streams)
def test_deciding_is_deterministic(stream: list[Window]) -> None:
    assert decide(stream) == decide(stream)


@untimed
@given(streams)
def test_scope_seq_counts_every_decision_and_images_follow_it(stream: list[Window]) -> None:
    records, _ = decide(stream)
    decisions = [decision for record in records for decision in record.decisions]
    assert [decision.scope_seq for decision in decisions] == list(range(1, len(decisions) + 1))
    assert len(decisions) == sum(map(len, stream))
    for record in records:
        seqs = [image.scope_seq for image in record.memories]
        assert seqs == sorted(set(seqs))
        assert set(seqs) <= {decision.scope_seq for decision in record.decisions}


@untimed
@given(streams, st.data())
def test_folding_again_from_any_record_gives_the_same_memories(stream: list[Window], data: st.DataObject) -> None:
    records, states = decide(stream)
    again = dict(states[-1]) if states else {}
    for record in records[data.draw(st.integers(0, len(records))) :]:
        assert fold.apply(again, record) == []
    assert not states or again == states[-1]


@untimed
@given(streams)
def test_each_decision_names_a_memory_that_the_fold_holds(stream: list[Window]) -> None:
    records, states = decide(stream)
    for record, state in zip(records, states, strict=True):
        for decision in record.decisions:
            assert decision.memory_id in state
            assert set(decision.target_ids) <= state.keys()


@untimed
@given(streams)
def test_a_slot_has_one_active_memory_and_none_is_lost_without_an_active_successor(stream: list[Window]) -> None:
    _, states = decide(stream)
    for state in states:
        active = [memory.slot for memory in state.values() if memory.slot and memory.status == ACTIVE]
        assert len(active) == len(set(active))
        for memory in state.values():
            seen = set()
            while memory.status != ACTIVE:
                assert memory.memory_id not in seen
                seen.add(memory.memory_id)
                memory = state[memory.superseded_by or ""]  # noqa: PLW2901


@untimed
@given(streams)
def test_what_was_said_first_never_takes_the_place_of_what_was_said_later(stream: list[Window]) -> None:
    _, states = decide(stream)
    for earlier, later in zip([{}, *states], states, strict=False):
        for id_, memory in later.items():
            known = earlier.get(id_)
            if known is not None and known.status == ACTIVE and memory.status != ACTIVE:
                successor = later[memory.superseded_by or ""]
                assert successor.valid_from >= known.valid_from
                assert last_said(successor) >= last_said(known)
    if states:
        for memory in states[-1].values():
            assert memory.valid_until is None or memory.valid_until >= memory.valid_from


@untimed
@given(streams)
def test_every_sentence_that_was_said_is_a_source_of_a_memory_of_its_slot(stream: list[Window]) -> None:
    _, states = decide(stream)
    kept = {source.message_id for memory in (states[-1] if states else {}).values() for source in memory.sources}
    assert kept == {source.message_id for heard in stream for candidate in heard for source in candidate.sources}


@untimed
@given(st.permutations(range(10)), st.lists(st.sampled_from(TOWNS), min_size=10, max_size=10))
def test_a_slots_active_value_is_the_last_said_whatever_order_it_arrives_in(order: list[int], towns: list[str]) -> None:
    # No two neighbours alike, so that each statement is a change
    story = [
        said(f"Lin lives in {town}", "lin|home", year(2000 + place))
        for place, town in enumerate(towns)
        if place == 0 or town != towns[place - 1]
    ]
    _, states = decide([[story[place]] for place in order if place < len(story)])
    (active,) = [memory for memory in states[-1].values() if memory.status == ACTIVE]
    assert active.text == story[-1].text


@untimed
@given(streams, st.data())
def test_whatever_a_model_answers_the_fold_is_the_draft_and_no_newer_fact_is_lost(
    stream: list[Window], data: st.DataObject
) -> None:
    known: dict[str, Memory] = {}
    next_seq = 1
    for number, heard in enumerate(stream):
        named = window(f"w{number}", heard)
        ids = [*known, *(memory_id(named.scope, named.window_id, index) for index in range(len(heard))), "m0"]
        verdicts = data.draw(
            st.lists(
                st.builds(
                    Verdict,
                    st.integers(-1, 4),
                    st.sampled_from([STORE, UPDATE, SKIP, MERGE, "drop"]),
                    st.lists(st.sampled_from(ids), max_size=3),
                    st.sampled_from(["", "Lin lives somewhere"]),
                    priority=st.none() | st.integers(-5, 500),
                ),
                max_size=5,
            )
        )
        before = dict(known)
        record = build_record(named, verdicts, known, vectors_for(heard), next_seq, NOW, "conflict", "m", "p@1")
        fold.apply(known, record)
        next_seq += len(heard)
        assert len(record.decisions) == len(heard)
        for id_, memory in before.items():
            if memory.status == ACTIVE and known[id_].status != ACTIVE:
                successor = known[known[id_].superseded_by or ""]
                assert successor.valid_from >= memory.valid_from
        for memory in known.values():
            assert -1 <= memory.priority <= 100
            seen = set()
            while memory.status != ACTIVE:
                assert memory.memory_id not in seen
                seen.add(memory.memory_id)
                memory = known[memory.superseded_by or ""]  # noqa: PLW2901
