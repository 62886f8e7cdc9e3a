import numpy as np
import pytest
from msgspec.structs import replace

from prompts.embedder import UniversalSentenceEmbedder
from prompts.verdict import Verdict
from schemas.memory import ACTIVE, MERGE, SKIP, STORE, SUPERSEDED, UPDATE
from streams.decisions.resolve import build_record, memory_id, resolve_by_rules
from streams.decisions.resolve_model import texts
from tests.resolving import NOW, Scope, no_vectors, said, window, year

HOME = "lin|home"


def actions(scope: Scope) -> list[str]:
    return [decision.action for record in scope.records for decision in record.decisions]


# --- the same fact -------------------------------------------------------------------------------


def test_the_same_fact_twice_in_one_scene_is_one_memory() -> None:
    scope = Scope()
    scope.hear(said("Lin likes tea", message_id="1"), said("lin likes TEA.", message_id="2"))
    (memory,) = scope.memories.values()
    assert [source.message_id for source in memory.sources] == ["1", "2"]
    assert [(d.scope_seq, d.action, d.memory_id) for d in scope.records[0].decisions] == [
        (1, STORE, memory.memory_id),
        (2, SKIP, memory.memory_id),
    ]
    assert scope.records[0].decisions[1].reason == 'same fact as "Lin likes tea"'


@pytest.mark.parametrize("slot", ["", "lin|likes|tea"])
def test_the_same_fact_from_two_sessions_at_one_moment_is_one_memory(slot: str) -> None:
    scope = Scope()
    scope.hear(said("Lin likes tea", slot, message_id="1"), session_id="phone")
    scope.hear(said("Lin likes tea", slot, message_id="2"), session_id="laptop")
    assert scope.active() == ["Lin likes tea"]
    assert [source.message_id for source in scope.named("Lin likes tea").sources] == ["1", "2"]


def test_a_source_that_is_there_already_changes_nothing_but_the_decision_is_recorded() -> None:
    scope = Scope()
    fact = said("Lin likes tea", message_id="1")
    scope.hear(fact)
    before = dict(scope.memories)
    again = scope.hear(fact)
    assert [d.action for d in again.decisions] == [SKIP]
    assert again.memories == []
    assert scope.memories == before


def test_the_same_statements_published_again_change_nothing() -> None:
    scope = Scope()
    story = [
        said("Lin lives in Oslo", HOME, year(2020), "1"),
        said("Lin moved to Bergen", HOME, year(2022), "2"),
        said("Lin lives in Bergen", HOME, year(2023), "3"),
        said("Lin lives in Oslo", HOME, year(2024), "4"),
        said("Lin is 5 years old", "lin|age", year(2024), "5"),
        said("Lin is 6 years old", "lin|age", year(2024), "5"),
        said("Lin plays chess", at=year(2024), message_id="6"),
    ]
    scope.hear(*story)
    before = dict(scope.memories)
    for fact in story:
        assert scope.hear(fact).memories == []
    assert scope.memories == before


def test_the_same_words_about_another_person_or_another_day_are_another_fact() -> None:
    scope = Scope()
    scope.hear(said("likes tea", subject="lin"), said("likes tea", subject="ana"))
    scope.hear(
        said("Lin sees a dentist", activity_start=year(2024)), said("Lin sees a dentist", activity_start=year(2025))
    )
    scope.hear(said("Lin sails tomorrow", at=year(2023)), said("Lin sails tomorrow", at=year(2024)))
    assert len(scope.active()) == 6


def test_a_near_identical_sentence_is_skipped_and_a_negated_one_is_not_with_real_vectors() -> None:
    embedder = UniversalSentenceEmbedder()
    known = "Lin plays the violin in a small village orchestra"
    others = ["Lin plays violin in a village orchestra", "Lin does not play the violin in a small village orchestra"]
    candidates = window("w", [said(text) for text in [known, *others]])
    record = resolve_by_rules(candidates, {}, embedder.embed(texts(candidates)), 1, NOW)
    assert [decision.action for decision in record.decisions] == [STORE, SKIP, STORE]
    assert len(record.memories[0].vector) == 4 * 512


# --- changes -------------------------------------------------------------------------------------


