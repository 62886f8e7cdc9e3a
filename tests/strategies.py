"""Hypothesis strategies for memories and the records that decide them."""

import hashlib
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.candidates import Source
from schemas.fold import apply
from schemas.memory import ACTIVE, STORE, UPDATE, Decision, DecisionRecord, Memory
from schemas.scope import Scope

DIMENSIONS = 4

# Neither NUL nor lone surrogates: intake lets neither pass.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
hostile = st.sampled_from(["'", '"', "\\", "' OR 1=1 --", "%_", "`a`", "]", '","', "你好", "e\u0301", "\u2028", "${x}"])
ids = st.one_of(hostile, texts.filter(bool))
times = st.integers(-(10**13), 10**14)
times_or_none = st.none() | times
scopes = st.builds(Scope, ids, st.sampled_from(["user", "team"]), ids)


@st.composite
def vectors(draw: st.DrawFn, dimensions: int = DIMENSIONS) -> bytes:
    """float32 little-endian bytes of a finite vector, or none."""
    if draw(st.booleans()):
        return b""
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return np.array(draw(st.lists(finite, min_size=dimensions, max_size=dimensions)), "<f4").tobytes()


sources = st.builds(Source, texts, texts, st.integers(0, 2**62), times, texts)


@st.composite
def memories(draw: st.DrawFn, dimensions: int = DIMENSIONS) -> Memory:
    """Any memory that the schema allows; its parts need not make sense together."""
    scope = draw(scopes)
    return Memory(
        memory_id=draw(ids),
        tenant=scope.tenant,
        scope_kind=scope.kind,
        scope_id=scope.id,
        session_id=draw(texts),
        key=draw(texts),
        text=draw(texts),
        type=draw(texts),
        tags=draw(st.lists(texts, max_size=3)),
        priority=draw(st.integers(-1, 100)),
        scene_name=draw(texts),
        subject=draw(texts),
        speaker=draw(texts),
        slot=draw(texts),
        language=draw(st.sampled_from(["en", "zh"])),
        activity_start=draw(times_or_none),
        activity_end=draw(times_or_none),
        valid_from=draw(times),
        valid_until=draw(times_or_none),
        created_at=draw(times),
        decided_at=draw(times),
        status=draw(st.sampled_from(["active", "superseded"])),
        supersedes=draw(st.lists(ids, max_size=3)),
        superseded_by=draw(st.none() | ids),
        sources=draw(st.lists(sources, max_size=3)),
        window_id=draw(texts),
        strategy=draw(texts),
        policy=draw(texts),
        model=draw(texts),
        prompt=draw(texts),
        scope_seq=draw(st.integers(0, 2**62)),
        vector=draw(vectors(dimensions)),
    )


def memory(scope: Scope, memory_id: str, scope_seq: int, **fields: object) -> Memory:
    """A plausible active memory; `fields` replace its other fields."""
    plain: dict[str, object] = {
        "session_id": "s",
        "key": "",
        "text": f"fact {memory_id}",
        "type": "episodic",
        "tags": [],
        "priority": 60,
        "scene_name": "",
        "subject": "",
        "speaker": "",
        "slot": "",
        "language": "en",
        "activity_start": None,
        "activity_end": None,
        "valid_from": scope_seq,
        "valid_until": None,
        "created_at": scope_seq,
        "decided_at": scope_seq,
        "status": ACTIVE,
        "supersedes": [],
        "superseded_by": None,
        "sources": [Source("s", f"m{scope_seq}", scope_seq, scope_seq, f"w{scope_seq}")],
        "window_id": f"w{scope_seq}",
        "strategy": "rules",
        "policy": "rules",
        "model": "",
        "prompt": "",
    }
    return Memory(
        memory_id=memory_id,
        tenant=scope.tenant,
        scope_kind=scope.kind,
        scope_id=scope.id,
        scope_seq=scope_seq,
        **{**plain, **fields},  # type: ignore[arg-type]
    )


def record(scope: Scope, images: Sequence[Memory], window_id: str = "") -> DecisionRecord:
    """The record of one window that decided `images`, all of them of `scope`."""
    decisions = [
        Decision(
            scope_seq=image.scope_seq,
            action=UPDATE if image.supersedes else STORE,
            memory_id=image.memory_id,
            target_ids=image.supersedes,
            text=image.text,
            reason="",
        )
        for image in images
    ]
    last = images[-1].scope_seq if images else 0
    return DecisionRecord(
        tenant=scope.tenant,
        scope_kind=scope.kind,
        scope_id=scope.id,
        session_id="s",
        window_id=window_id or f"w{last}",
        ordinal=last,
        policy="rules",
        model="",
        prompt="",
        decided_at=last,
        decisions=decisions,
        memories=list(images),
    )


@st.composite
def histories(draw: st.DrawFn, of: Sequence[Scope], max_records: int = 8) -> list[DecisionRecord]:
    """A decisions topic: records of the scopes interleaved, each scope's in its own order.

    As resolution may write them: new memories that supersede any others (active ones, ones in the
    middle of a history, ones of the same record), and new images of known memories. Event times
    are independent of the order.
    """
    known: dict[Scope, dict[str, Memory]] = {scope: {} for scope in of}
    sequence = dict.fromkeys(of, 0)
    out: list[DecisionRecord] = []
    for ordinal in range(draw(st.integers(1, max_records))):
        scope = draw(st.sampled_from(of))
        images = []
        for _ in range(draw(st.integers(0, 3))):
            sequence[scope] += 1
            image = draw(_decided(scope, known[scope], sequence[scope]))
            apply(known[scope], record(scope, [image]))
            images.append(image)
        out.append(record(scope, images, window_id=f"w{ordinal}"))
    return out


@st.composite
def redeliveries(draw: st.DrawFn, records: Sequence[DecisionRecord]) -> list[Sequence[DecisionRecord]]:
    """`records` in batches, in order; a batch may begin with what earlier ones have delivered."""
    out: list[Sequence[DecisionRecord]] = []
    done = 0
    while done < len(records):
        start = draw(st.integers(0, done))
        end = draw(st.integers(done + 1, len(records)))
        out.append(records[start:end])
        done = end
    return out


@st.composite
def _decided(draw: st.DrawFn, scope: Scope, known: dict[str, Memory], scope_seq: int) -> Memory:
    if draw(st.booleans()) and known:
        kept = known[draw(st.sampled_from(sorted(known)))]
        more = Source("s", f"m{scope_seq}", scope_seq, scope_seq, f"w{scope_seq}")
        return replace(kept, sources=[*kept.sources, more], scope_seq=scope_seq)
    targets = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=2)) if known else []
    # The scope is part of a memory's id, as it is where ids are made.
    memory_id = hashlib.sha256(scope.session_key(str(scope_seq))).hexdigest()[:32]
    return memory(
        scope,
        memory_id,
        scope_seq,
        supersedes=targets,
        valid_from=draw(st.integers(0, 20)),
        vector=draw(vectors()),
    )
