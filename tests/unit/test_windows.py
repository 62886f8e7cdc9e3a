"""When windows close, what they hold, and what a restart finds."""

from collections.abc import Sequence
from typing import Any

import pytest

from schemas.codec import Codec
from schemas.inbox import Arrived, Attachment, InboxCommand, InboxMessage
from schemas.window import Session, Window
from streams.messages import noise
from streams.settings import Windowing
from streams.windows.partition import Closed, PartitionWindows
from streams.windows.replay import LostRecords
from streams.windows.sessions import BACKGROUND_CHARS, tokens

NOW = 1_760_000_000_000
MINUTE = 60_000
CODEC = Codec()


def settings(**changed: Any) -> Windowing:
    return Windowing.model_validate(changed)


FIVE = settings(warm_up_turns=())


def message(offset: int, text: str = "", **changed: Any) -> Arrived:
    fields: dict[str, Any] = {
        "tenant": "acme", "scope_kind": "user", "scope_id": "lin", "session_id": "s1", "message_id": f"m{offset}",
        "role": "user", "speaker": "", "text": text or f"text {offset}", "sent_at": NOW + offset * 1000,
        "time_zone": "UTC", "kind": "chat", "received_at": NOW, "origin_topic": "chat", "origin_partition": 0,
        "origin_offset": offset,
    }  # fmt: skip
    fields |= changed
    role, said = fields["role"], fields["text"]
    fields["text"], fields["stripped"], fields["noise"] = noise.screen(
        role, said, fields.get("attachments", []), fields.get("attributes", {})
    )
    return CODEC.decode(CODEC.encode(InboxMessage(**fields)), Arrived)


def end(session_id: str = "s1") -> InboxCommand:
    return InboxCommand(
        tenant="acme", scope_kind="user", scope_id="lin", session_id=session_id, command_id="c", type="end-session",
        received_at=NOW, origin_topic="commands", origin_partition=0, origin_offset=0,
    )  # fmt: skip


class Run:
    """A worker that writes and confirms everything at once, unless told to keep it back."""

    def __init__(self, config: Windowing = FIVE) -> None:
        self.config = config
        self.windows = PartitionWindows(config, 0)
        self.records: dict[bytes, Session] = {}
        self.emitted: list[Window] = []
        self.position = 0

    def add(self, *messages: Arrived, append: int | None = None) -> list[Window]:
        closed = []
        for each in messages:
            at = each.sent_at if append is None else append
            closed += self.windows.add(self.position, at, each)
            self.position += 1
        return self.take(closed)

    def take(self, closed: Sequence[Closed]) -> list[Window]:
        for each in closed:
            if each.session is not None:
                self.records[each.keys.session] = each.session
            self.emitted.append(each.window)
            self.windows.confirmed(each.window.window_id)
        return [each.window for each in closed]

    def tick(self, time: int) -> list[Window]:
        return self.take(self.windows.tick(time))

    def spill(self, now: int) -> None:
        for session in self.windows.spill(self.position, now):
            self.records[session.scope.session_key(session.session_id)] = session
        self.windows.spilled()

    def committable(self) -> int:
        return self.windows.low_watermark(self.position)

    def restart(self, committed: int) -> "Run":
        again = Run(self.config)
        again.records = dict(self.records)
        again.position = committed
        again.take(again.windows.restore(self.records.values(), committed))
        return again


def texts(window: Window) -> list[str]:
    return [turn.text for turn in window.turns]


def reasons(window: Window) -> list[str]:
    return [filtered.reason for filtered in window.filtered]


def test_windows_warm_up_with_one_two_and_four_user_turns_and_then_hold_five() -> None:
    run = Run(settings())
    run.add(*(message(i) for i in range(17)))
    assert [len(w.turns) for w in run.emitted] == [1, 2, 4, 5, 5]
    assert [w.ordinal for w in run.emitted] == [0, 1, 2, 3, 4]
    assert {w.close_reason for w in run.emitted} == {"turns"}
    assert [t.message_id for t in run.emitted[3].background] == ["m2", "m3", "m4", "m5", "m6"]


def test_only_user_turns_count_towards_the_turns_of_a_window() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=2))
    run.add(message(0), message(1, role="assistant"), message(2, role="tool"), message(3))
    assert [len(w.turns) for w in run.emitted] == [4]


def test_case_26_a_message_sent_eight_times_in_thirty_seconds_is_one_message() -> None:
    run = Run()
    run.add(*(message(i, "call the tool", sent_at=NOW + i * 4000) for i in range(8)))
    (window,) = run.tick(NOW + 20 * MINUTE)
    assert texts(window) == ["call the tool"]
    assert reasons(window) == ["repeat"] * 7