def test_a_correction_in_a_new_session_supersedes_the_old_fact() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Oslo", HOME, year(2023), "1", tags=["home"], priority=80), session_id="phone")
    record = scope.hear(
        said("Lin moved from Oslo to Bergen", HOME, year(2024), "2", tags=["moving"]), session_id="laptop"
    )
    assert scope.active() == ["Lin moved from Oslo to Bergen"]
    new, old = scope.named("Lin moved from Oslo to Bergen"), scope.named("Lin lives in Oslo")
    assert record.decisions[0].reason == "home changed: Oslo → Bergen"
    assert record.memories == [new]  # never a second image of the old one
    assert new.supersedes == [old.memory_id]
    assert (old.status, old.superseded_by, old.valid_until) == (SUPERSEDED, new.memory_id, new.valid_from)
    assert [source.message_id for source in new.sources] == ["1", "2"]
    assert (new.created_at, new.decided_at) == (NOW, NOW + 1)
    assert (new.tags, new.priority, new.session_id) == (["home", "moving"], 80, "laptop")


def test_an_assignment_that_moved_is_no_longer_active() -> None:
    scope = Scope()
    scope.hear(said("Atlas belongs to Ana's team", "atlas|team", year(2023)))
    scope.hear(said("Atlas moved from Ana's team to Ben's team", "atlas|team", year(2024)))
    assert scope.active() == ["Atlas moved from Ana's team to Ben's team"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Lin likes coffee", "Lin doesn't like coffee", 'the opposite of "Lin likes coffee"'),
        ("Lin is 34 years old", "Lin is 35 years old", "thing changed: 34 → 35"),
        ("The review is on 3 May", "The review is on 5 May", "thing changed: 3 May → 5 May"),
        ("林住在奥斯陆", "林搬到了卑尔根", "thing changed: 奥斯陆 → 卑尔根"),
        ("Lin works at Hydro", "Lin works at Hydro as a cook", 'says more than "Lin works at Hydro"'),
    ],
)
def test_another_value_of_a_slot_takes_its_place_and_says_why(old: str, new: str, reason: str) -> None:
    scope = Scope()
    scope.hear(said(old, "lin|thing"))
    assert scope.hear(said(new, "lin|thing")).decisions[0].reason == reason
    assert scope.active() == [new]


def test_a_sentence_of_a_slot_that_says_less_is_skipped() -> None:
    scope = Scope()
    scope.hear(said("Lin works at Hydro as a cook", "lin|job"))
    scope.hear(said("Lin works at Hydro", "lin|job"))
    assert actions(scope) == [STORE, SKIP]


def test_a_plan_beside_a_name_and_a_liking_is_not_lost() -> None:
    scope = Scope()
    scope.hear(said("Tom is called Tom", "tom|name"), said("Tom likes skiing", "tom|likes|skiing"))
    scope.hear(said("Tom, likes skiing, skis this weekend"))
    assert len(scope.active()) == 3


def test_a_father_and_his_son_are_two_people() -> None:
    scope = Scope()
    scope.hear(said("林浩的名字是林浩", "林浩|name"), said("林浩的儿子叫林雨", "林浩|son's name"))
    scope.hear(said("Lin's name is Lin Hao"), said("Lin's son is called Lin Yu"))
    assert actions(scope) == [STORE] * 4


# --- event time ----------------------------------------------------------------------------------


def test_an_import_of_2021_after_memories_of_2024_supersedes_nothing_of_2024() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Bergen", HOME, year(2024)))
    record = scope.hear(said("Lin lives in Oslo", HOME, year(2021)))
    late, place = scope.named("Lin lives in Oslo"), scope.named("Lin lives in Bergen")
    assert place.status == ACTIVE
    assert (late.status, late.superseded_by, late.valid_until) == (SUPERSEDED, place.memory_id, year(2024))
    assert (record.decisions[0].action, record.decisions[0].reason) == (
        STORE,
        "older than what is known: kept as history",
    )


def test_a_late_version_takes_its_place_in_the_middle_of_a_history() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Oslo", HOME, year(2018)), said("Lin lives in Bergen", HOME, year(2024)))
    scope.hear(said("Lin lives in Hamar", HOME, year(2021)))
    oslo, hamar, bergen = (scope.named(f"Lin lives in {town}") for town in ("Oslo", "Hamar", "Bergen"))
    assert (oslo.valid_from, oslo.valid_until) == (year(2018), year(2021))
    assert (hamar.valid_from, hamar.valid_until, hamar.superseded_by) == (year(2021), year(2024), bergen.memory_id)
    assert (bergen.status, bergen.valid_from, bergen.valid_until) == (ACTIVE, year(2024), None)
    assert oslo.superseded_by == bergen.memory_id


