"""Where every accepted offset and every window has gone: `memweir audit`. The counting is pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from confluent_kafka import Message

from schemas.candidates import Candidates
from schemas.codec import Codec, UndecodableError
from schemas.inbox import InboxCommand
from schemas.memory import DecisionRecord
from schemas.window import Session, Window
from streams.processing import codec
from streams.settings import Settings
from topics.catalogue import CANDIDATES, CHAT_MESSAGES, COMMANDS, DECISIONS, DLQ, INBOX, SCENES, SESSIONS
from topics.dead_letters import origin
from topics.reader import committed, place_of, read_topic

Place = tuple[int, int]
"""Partition and offset."""


IN_WINDOW, FILTERED, DEAD, OPEN, LOST, DOUBLED = "in a window", "filtered", "dead", "open", "lost", "doubled"
DECIDED, PENDING, UNDECIDED = "decided", "pending", "undecided"
EXAMPLES = 20
GATEWAYS = (CHAT_MESSAGES.name, COMMANDS.name)


class Evidence(msgspec.Struct):
    """What the topics say. Places are of the inbox unless their name says otherwise."""

    accepted: set[Place]
    """Messages in the inbox; commands are not among them."""
    windows: list[tuple[Place, Window]]
    """Each with its place on the scenes topic, repeats included."""
    candidates: dict[str, Place]
    decided: list[str]
    """The window of each decision record, repeats included."""
    dead: set[tuple[str, Place]]
    """Topic and place of each dead letter's original."""
    spilled: set[Place]
    windowing_committed: Mapping[int, int]
    extraction_committed: Mapping[int, int]
    resolution_committed: Mapping[int, int]


class Report(msgspec.Struct):
    """The account. `lost`, `doubled`, `differing`, `undecided` and `decided_twice` must be 0."""

    accepted: int
    in_windows: int
    filtered: int
    dead_letters: int
    open: int
    lost: int
    doubled: int
    windows: int
    differing: int
    refused: int
    """Gateway records that were never accepted: dead letters of intake."""
    decided: int
    windows_dead: int
    pending: int
    undecided: int
    decided_twice: int
    examples: list[str]

    @property
    def sound(self) -> bool:
        return not (self.lost or self.doubled or self.differing or self.undecided or self.decided_twice)

    @property
    def settled(self) -> bool:
        """Whether nothing is open or under way."""
        return not (self.open or self.pending)


def account(evidence: Evidence) -> Report:
    """Every accepted offset is in one window, filtered, dead or open; every window has one decision record."""
    first: dict[str, Window] = {}
    sent: defaultdict[str, list[Place]] = defaultdict(list)
    examples: list[str] = []
    differing: set[str] = set()
    for place, window in evidence.windows:
        sent[window.window_id].append(place)
        if first.setdefault(window.window_id, window) != window:
            differing.add(window.window_id)
            examples.append(f"window {window.window_id} was sent twice with different content")
    holders: defaultdict[Place, list[str]] = defaultdict(list)
    for window in first.values():
        for turn in window.turns:
            holders[window.partition, turn.offset].append(IN_WINDOW)
        for item in window.filtered:
            holders[window.partition, item.offset].append(FILTERED)
    for topic, place in evidence.dead:
        if topic == INBOX.name:
            holders[place].append(DEAD)
    fates = {place: _fate(place, holders[place], evidence) for place in sorted(evidence.accepted)}
    examples += [
        f"inbox partition {partition} offset {offset} is {fate}"
        for (partition, offset), fate in fates.items()
        if fate in (LOST, DOUBLED)
    ]
    times_decided = Counter(evidence.decided)
    states = {
        window_id: DECIDED if times_decided[window_id] else _state(window_id, sent[window_id], evidence)
        for window_id in first
    }
    examples += [f"window {window_id} has no decision record" for window_id, at in states.items() if at == UNDECIDED]
    fate_counts, state_counts = Counter(fates.values()), Counter(states.values())
    return Report(
        accepted=len(fates),
        in_windows=fate_counts[IN_WINDOW],
        filtered=fate_counts[FILTERED],
        dead_letters=fate_counts[DEAD],
        open=fate_counts[OPEN],
        lost=fate_counts[LOST],
        doubled=fate_counts[DOUBLED],
        windows=len(first),
        differing=len(differing),
        refused=sum(topic in GATEWAYS for topic, _ in evidence.dead),
        decided=state_counts[DECIDED],
        windows_dead=state_counts[DEAD],
        pending=state_counts[PENDING],
        undecided=state_counts[UNDECIDED],
        decided_twice=sum(count > 1 for count in times_decided.values()),
        examples=examples[:EXAMPLES],
    )