def test_the_same_text_after_someone_elses_message_or_later_or_from_another_is_kept() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=99))
    run.add(message(0, "yes"), message(1, "Really?", role="assistant"), message(2, "yes"))
    run.add(message(3, "yes", sent_at=NOW + 2 * MINUTE))
    run.add(message(4, "yes", speaker="Ana", sent_at=NOW + 2 * MINUTE))
    (window,) = run.tick(NOW + 60 * MINUTE)
    assert texts(window) == ["yes", "Really?", "yes", "yes", "yes"]


def test_a_repeat_is_seen_across_the_end_of_a_window() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=1))
    run.add(message(0, "call the tool"), message(1, "call the tool"))
    assert [reasons(w) for w in (*run.emitted, *run.tick(NOW + 20 * MINUTE))] == [[], ["repeat"]]


def test_a_message_id_that_comes_again_is_left_out_also_after_a_restart() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=2))
    run.add(message(0), message(1))
    run = run.restart(run.committable())
    run.add(message(0, "text 0, edited"), message(2))
    (window,) = run.tick(NOW + 20 * MINUTE)
    assert texts(window) == ["text 2"]
    assert reasons(window) == ["duplicate"]


def test_ids_beyond_the_horizon_are_forgotten() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=99, dedup_horizon=2))
    run.add(message(0), message(1), message(2), message(0, "a"), message(2, "b"))
    (window,) = run.tick(NOW + 20 * MINUTE)
    assert len(window.turns) == 4
    assert reasons(window) == ["duplicate"]


def test_case_27_twelve_messages_in_one_millisecond_keep_their_order() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=12))
    (window,) = run.add(*(message(i, sent_at=NOW) for i in range(12)))
    assert texts(window) == [f"text {i}" for i in range(12)]


def test_messages_that_come_out_of_order_are_sorted_by_their_own_time() -> None:
    run = Run()
    run.add(*(message(i, sent_at=NOW - i * 1000) for i in range(4)), append=NOW)
    (window,) = run.tick(NOW + 20 * MINUTE)
    assert texts(window) == ["text 3", "text 2", "text 1", "text 0"]
    assert (window.first_offset, window.last_offset) == (0, 3)


def test_case_28_the_tail_of_fifteen_turns_goes_out_after_the_idle_gap_without_another_message() -> None:
    run = Run(settings())
    run.add(*(message(i) for i in range(15)))
    assert sum(len(w.turns) for w in run.emitted) == 12
    last = NOW + 14_000
    assert run.tick(last + 10 * MINUTE) == []
    (tail,) = run.tick(last + 10 * MINUTE + 1)
    assert texts(tail) == ["text 12", "text 13", "text 14"]
    assert tail.close_reason == "idle"
    assert run.committable() == 15


def test_case_29_a_threshold_reached_while_the_window_before_is_unconfirmed_closes_the_next_too() -> None:
    windows = PartitionWindows(settings(warm_up_turns=(), user_turns=2), 0)
    closed = [c for i in range(6) for c in windows.add(i, NOW, message(i))]
    assert [[t.offset for t in c.window.turns] for c in closed] == [[0, 1], [2, 3], [4, 5]]
    assert windows.low_watermark(6) == 0
    windows.confirmed(closed[1].window.window_id)
    assert windows.low_watermark(6) == 0
    windows.confirmed(closed[0].window.window_id)
    assert windows.low_watermark(6) == 4
    last = closed[-1].session
    assert last is not None
    assert [cut.ordinal for cut in last.cuts] == [0, 1, 2]


def test_case_30_windows_that_are_open_when_a_worker_stops_go_on_after_the_restart() -> None:
    run = Run()
    run.add(message(0), message(1), message(2))
    assert run.committable() == 0
    run = run.restart(0)
    run.add(message(0), message(1), message(2), message(3))
    (window,) = run.add(message(4))
    assert texts(window) == [f"text {i}" for i in range(5)]


def test_case_30_a_spilled_window_goes_on_after_a_restart_that_reads_none_of_it_again() -> None:
    run = Run()
    run.add(message(0), message(1, ""), message(2, "HEARTBEAT_OK"))
    run.spill(NOW)
    assert run.committable() == 0
    run.spill(NOW + 2 * MINUTE)
    assert run.committable() == 3
    run = run.restart(3)
    assert run.windows.open_count == 1
    run.add(message(3), message(4))
    (window,) = run.add(message(5))
    assert texts(window) == [f"text {i}" for i in (0, 1, 3, 4, 5)]
    assert reasons(window) == ["heartbeat"]


