"""Change events: derived from the record alone, one for each decision that changed a row."""

from schemas.memory import ACTIVE, SUPERSEDED
from streams.changes import cloud_event_headers, events_of
from tests.resolving import Scope as HeardScope
from tests.resolving import said, year


def test_a_stored_memory_is_told_with_its_text_and_sources() -> None:
    record = HeardScope().hear(said("Lin loves ramen.", message_id="m7"))
    (event,) = events_of(record)
    (memory,) = record.memories
    assert (event.action, event.text, event.status) == ("store", "Lin loves ramen.", ACTIVE)
    assert (event.memory_id, event.scope_seq, event.window_id) == (memory.memory_id, 1, record.window_id)
    assert event.source_message_ids == ["m7"]
    assert event.reason == record.decisions[0].reason


def test_an_update_names_what_it_supersedes() -> None:
    scope = HeardScope()
    (old,) = scope.hear(said("Lin lives in Oslo.", "lin|home", year(2020))).memories
    (event,) = events_of(scope.hear(said("Lin lives in Bergen.", "lin|home", year(2021))))
    assert (event.action, event.supersedes) == ("update", [old.memory_id])


def test_a_fact_that_came_too_late_is_told_as_history() -> None:
    scope = HeardScope()
    (now,) = scope.hear(said("Lin lives in Bergen.", "lin|home", year(2021))).memories
    (event,) = events_of(scope.hear(said("Lin lives in Oslo.", "lin|home", year(2020))))
    assert (event.status, event.superseded_by) == (SUPERSEDED, now.memory_id)


def test_a_skip_is_told_where_it_added_a_source_and_not_where_it_changed_nothing() -> None:
    scope = HeardScope()
    scope.hear(said("Lin loves ramen.", message_id="m1"))
    (again,) = events_of(scope.hear(said("Lin loves ramen.", message_id="m2")))
    assert (again.action, again.source_message_ids) == ("skip", ["m1", "m2"])
    assert events_of(scope.hear(said("Lin loves ramen.", message_id="m2"))) == []


def test_a_window_without_a_candidate_is_no_news() -> None:
    assert events_of(HeardScope().hear()) == []


def test_events_are_the_same_each_time_and_in_order() -> None:
    record = HeardScope().hear(*(said(f"Lin loves {food}.") for food in ("ramen", "olives", "mango")))
    events = events_of(record)
    assert events == events_of(record)
    assert [event.scope_seq for event in events] == [1, 2, 3]
    assert len({event.event_id for event in events}) == 3


def test_headers_are_cloud_events_attributes() -> None:
    record = HeardScope().hear(said("Lin loves ramen."))
    record.decided_at = 1_714_750_200_007
    (event,) = events_of(record)
    headers = dict(cloud_event_headers(event))
    assert headers["ce_specversion"] == b"1.0"
    assert headers["ce_id"] == event.event_id.encode()
    assert headers["ce_type"] == b"memweir.memory.stored"
    assert headers["ce_time"] == b"2024-05-03T15:30:00.007Z"
    assert headers["content-type"] == b"application/avro"
