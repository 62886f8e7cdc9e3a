"""A memory as a LanceDB row and back.

A row has a column for each field of `Memory`, named alike, and `scope_key`. Times are Arrow
timestamps (milliseconds, UTC), the vector is a fixed-size list of float32, null where there is none.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from schemas.memory import Memory
from schemas.scope import Scope

KEY = "memory_id"
SCOPE = "scope_key"
VECTOR = "vector"

TIME = pa.timestamp("ms", tz="UTC")
FLOAT32 = np.dtype("<f4")


class VectorError(ValueError):
    """A memory's vector does not fit the table: another number of dimensions, or not all finite."""


def scope_of(memory: Memory) -> Scope:
    return Scope(memory.tenant, memory.scope_kind, memory.scope_id)


def scope_key(scope: Scope) -> str:
    """What the `scope_key` column holds: the scope's record key as text."""
    return scope.key.decode()


def row_schema(dimensions: int) -> pa.Schema:
    """The columns of a table whose vectors have `dimensions` numbers."""
    vector = pa.field(VECTOR, pa.list_(pa.float32(), dimensions))
    return pa.schema([*_columns(TIME), vector])


def to_rows(memories: Sequence[Memory], dimensions: int) -> pa.Table:
    """`memories` as rows of `row_schema(dimensions)`, in the same order.

    Raises VectorError, naming the memory.
    """
    plain = [_plain(memory) for memory in memories]
    rows = pa.Table.from_pylist(plain, schema=pa.schema(_columns(TIME)))
    return rows.append_column(row_schema(dimensions).field(VECTOR), _vectors(memories, dimensions))


def from_rows(rows: pa.Table) -> list[Memory]:
    """The memories that `rows` hold, in the same order."""
    # Through integers: a Python datetime ends at the year 9999, an epoch in a message need not.
    plain = rows.drop_columns([VECTOR]).cast(pa.schema(_columns(pa.int64()))).drop_columns([SCOPE]).to_pylist()
    vectors = _vector_bytes(rows.column(VECTOR))
    return [msgspec.convert({**row, VECTOR: vector}, Memory) for row, vector in zip(plain, vectors, strict=True)]


def _columns(time: pa.DataType) -> list[pa.Field]:
    # LanceDB tells two writers of one new key apart only where the field says that it is the key.
    key = pa.field(KEY, pa.string(), nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"})
    source = pa.struct(
        [
            pa.field("session_id", pa.string(), nullable=False),
            pa.field("message_id", pa.string(), nullable=False),
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("sent_at", time, nullable=False),
            pa.field("window_id", pa.string(), nullable=False),
        ]
    )
    texts = pa.list_(pa.field("item", pa.string(), nullable=False))
    return [
        key,
        _required(SCOPE, pa.string()),
        _required("tenant", pa.string()),
        _required("scope_kind", pa.string()),
        _required("scope_id", pa.string()),
        _required("session_id", pa.string()),
        _required("key", pa.string()),
        _required("text", pa.string()),
        _required("type", pa.string()),
        _required("tags", texts),
        _required("priority", pa.int32()),
        _required("scene_name", pa.string()),
        _required("subject", pa.string()),
        _required("speaker", pa.string()),
        _required("slot", pa.string()),
        _required("language", pa.string()),
        pa.field("activity_start", time),
        pa.field("activity_end", time),
        _required("valid_from", time),
        pa.field("valid_until", time),
        _required("created_at", time),
        _required("decided_at", time),
        _required("status", pa.string()),
        _required("supersedes", texts),
        pa.field("superseded_by", pa.string()),
        _required("sources", pa.list_(pa.field("item", source, nullable=False))),
        _required("window_id", pa.string()),
        _required("strategy", pa.string()),
        _required("policy", pa.string()),
        _required("model", pa.string()),
        _required("prompt", pa.string()),
        _required("scope_seq", pa.int64()),
    ]


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _plain(memory: Memory) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(memory, builtin_types=(bytes,))
    del row[VECTOR]
    row[SCOPE] = scope_key(scope_of(memory))
    return row


def _vectors(memories: Sequence[Memory], dimensions: int) -> pa.FixedSizeListArray:
    values = np.zeros((len(memories), dimensions), FLOAT32)
    missing = np.zeros(len(memories), bool)
    for place, memory in enumerate(memories):
        size = len(memory.vector)
        if size == 0:
            missing[place] = True
        elif size == dimensions * FLOAT32.itemsize:
            values[place] = np.frombuffer(memory.vector, FLOAT32)
        else:
            raise VectorError(
                f"memory {memory.memory_id}: a vector of {size} bytes where {dimensions} float32 were expected",
            )
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        raise VectorError(f"memory {memories[int(finite.argmin())].memory_id}: its vector holds NaN or infinity")
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), dimensions, mask=pa.array(missing))


def _vector_bytes(column: pa.ChunkedArray) -> Iterator[bytes]:
    size = column.type.list_size * FLOAT32.itemsize
    for chunk in column.chunks:
        held = chunk.flatten().to_numpy().astype(FLOAT32, copy=False).tobytes()
        start = 0
        for valid in chunk.is_valid().to_pylist():
            yield held[start : start + size] if valid else b""
            start += size if valid else 0