def test_a_recorded_cut_is_emitted_again_as_it_was_and_never_computed_anew() -> None:
    before = PartitionWindows(settings(warm_up_turns=(), user_turns=2), 0)
    closed = [c for i in range(3) for c in before.add(i, NOW + i, message(i))]
    (first,) = closed
    assert first.session is not None
    # The rules have changed since: a cut that was computed anew would hold five turns.
    after = PartitionWindows(FIVE, 0)
    assert after.restore([first.session], 0) == []
    again = [c for i in range(3) for c in after.add(i, NOW + i, message(i))]
    assert again == [first._replace(session=None)]
    assert after.low_watermark(3) == 0
    after.confirmed(first.window.window_id)
    assert after.low_watermark(3) == 2


def test_a_recorded_cut_whose_messages_do_not_come_again_stops_the_partition() -> None:
    before = PartitionWindows(settings(warm_up_turns=(), user_turns=2), 0)
    (first,) = [c for i in range(2) for c in before.add(i, NOW, message(i))]
    assert first.session is not None
    after = PartitionWindows(FIVE, 0)
    after.restore([first.session], 0)
    after.add(0, NOW, message(0))
    with pytest.raises(LostRecords, match=r"lacks the inbox offsets \[1\]"):
        after.add(2, NOW, message(2))


def test_a_window_whose_messages_were_all_spilled_is_emitted_again_at_once() -> None:
    windows = PartitionWindows(settings(warm_up_turns=(), spill_offsets=1), 0)
    for i in range(3):
        windows.add(i, NOW, message(i))
    windows.spill(3, 0)
    windows.spilled()
    assert windows.low_watermark(3) == 3
    (closed,) = windows.tick(NOW + 20 * MINUTE)
    assert closed.session is not None
    assert windows.low_watermark(5) == 3, "the partition must not pass a window that is not out"
    assert PartitionWindows(FIVE, 0).restore([closed.session], 3) == [closed._replace(session=None)]
    windows.confirmed(closed.window.window_id)
    assert windows.low_watermark(5) == 5
    assert PartitionWindows(FIVE, 0).restore([closed.session], 5) == [], "a commit beyond it proves that it is out"


def test_case_31_a_session_of_history_is_cut_at_the_gaps_in_its_own_time() -> None:
    year_2021 = 1_620_000_000_000
    day = 24 * 60 * MINUTE
    run = Run()
    run.add(*(message(i, sent_at=year_2021 + i // 2 * day + i) for i in range(6)), append=NOW)
    run.tick(NOW + 20 * MINUTE)
    assert [texts(w) for w in run.emitted] == [["text 0", "text 1"], ["text 2", "text 3"], ["text 4", "text 5"]]
    assert [w.close_reason for w in run.emitted] == ["gap", "gap", "idle"]
    assert run.emitted[0].turns[0].sent_at == year_2021
    assert run.emitted[0].closed_at == NOW


def test_case_33_a_turn_keeps_the_zone_in_which_its_words_were_said() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=1))
    (window,) = run.add(message(0, "See you tonight", time_zone="Asia/Shanghai"))
    assert window.turns[0].time_zone == "Asia/Shanghai"


def test_case_40_a_message_beyond_the_budget_has_a_window_to_itself() -> None:
    run = Run(settings(warm_up_turns=(), token_budget=100))
    run.add(message(0), message(1, "word " * 200), message(2))
    assert [(w.close_reason, len(w.turns)) for w in run.emitted] == [("tokens", 1), ("tokens", 1)]
    assert texts(run.emitted[0]) == ["text 0"]
    assert run.committable() == 2


def test_case_45_two_tenants_with_the_same_ids_share_nothing() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=2))
    run.add(message(0, "same"), message(0, "same", tenant="other"), message(1), message(1, tenant="other"))
    one, other = run.emitted
    assert (one.tenant, other.tenant) == ("acme", "other")
    assert len(one.turns) == len(other.turns) == 2
    assert one.filtered == other.filtered == []
    assert one.window_id != other.window_id


def test_a_window_id_does_not_come_again_where_a_topic_was_lost() -> None:
    (first,) = Run(settings()).add(message(0))
    (second,) = Run(settings()).add(message(0, sent_at=NOW + 1))
    assert first.window_id[0] == "w"
    assert len(first.window_id) == 32
    assert first.window_id != second.window_id


def test_end_session_closes_that_session_and_no_other() -> None:
    run = Run()
    run.add(message(0), message(1, session_id="s2"))
    (window,) = run.take(run.windows.end_session(2, NOW, end()))
    assert (window.session_id, window.close_reason) == ("s1", "end-session")
    assert run.windows.end_session(3, NOW, end()) == []
    assert run.windows.end_session(4, NOW, end("never-seen")) == []
    assert run.windows.open_count == 1


