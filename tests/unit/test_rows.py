"""A memory survives being a row, whatever it holds."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from schemas.memory import Memory
from schemas.scope import Scope
from sinks.rows import VectorError, from_rows, row_schema, scope_key, to_rows
from tests.strategies import DIMENSIONS, memories, memory

LIN = Scope("acme", "user", "lin")


@given(st.lists(memories(), max_size=4))
def test_a_memory_comes_back_from_its_row_as_it_was(batch: list[Memory]) -> None:
    assert from_rows(to_rows(batch, DIMENSIONS)) == batch


@given(st.lists(memories(), min_size=2, max_size=4))
def test_a_slice_of_rows_gives_the_memories_of_the_slice(batch: list[Memory]) -> None:
    rows = to_rows(batch, DIMENSIONS)
    assert from_rows(pa.concat_tables([rows.slice(1), rows.slice(0, 1)])) == [*batch[1:], batch[0]]


def test_a_row_has_a_column_for_each_field_of_a_memory() -> None:
    columns = set(row_schema(DIMENSIONS).names)
    assert columns == {field.name for field in fields(Memory)} | {"scope_key"}


def test_rows_are_in_the_tables_schema() -> None:
    assert to_rows([memory(LIN, "a", 1)], DIMENSIONS).schema.equals(row_schema(DIMENSIONS), check_metadata=True)


def test_times_are_timestamps_in_utc() -> None:
    (row,) = to_rows([memory(LIN, "a", 1, valid_from=1_700_000_000_123)], DIMENSIONS).to_pylist()
    assert row["valid_from"].isoformat() == "2023-11-14T22:13:20.123000+00:00"


def test_the_key_column_is_marked_as_the_key() -> None:
    field = row_schema(DIMENSIONS).field("memory_id")
    assert field.metadata == {b"lance-schema:unenforced-primary-key": b"true"}
    assert not field.nullable


def test_scopes_that_read_alike_have_different_keys() -> None:
    alike = [Scope("a", "user", 'b","c'), Scope('a","user","b', "user", "c"), Scope("a", "user", "b"), LIN]
    assert len({scope_key(scope) for scope in alike}) == len(alike)


@pytest.mark.parametrize("length", [1, DIMENSIONS - 1, DIMENSIONS + 1])
def test_a_vector_of_other_dimensions_is_refused(length: int) -> None:
    bad = memory(LIN, "a", 1, vector=np.ones(length, "<f4").tobytes())
    with pytest.raises(VectorError, match="memory a"):
        to_rows([memory(LIN, "b", 2), bad], DIMENSIONS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_refused(value: float) -> None:
    good = memory(LIN, "a", 1, vector=np.ones(DIMENSIONS, "<f4").tobytes())
    bad = replace(good, memory_id="b", vector=np.full(DIMENSIONS, value, "<f4").tobytes())
    with pytest.raises(VectorError, match="memory b"):
        to_rows([good, bad], DIMENSIONS)
