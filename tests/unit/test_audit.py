"""The audit's account: each way in which something can be missing or too much is told."""

from typing import Any

from msgspec.structs import replace

from schemas.window import Cut, Filtered, Session, Window
from streams.audit import Evidence, Report, account, let_go
from tests.windows import turn, window
from topics.catalogue import CANDIDATES, CHAT_MESSAGES, COMMANDS, INBOX, SCENES

ALL = {0: 100}


def sent(window_id: str, *offsets: int, filtered: tuple[int, ...] = ()) -> Window:
    """A window of partition 0 that accounts for these inbox offsets."""
    turns = (turn(f"m{offset}", "hi", offset=offset) for offset in offsets)
    return replace(window(*turns), window_id=window_id, filtered=[Filtered(offset, "empty") for offset in filtered])


def report(*windows: Window, **evidence: Any) -> Report:
    """The account of three messages, 0 to 2; the windows are on partition 0 of the scenes topic, all else is done."""
    return account(
        Evidence(
            **{
                "accepted": {(0, 0), (0, 1), (0, 2)},
                "windows": [((0, place), each) for place, each in enumerate(windows)],
                "candidates": {each.window_id: (0, place) for place, each in enumerate(windows)},
                "decided": list(dict.fromkeys(each.window_id for each in windows)),
                "dead": set(),
                "spilled": set(),
                "windowing_committed": ALL,
                "extraction_committed": ALL,
                "resolution_committed": ALL,
            }
            | evidence
        )
    )


def test_where_all_is_in_windows_that_are_decided_the_account_is_sound_and_settled() -> None:
    found = report(sent("a", 0), sent("b", 1, filtered=(2,)))
    assert (found.accepted, found.in_windows, found.filtered) == (3, 2, 1)
    assert (found.windows, found.decided) == (2, 2)
    assert (found.sound, found.settled, found.examples) == (True, True, [])


def test_nothing_at_all_is_sound() -> None:
    found = report(accepted=set(), windowing_committed={})
    assert (found.sound, found.settled) == (True, True)


def test_a_committed_message_that_is_nowhere_is_lost() -> None:
    found = report(sent("a", 0, 1))
    assert (found.lost, found.sound) == (1, False)
    assert found.examples == ["inbox partition 0 offset 2 is lost"]


def test_a_message_of_another_partition_does_not_stand_in_for_a_lost_one() -> None:
    elsewhere = replace(sent("b", 2), partition=1)
    found = report(sent("a", 0, 1), elsewhere)
    assert found.lost == 1


def test_a_message_that_windowing_has_not_committed_is_open() -> None:
    found = report(sent("a", 0), windowing_committed={0: 1})
    assert (found.open, found.lost) == (2, 0)
    assert (found.sound, found.settled) == (True, False)


def test_where_windowing_has_committed_nothing_yet_all_is_open() -> None:
    assert report(windowing_committed={}).open == 3


def test_a_committed_message_in_a_spilled_window_is_open() -> None:
    found = report(sent("a", 0), spilled={(0, 1), (0, 2)})
    assert (found.open, found.lost) == (2, 0)


def test_a_message_in_two_windows_is_doubled() -> None:
    found = report(sent("a", 0, 1), sent("b", 1, 2))
    assert (found.doubled, found.in_windows, found.sound) == (1, 2, False)
    assert found.examples == ["inbox partition 0 offset 1 is doubled"]


def test_a_message_that_was_kept_and_filtered_is_doubled() -> None:
    assert report(sent("a", 0, 1, 2), sent("b", filtered=(2,))).doubled == 1


def test_a_message_in_a_window_and_a_dead_letter_is_doubled() -> None:
    assert report(sent("a", 0, 1, 2), dead={(INBOX.name, (0, 2))}).doubled == 1


def test_a_message_that_became_a_dead_letter_is_accounted_for() -> None:
    found = report(sent("a", 0, 1), dead={(INBOX.name, (0, 2)), ("chat.messages.v1", (0, 1))})
    assert (found.dead_letters, found.in_windows, found.sound) == (1, 2, True)


def test_a_window_that_was_sent_again_as_it_was_counts_once() -> None:
    found = report(sent("a", 0, 1, 2), sent("a", 0, 1, 2))
    assert (found.windows, found.in_windows, found.differing, found.sound) == (1, 3, 0, True)


def test_a_window_that_was_sent_again_with_other_content_is_differing() -> None:
    found = report(sent("a", 0, 1, 2), sent("a", 0, 1))
    assert (found.differing, found.sound) == (1, False)
    assert found.examples == ["window a was sent twice with different content"]


def test_a_window_that_extraction_has_not_committed_is_pending() -> None:
    found = report(sent("a", 0, 1, 2), candidates={}, decided=[], extraction_committed={0: 0})
    assert (found.pending, found.undecided, found.decided) == (1, 0, 0)
    assert (found.sound, found.settled) == (True, False)


def test_a_window_whose_candidates_resolution_has_not_committed_is_pending() -> None:
    found = report(sent("a", 0, 1, 2), decided=[], resolution_committed={})
    assert (found.pending, found.undecided) == (1, 0)


def test_a_window_that_extraction_has_committed_without_candidates_is_undecided() -> None:
    found = report(sent("a", 0, 1, 2), candidates={}, decided=[])
    assert (found.undecided, found.sound) == (1, False)
    assert found.examples == ["window a has no decision record"]


def test_a_window_that_resolution_has_committed_without_a_record_is_undecided() -> None:
    assert report(sent("a", 0, 1, 2), decided=[]).undecided == 1


def test_a_window_that_became_a_dead_letter_needs_no_decision() -> None:
    for topic in (SCENES.name, CANDIDATES.name):
        candidates = {"a": (0, 0)} if topic == CANDIDATES.name else {}
        found = report(sent("a", 0, 1, 2), candidates=candidates, decided=[], dead={(topic, (0, 0))})
        assert (found.windows_dead, found.undecided, found.sound) == (1, 0, True)


def test_a_window_with_two_decision_records_is_told() -> None:
    found = report(sent("a", 0, 1, 2), decided=["a", "a"])
    assert (found.decided_twice, found.decided, found.sound) == (1, 1, False)


def test_no_more_examples_are_given_than_one_reads() -> None:
    found = report(accepted={(0, offset) for offset in range(100)})
    assert found.lost == 100
    assert len(found.examples) == 20


def test_what_intake_refused_is_told_and_is_no_part_of_what_was_accepted() -> None:
    # A file with two bad lines ended with "dead letters 0": only those of the inbox were counted.
    found = report(sent("a", 0, 1, 2), dead={(CHAT_MESSAGES.name, (0, 7)), (COMMANDS.name, (3, 1))})
    assert (found.refused, found.dead_letters, found.accepted) == (2, 0, 3)
    assert found.sound


def test_what_only_a_recorded_cut_holds_is_let_go_but_not_lost() -> None:
    # Spilled, closed, killed before the window was sent: the audit called the messages lost.
    spilled = turn("m1", "hi", offset=1)
    cut = Cut("w", 0, 1, 2, [1], [Filtered(2, "empty")], [spilled], [], "idle", 0)
    assert sorted(let_go(Session("t", "user", "lin", session_id="s", cuts=[cut]))) == [1, 2]