def test_a_late_first_version_ends_where_the_next_one_begins() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Oslo", HOME, year(2018)), said("Lin lives in Bergen", HOME, year(2024)))
    scope.hear(said("Lin lives in Hamar", HOME, year(2016)))
    hamar = scope.named("Lin lives in Hamar")
    assert (hamar.valid_until, hamar.superseded_by) == (year(2018), scope.named("Lin lives in Oslo").memory_id)


def test_what_was_said_today_about_years_ago_is_as_old_as_what_it_tells_of() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Bergen", HOME, year(2022)))
    scope.hear(said("Lin moved to Oslo", HOME, year(2024), event_at=year(2015)))
    assert scope.active() == ["Lin lives in Bergen"]


def test_a_late_repeat_of_a_superseded_value_adds_its_source_to_that_version() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Oslo", HOME, year(2018)), said("Lin lives in Bergen", HOME, year(2024)))
    scope.hear(said("Lin lives in Oslo", HOME, year(2020), "late"))
    assert [source.message_id for source in scope.named("Lin lives in Oslo").sources][-1] == "late"
    assert scope.named("Lin lives in Oslo").valid_until == year(2024)
    assert len(scope.memories) == 2


def test_what_was_said_again_later_is_not_replaced_by_something_said_in_between() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Bergen", HOME, year(2020), "1"), said("Lin lives in Bergen", HOME, year(2024), "2"))
    scope.hear(said("Lin lives in Oslo", HOME, year(2022)))
    assert scope.active() == ["Lin lives in Bergen"]
    assert scope.named("Lin lives in Oslo").valid_until == year(2024)


# --- verdicts of a model -------------------------------------------------------------------------


def test_two_facts_that_both_update_one_old_record_survive_and_it_is_superseded_once() -> None:
    scope = Scope()
    scope.hear(said("Lin has a dog and a cat", "lin|pets"))
    old = scope.named("Lin has a dog and a cat").memory_id
    record = scope.judge(
        [said("Lin's dog is called Rex"), said("Lin's cat is called Tom")],
        Verdict(0, UPDATE, [old]),
        Verdict(1, UPDATE, [old]),
    )
    first, second = record.memories
    assert scope.active() == ["Lin's dog is called Rex", "Lin's cat is called Tom"]
    assert first.supersedes == second.supersedes == [old]
    assert scope.memories[old].superseded_by == first.memory_id
    assert (first.slot, second.slot) == ("lin|pets", "")  # a slot has one heir


def test_a_merge_keeps_sources_times_and_creation_of_all_sides() -> None:
    scope = Scope()
    scope.hear(said("Lin plays chess", at=year(2020), message_id="1", tags=["games"], priority=90))
    scope.hear(said("Lin plays go", at=year(2022), message_id="2", tags=["go"]))
    ids = list(scope.memories)
    verdict = Verdict(0, MERGE, ids, text="Lin plays chess, go and bridge", type="persona", priority=20)
    scope.judge([said("Lin plays bridge", at=year(2023), message_id="3")], verdict)
    merged = scope.named("Lin plays chess, go and bridge")
    assert scope.active() == [merged.text]
    assert [source.message_id for source in merged.sources] == ["1", "2", "3"]
    assert [source.sent_at for source in merged.sources] == [year(2020), year(2022), year(2023)]
    assert (merged.created_at, merged.valid_from, merged.priority) == (NOW, year(2023), 90)
    assert (merged.tags, merged.supersedes) == (["games", "go"], ids)
    assert (merged.policy, merged.model, merged.prompt, merged.strategy) == ("conflict", "m", "decide@1", "rules")


def test_an_absolute_rule_stays_absolute() -> None:
    scope = Scope()
    scope.hear(said("Answer in English", "lin|rule|answer language", priority=-1, type="instruction"))
    scope.hear(said("Answer in Chinese", "lin|rule|answer language", priority=70, type="instruction"))
    assert scope.named("Answer in Chinese").priority == -1
    scope.judge([said("Lin likes tea")], Verdict(0, STORE, [], priority=-1))
    assert scope.named("Lin likes tea").priority == 60