def test_an_end_session_that_is_read_again_does_not_end_a_later_window() -> None:
    run = Run()
    run.add(message(0))
    run.take(run.windows.end_session(1, NOW, end()))
    run.position = 2
    run.add(message(2))
    run.spill(NOW)
    run.spill(NOW + 2 * MINUTE)
    run = run.restart(0)
    run.add(message(0))
    assert run.windows.end_session(1, NOW, end()) == []
    assert run.windows.open_count == 1


def test_a_window_closes_at_its_maximum_age_however_lively_it_is() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=999))
    for minute in range(0, 66, 5):
        run.add(message(minute, sent_at=NOW + minute * MINUTE))
    assert [(w.close_reason, len(w.turns)) for w in run.emitted] == [("age", 13)]


def test_a_worker_that_lags_does_not_take_a_session_for_idle() -> None:
    run = Run()
    run.add(message(0))
    assert run.tick(run.windows.partition_time) == []
    run.add(message(1, session_id="s2"), append=NOW + 11 * MINUTE)
    (window,) = run.tick(run.windows.partition_time)
    assert window.session_id == "s1"


def test_a_message_after_a_silence_opens_a_new_window_without_a_tick_between() -> None:
    run = Run()
    run.add(message(0), append=NOW)
    (window,) = run.add(message(1), append=NOW + 11 * MINUTE)
    assert (window.close_reason, texts(window)) == ("idle", ["text 0"])


def test_noise_is_accounted_for_with_its_reason_and_keeps_no_session_awake() -> None:
    run = Run()
    off = {"memory": "off"}
    run.add(message(0, "hi"), message(1, "/new"), message(2, "secret", attributes=off), message(3, role="system"))
    run.add(*(message(4 + i, "HEARTBEAT_OK", sent_at=NOW + i * 5 * MINUTE) for i in range(2)))
    (window,) = run.tick(NOW + 11 * MINUTE)
    assert texts(window) == ["hi"]
    assert reasons(window) == ["control", "memory-off", "system", "heartbeat", "heartbeat"]
    assert [f.offset for f in window.filtered] == [1, 2, 3, 4, 5]
    assert "secret" not in str(run.records)


def test_a_window_of_nothing_but_noise_still_closes_and_frees_its_offsets() -> None:
    run = Run()
    run.add(message(0, "HEARTBEAT_OK"), message(1, " "))
    assert run.committable() == 0
    (window,) = run.tick(NOW + 20 * MINUTE)
    assert (window.turns, reasons(window)) == ([], ["heartbeat", "empty"])
    assert run.committable() == 2


def test_a_flood_of_noise_closes_its_window_by_the_budget() -> None:
    run = Run(settings(token_budget=50))
    run.add(*(message(i, "HEARTBEAT_OK") for i in range(120)))
    assert [len(w.filtered) for w in run.emitted] == [50, 50]


def test_a_picture_without_words_is_kept() -> None:
    run = Run(settings())
    picture = message(0, " ", attachments=[Attachment(type="image", url="https://example.org/cat.png")], kind="image")
    (window,) = run.add(picture)
    assert window.turns[0].attachments[0].type == "image"


def test_background_is_short_and_carries_no_attachments() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=1))
    run.add(message(0, "word " * 1000, attributes={"channel": "web"}))
    (window,) = run.add(message(1))
    (glance,) = window.background
    assert len(glance.text) == BACKGROUND_CHARS + 1
    assert glance.attributes == {}


def test_a_resting_session_goes_on_with_its_ordinal_background_and_ids() -> None:
    run = Run(settings(warm_up_turns=(), user_turns=1))
    run.add(message(0))
    run.tick(NOW + 60 * MINUTE)
    assert not run.windows._live
    run.add(message(0, sent_at=NOW + 90 * MINUTE))
    (window,) = run.add(message(1, sent_at=NOW + 90 * MINUTE))
    assert window.ordinal == 1
    assert [t.message_id for t in window.background] == ["m0"]
    assert reasons(window) == ["duplicate"]


def test_records_that_became_dead_letters_hold_nothing() -> None:
    run = Run(settings())
    run.position = 7
    assert run.committable() == 7


def test_tokens_are_counted_roughly_and_never_as_none() -> None:
    assert tokens("") == 1
    assert tokens("a" * 400) == 101
    assert tokens("我" * 100) == 101
    assert 25 < tokens("ж" * 100) < 100