def _fate(place: Place, held: list[str], evidence: Evidence) -> str:
    if held:
        return held[0] if len(held) == 1 else DOUBLED
    partition, offset = place
    unread = offset >= evidence.windowing_committed.get(partition, 0)
    return OPEN if unread or place in evidence.spilled else LOST


def _state(window_id: str, sent: Iterable[Place], evidence: Evidence) -> str:
    if any((SCENES.name, place) in evidence.dead for place in sent):
        return DEAD
    extracted = evidence.candidates.get(window_id)
    if extracted is None:
        waits = any(offset >= evidence.extraction_committed.get(partition, 0) for partition, offset in sent)
    else:
        partition, offset = extracted
        waits = offset >= evidence.resolution_committed.get(partition, 0)
        if (CANDIDATES.name, extracted) in evidence.dead:
            return DEAD
    return PENDING if waits else UNDECIDED


def gather(settings: Settings) -> Evidence:
    """Read the topics as they are now. Raises `topics.reader.ReadError`.

    The committed offsets come first: what is committed before its record is read can only be too
    low, and then something counts as open that is not, never as lost.
    """
    servers, prefix = settings.kafka.bootstrap_servers, settings.kafka.group_prefix
    events = codec(settings)
    windowing = committed(servers, f"{prefix}-windowing", INBOX.name)
    extraction = committed(servers, f"{prefix}-extraction", SCENES.name)
    resolution = committed(servers, f"{prefix}-resolution", CANDIDATES.name)
    sessions = {m.key(): (place_of(m), m.value()) for m in read_topic(servers, SESSIONS.name)}
    candidates: dict[str, Place] = {}
    for m in read_topic(servers, CANDIDATES.name):
        candidates.setdefault(events.decode(m.value(), Candidates).window_id, place_of(m))
    return Evidence(
        accepted={place_of(m) for m in read_topic(servers, INBOX.name) if not _is_command(m, events)},
        windows=[(place_of(m), events.decode(m.value(), Window)) for m in read_topic(servers, SCENES.name)],
        candidates=candidates,
        decided=[
            events.decode(m.value(), DecisionRecord).window_id
            for m in read_topic(servers, DECISIONS.name)
            if m.value() is not None
        ],
        dead={origin(_headers(m)) for m in read_topic(servers, DLQ.name)},
        spilled={
            (place[0], offset)
            for place, value in sessions.values()
            if value is not None
            for session in [events.decode(value, Session)]
            for offset in let_go(session)
        },
        windowing_committed=windowing,
        extraction_committed=extraction,
        resolution_committed=resolution,
    )


def let_go(session: Session) -> list[int]:
    """Offsets that only the session's record holds: spilled, or in a cut whose window may not be out yet."""
    turns = [*session.spilled, *(turn for cut in session.cuts for turn in cut.spilled)]
    filtered = [*session.spilled_filtered, *(item for cut in session.cuts for item in cut.filtered)]
    return [turn.offset for turn in turns] + [item.offset for item in filtered]


def _is_command(message: Message, events: Codec) -> bool:
    """A command is acted on, not windowed: it has no fate to account for."""
    try:
        events.decode(message.value(), InboxCommand)
    except UndecodableError:
        return False
    return True


def _headers(message: Message) -> list[tuple[str, bytes]]:
    found: Any = message.headers() or []
    return [(name, value) for name, value in found if isinstance(value, bytes)]