@pytest.mark.parametrize("action", [UPDATE, MERGE, SKIP, "erase"])
def test_a_verdict_on_a_memory_that_was_never_shown_becomes_a_store(action: str) -> None:
    scope = Scope()
    scope.judge([said("Lin likes tea")], Verdict(0, action, ["m12"], text="Lin likes everything"))
    assert (actions(scope), scope.active()) == ([STORE], ["Lin likes tea"])


def test_the_first_verdict_counts_and_a_candidate_without_one_is_stored() -> None:
    scope = Scope()
    scope.hear(said("Lin likes tea"))
    (known,) = scope.memories
    scope.judge(
        [said("Lin loves tea"), said("Lin has a cat")],
        Verdict(0, SKIP, [known]),
        Verdict(0, UPDATE, [known]),
        Verdict(7, UPDATE, [known]),
    )
    assert actions(scope) == [STORE, SKIP, STORE]
    assert scope.active() == ["Lin likes tea", "Lin has a cat"]


def test_a_model_cannot_make_an_older_statement_replace_a_newer_one() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Bergen", at=year(2024)))
    (place,) = scope.memories
    scope.judge([said("Lin lives in Oslo", at=year(2021))], Verdict(0, UPDATE, [place], text="Lin now lives in Oslo"))
    assert scope.active() == ["Lin lives in Bergen"]
    assert scope.named("Lin lives in Oslo").superseded_by == place


def test_a_model_cannot_replace_what_was_superseded_in_an_earlier_window() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Oslo", HOME, year(2020)), said("Lin lives in Bergen", HOME, year(2022)))
    old = scope.named("Lin lives in Oslo").memory_id
    scope.judge([said("Lin lives in Hamar", at=year(2023))], Verdict(0, UPDATE, [old]))
    assert actions(scope)[-1] == STORE


def test_a_candidate_can_be_set_against_one_before_it_in_its_window() -> None:
    scope = Scope()
    candidates = [said("Lin lives in Oslo"), said("Lin lives in Bergen")]
    first = memory_id(window("w0", []).scope, "w0", 0)
    scope.judge(candidates, Verdict(1, UPDATE, [first]), Verdict(0, UPDATE, [first]))  # itself: no target
    assert scope.active() == ["Lin lives in Bergen"]


def test_the_vector_of_a_merged_text_never_goes_with_another_text() -> None:
    scope = Scope()
    scope.hear(said("Lin lives in Bergen", at=year(2024)))
    (place,) = scope.memories
    verdict = Verdict(0, UPDATE, [place], text="Lin lives in Oslo now")
    late = window("w", [said("Lin lives in Oslo", at=year(2021))])
    new = replace(late, scenes=window("w", [said("Lin lives in Oslo", at=year(2025))]).scenes)
    assert texts(late, [verdict]) == ["Lin lives in Oslo now"]
    vectors = np.ones((1, 2), dtype=np.float32)
    (history,) = build_record(late, [verdict], scope.memories, vectors, 2, NOW, "conflict").memories
    (update,) = build_record(new, [verdict], scope.memories, vectors, 2, NOW, "conflict").memories
    assert (history.text, history.vector) == ("Lin lives in Oslo", b"")
    assert (update.text, update.vector) == ("Lin lives in Oslo now", vectors.tobytes())


# --- ids and shape -------------------------------------------------------------------------------


def test_memory_ids_are_opaque_stable_and_never_shared_between_tenants() -> None:
    ours, theirs = window("w", [], tenant="a").scope, window("w", [], tenant="b").scope
    assert memory_id(ours, "w", 0) == memory_id(ours, "w", 0)
    assert len({memory_id(ours, "w", 0), memory_id(ours, "w", 1), memory_id(theirs, "w", 0)}) == 3
    assert len(memory_id(ours, "w", 0)) == 32


def test_an_empty_window_is_decided_with_an_empty_record() -> None:
    record = resolve_by_rules(window("w", []), {}, no_vectors(0), 5, NOW)
    assert (record.decisions, record.memories, record.window_id) == ([], [], "w")


def test_vectors_of_another_count_are_an_error_not_a_mixup() -> None:
    with pytest.raises(ValueError, match="2 vectors for 1 candidates"):
        resolve_by_rules(window("w", [said("Lin likes tea")]), {}, no_vectors(2), 1, NOW)
