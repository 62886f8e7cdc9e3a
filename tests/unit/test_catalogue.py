"""The topics that memweir promises."""

from schemas.codec import EVENTS
from topics.catalogue import CATALOGUE, CHANGES, COMMANDS, DECISIONS, EXTRACTIONS, INBOX, SESSIONS


def test_every_topic_says_why_and_keeps_for_a_stated_time_or_compacts() -> None:
    for topic in CATALOGUE:
        assert topic.why
        assert topic.key
        assert (topic.retention is None) == (topic.policy == "compact"), topic.name


def test_names_are_versioned_and_unique() -> None:
    names = [topic.name for topic in CATALOGUE]
    assert len(set(names)) == len(names)
    assert all(name.endswith(".v1") for name in names)


def test_every_event_has_a_topic() -> None:
    assert {event for topic in CATALOGUE for event in topic.events} == set(EVENTS)


def test_the_compacted_topics_are_those_that_stages_restore_from() -> None:
    assert {topic for topic in CATALOGUE if topic.policy == "compact"} == {SESSIONS, EXTRACTIONS, DECISIONS}


def test_the_inbox_is_stamped_by_the_broker() -> None:
    assert INBOX.settings["message.timestamp.type"] == "LogAppendTime"


def test_changes_are_kept_for_seven_days() -> None:
    assert CHANGES.settings["retention.ms"] == "604800000"


def test_topics_of_ours_take_records_of_eight_mebibytes() -> None:
    inner = [topic for topic in CATALOGUE if not topic.gateways]
    assert {topic.settings["max.message.bytes"] for topic in inner} == {"8388608"}
    assert "max.message.bytes" not in COMMANDS.settings
