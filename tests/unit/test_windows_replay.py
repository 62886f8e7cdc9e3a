"""The promise windowing rests on: whatever is killed whenever, each message is in exactly one window.

A random inbox is read by a random worker: batches, ticks, spills, writes that lag behind, windows
that lag behind the writes, commits, and crashes between any two of these steps. What a crash leaves
is what a broker would hold: the records written so far, the windows sent so far, the commit.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial

from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.codec import Codec
from schemas.inbox import Arrived, InboxCommand, InboxMessage
from schemas.window import Session, Window
from streams.messages import noise
from streams.settings import Windowing
from streams.windows.partition import Closed, PartitionWindows

START = 1_700_000_000_000
CODEC = Codec()

Event = InboxMessage | InboxCommand | None  # None: a record that became a dead letter

message = st.tuples(
    st.just("message"),
    st.integers(0, 2),  # session
    st.sampled_from(["user", "user", "user", "assistant", "tool", "system"]),
    st.sampled_from(["hello", "I moved to Bergen", "我搬到了卑尔根", "", "HEARTBEAT_OK", "x y " * 40, None, None]),
    st.sampled_from([None, None, None, 0, 1]),  # a message id that may come twice
    # Append time after the one before: it goes back where a broker keeps the producers' clocks.
    st.sampled_from([0, 0, 1, 900, 20_000, 700_000, 700_000, -2_000, -1_000_000]),
    st.sampled_from([0, 0, 0, -5_000, -40_000_000]),  # event time, relative to that
)
other = st.tuples(st.sampled_from(["end", "dead"]), st.integers(0, 2), st.sampled_from([0, 900, 700_000]))
log_entry = st.one_of(message, message, message, other)
read = st.tuples(st.just("read"), st.integers(1, 4))
write = st.tuples(st.just("write"), st.sampled_from([1, 2, 99]))
send = st.tuples(st.just("send"), st.sampled_from([1, 2, 3, 99]))
tick = st.tuples(st.just("tick"), st.booleans())
spill = st.tuples(st.just("spill"), st.sampled_from([1, 2_000, 100_000]))
commit = st.just(("commit",))
step = st.one_of(read, read, write, write, send, tick, spill, commit, commit)
crash = st.just(("crash",))
windowing = st.builds(
    Windowing.model_validate,
    st.fixed_dictionaries(
        {
            "warm_up_turns": st.sampled_from([(1, 2, 4), ()]),
            "user_turns": st.sampled_from([2, 5]),
            "token_budget": st.sampled_from([8, 60, 4000]),
            "background_turns": st.sampled_from([0, 1, 5]),
            "dedup_horizon": st.sampled_from([0, 2, 1000]),
            "spill_offsets": st.sampled_from([1, 3, 1000]),
            "spill_seconds": st.sampled_from([1.0, 60.0]),
        }
    ),
)


def inbox(entries: list[tuple[object, ...]]) -> list[tuple[int, Event]]:
    """(append time, event) by offset."""
    time, log = START, []
    for offset, entry in enumerate(entries):
        event: Event = None
        match entry:
            case ("message", int(session), str(role), text, repeated, int(wait), int(late)):
                time += wait
                said, _, reason = noise.screen(role, f"text {offset}" if text is None else str(text), [], {})
                event = InboxMessage(
                    tenant="acme", scope_kind="user", scope_id=f"u{session % 2}", session_id=f"s{session}",
                    message_id=f"m{offset}" if repeated is None else f"again-{repeated}",
                    role=role, speaker="", text=said, noise=reason, sent_at=time + late,
                    time_zone="UTC", kind="chat", received_at=time, origin_topic="chat", origin_partition=0,
                    origin_offset=offset,
                )  # fmt: skip
            case ("dead", _, int(wait)):
                time += wait
            case ("end", int(session), int(wait)):
                time += wait
                event = InboxCommand(
                    tenant="acme", scope_kind="user", scope_id=f"u{session % 2}", session_id=f"s{session}",
                    command_id=f"c{offset}", type="end-session", received_at=time, origin_topic="commands",
                    origin_partition=0, origin_offset=offset,
                )  # fmt: skip
        log.append((time, event))
    return log


class Broker:
    """What survives: the log, the compacted session records, the windows sent, the commit."""

    def __init__(self, log: list[tuple[int, Event]]) -> None:
        self.log = log
        self.records: dict[bytes, bytes] = {}
        self.sent: list[list[Window]] = []
        self.committed = 0
        self.furthest = 0


class Worker:
    """One life. Records are written in order, windows sent in order, each after the record with its cut."""

    def __init__(self, broker: Broker, config: Windowing) -> None:
        self.broker = broker
        self.position = broker.committed
        self.clock = 1
        self.writes: deque[Callable[[], None]] = deque()
        self.sends: deque[tuple[int, Callable[[], None]]] = deque()
        self.issued = self.written = 0
        self.spilling: int | None = None
        self.sent: list[Window] = []
        broker.sent.append(self.sent)
        self.windows = PartitionWindows(config, 3)
        self.emit(self.windows.restore((CODEC.decode(r, Session) for r in broker.records.values()), self.position))

    def emit(self, closed: list[Closed]) -> None:
        for session, window, _ in closed:
            if session is not None:
                self.issue(session)
            self.sends.append((self.issued, partial(self.sent.append, window)))
            self.sends.append((self.issued, partial(self.windows.confirmed, window.window_id)))

    def issue(self, session: Session) -> None:
        now = CODEC.encode(session)

        def written() -> None:
            assert CODEC.encode(session) == now, "a record changed after it was handed out"
            self.broker.records[session.scope.session_key(session.session_id)] = now

        self.issued += 1
        self.writes.append(written)

    def write(self, count: int) -> None:
        for _ in range(min(count, len(self.writes))):
            self.writes.popleft()()
            self.written += 1
        if self.spilling is not None and self.written >= self.spilling:
            self.spilling = None
            self.windows.spilled()

    def send(self, count: int) -> None:
        while count and self.sends and self.sends[0][0] <= self.written:
            self.sends.popleft()[1]()
            count -= 1

    def read(self, count: int) -> None:
        for offset in range(self.position, min(self.position + count, len(self.broker.log))):
            time, event = self.broker.log[offset]
            if isinstance(event, InboxMessage):
                self.emit(self.windows.add(offset, time, CODEC.decode(CODEC.encode(event), Arrived)))
            elif isinstance(event, InboxCommand):
                self.emit(self.windows.end_session(offset, time, event))
            self.position = offset + 1
        self.broker.furthest = max(self.broker.furthest, self.position)

    def tick(self, wall_clock: bool) -> None:
        time = self.windows.partition_time
        if wall_clock and self.position == self.broker.furthest and self.position < len(self.broker.log):
            # Caught up: everything the log held at this moment has been read.
            time = max(time, self.broker.log[self.position][0])
        self.emit(self.windows.tick(time))

    def spill(self, passed: int) -> None:
        if self.spilling is None:
            self.clock += passed
            for session in self.windows.spill(self.position, self.clock):
                self.issue(session)
                self.spilling = self.issued

    def flush(self) -> None:
        self.write(len(self.writes))
        self.send(len(self.sends))

    def commit(self) -> None:
        low = self.windows.low_watermark(self.position)
        assert low <= self.position
        self.broker.committed = max(self.broker.committed, low)

    def finish(self) -> None:
        self.read(len(self.broker.log))
        self.flush()
        self.emit(self.windows.tick(START + 1_000_000_000))
        self.flush()
        self.commit()


def run(log: list[tuple[int, Event]], steps: list[tuple[object, ...]], config: Windowing) -> Broker:
    broker = Broker(log)
    worker = Worker(broker, config)
    for name, *arguments in steps:
        if name == "crash":
            worker = Worker(broker, config)
        else:
            getattr(worker, str(name))(*arguments)
    worker.finish()
    assert broker.committed == len(log)
    assert worker.windows.open_count == 0
    return broker


def accounted(window: Window) -> Iterator[int]:
    yield from (turn.offset for turn in window.turns)
    yield from (filtered.offset for filtered in window.filtered)


def check(broker: Broker, config: Windowing) -> None:
    distinct: dict[str, Window] = {}
    order: dict[str, list[int]] = defaultdict(list)
    for life in broker.sent:
        last: dict[str, int] = {}
        for window in life:
            assert window.ordinal > last.get(window.session_id, -1), "a session's windows went out of order"
            last[window.session_id] = window.ordinal
            known = distinct.setdefault(window.window_id, window)
            if known is window:
                order[window.session_id].append(window.ordinal)
            assert known == window, "a window was sent again with another content"
            assert CODEC.encode(known) == CODEC.encode(window)
    for ordinals in order.values():
        assert ordinals == list(range(len(ordinals)))
    offsets = [offset for window in distinct.values() for offset in accounted(window)]
    messages = {o: event for o, (_, event) in enumerate(broker.log) if isinstance(event, InboxMessage)}
    assert sorted(offsets) == sorted(messages), "a message is in no window, or in two"
    for window in distinct.values():
        assert window.turns == sorted(window.turns, key=lambda t: (t.sent_at, t.offset))
        assert all(messages[offset].session_id == window.session_id for offset in accounted(window))
        assert window.first_offset == min(accounted(window))
        assert window.last_offset == max(accounted(window))
        assert len(window.background) <= config.background_turns
    if config.dedup_horizon == 1000:
        kept = [(w.session_id, turn.message_id) for w in distinct.values() for turn in w.turns]
        assert len(kept) == len(set(kept)), "a message id was kept twice"


TALK = [("message", 0, "user", None, None, 900, 0)] * 3
SKEWED = [("message", 0, "user", None, None, wait, 0) for wait in (-1_000_000, 0)]
QUIET = Windowing.model_validate({"warm_up_turns": (), "spill_offsets": 1})
SPILL = [("read", 3), ("spill", 1), ("write", 99), ("commit",)]


@settings(max_examples=300, deadline=None)
@given(st.lists(log_entry, max_size=30), st.lists(st.one_of(step, step, step, crash), max_size=60), windowing)
@example(TALK, [*SPILL, ("crash",)], QUIET)
@example(
    [("message", 0, "user", "HEARTBEAT_OK", None, 0, 0), *TALK],
    [*SPILL[:2], ("spill", 100_000), *SPILL[2:], ("spill", 100_000), *SPILL[2:], ("crash",)],
    QUIET,
)
@example(
    [*TALK, ("dead", 0, 700_000)],
    [*SPILL, ("tick", True), ("write", 99), ("read", 1), ("commit",), ("crash",)],
    QUIET,
)
@example(
    [("message", 1, "user", None, None, 900, 0), *SKEWED],
    [*SPILL[:3], ("crash",), ("read", 1), ("tick", False)],
    QUIET,
)
@example(
    [("message", 1, "user", None, None, 900, 0), SKEWED[0], ("end", 0, 0), SKEWED[1]],
    [
        ("read", 4),
        ("spill", 1),
        ("write", 99),
        ("spill", 100_000),
        ("write", 99),
        ("crash",),
        ("read", 1),
        ("tick", False),
    ],
    QUIET,
)
@example(
    [*TALK, ("dead", 0, 700_000)],
    [*SPILL, ("tick", True), ("write", 99), ("crash",), ("read", 1), ("commit",), ("crash",)],
    QUIET,
)
@example(
    TALK,
    [("read", 2), ("write", 99), ("send", 2), ("read", 1), ("write", 99), ("crash",)],
    Windowing.model_validate({"warm_up_turns": (), "user_turns": 1}),
)
def test_every_message_is_in_exactly_one_window_however_often_workers_are_killed(
    entries: list[tuple[object, ...]], steps: list[tuple[object, ...]], config: Windowing
) -> None:
    check(run(inbox(entries), steps, config), config)


@settings(max_examples=60, deadline=None)
@given(st.lists(log_entry, min_size=3, max_size=12), st.lists(step, min_size=6, max_size=30), windowing)
def test_a_kill_after_any_single_step_of_a_worker_loses_nothing(
    entries: list[tuple[object, ...]], steps: list[tuple[object, ...]], config: Windowing
) -> None:
    log = inbox(entries)
    for killed in range(len(steps) + 1):
        check(run(log, [*steps[:killed], ("crash",), *steps], config), config)
