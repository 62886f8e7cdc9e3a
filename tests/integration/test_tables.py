"""The LanceDB tables: atomic, idempotent, ordered by scope_seq, and each scope's rows its own."""

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.fold import apply
from schemas.memory import ACTIVE, SUPERSEDED, DecisionRecord, Memory
from schemas.scope import Scope
from sinks import tables as tables_module
from sinks import upkeep
from sinks.rows import VectorError
from sinks.tables import LayoutError, MemoryTables
from tests.strategies import DIMENSIONS, histories, memory, record, redeliveries
from tests.upserting import LIN, WIDTH, generation

OTHER_LIN = Scope("globex", "user", "lin")
HOSTILE = [
    "o'hara",
    "' OR 1=1 --",
    "'' ",
    '"',
    '","',
    "\\",
    "\\'",
    "%",
    "_",
    "`id`",
    "${x}",
    "é",
    "e\u0301",
    "你好😀",
    "\u2028",
    "\n",
]


@pytest.fixture
def tables(tmp_path: Path) -> MemoryTables:
    return MemoryTables(tmp_path, DIMENSIONS, partitions=4)


def one(scope: Scope, memory_id: str, scope_seq: int, **fields: object) -> DecisionRecord:
    return record(scope, [memory(scope, memory_id, scope_seq, **fields)])


async def test_a_superseded_memory_and_its_successor_change_places_at_once(
    tables: MemoryTables,
    tmp_path: Path,
) -> None:
    await tables.upsert(0, [one(LIN, "0", 1)])
    reader = MemoryTables(tmp_path, DIMENSIONS, partitions=4)
    writing = True
    seen: list[list[str]] = []

    async def read() -> None:
        while writing:
            seen.append([each.memory_id for each in await reader.read(0, LIN)])

    reading = asyncio.create_task(read())
    for number in range(1, 20):
        await tables.upsert(0, [one(LIN, str(number), number + 1, supersedes=[str(number - 1)])])
    writing = False
    await reading
    assert {len(active) for active in seen} == {1}
    assert len({active[0] for active in seen}) > 1


async def test_a_batch_may_make_a_memory_and_supersede_it(tables: MemoryTables) -> None:
    await tables.upsert(0, [one(LIN, "a", 1), one(LIN, "b", 2, supersedes=["a"])])
    first, second = await tables.read(0, LIN, include_superseded=True)
    assert (first.memory_id, first.status, first.superseded_by) == ("a", SUPERSEDED, "b")
    assert (second.memory_id, second.status) == ("b", ACTIVE)
    assert [each.memory_id for each in await tables.read(0, LIN)] == ["b"]


async def test_a_redelivered_batch_changes_nothing(tables: MemoryTables) -> None:
    batch = [one(LIN, "a", 1), one(LIN, "b", 2, supersedes=["a"]), one(LIN, "c", 3)]
    assert len(await tables.upsert(0, batch)) == 3
    before = await tables.read(0, LIN, include_superseded=True)
    assert await tables.upsert(0, batch) == []
    assert await tables.upsert(0, batch[:1]) == []
    assert await tables.read(0, LIN, include_superseded=True) == before


async def test_an_older_image_never_overwrites_a_newer_one(tables: MemoryTables) -> None:
    await tables.upsert(0, [one(LIN, "a", 5, text="newer")])
    assert await tables.upsert(0, [one(LIN, "a", 3, text="older")]) == []
    assert [each.text for each in await tables.read(0, LIN)] == ["newer"]


async def test_a_writer_that_was_overtaken_leaves_what_is_newer(
    tables: MemoryTables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = MemoryTables(tmp_path, DIMENSIONS, partitions=4)
    await owner.upsert(0, [one(LIN, "a", 1)])
    stored = tables_module._stored
    overtakings = iter([[one(LIN, "a", 9, text="the owner's")]])

    async def overtaken(*arguments: object) -> list[Memory]:
        found = await stored(*arguments)  # type: ignore[arg-type]
        for records in overtakings:
            await owner.upsert(0, records)
        return found

    monkeypatch.setattr(tables_module, "_stored", overtaken)
    changed = await tables.upsert(0, [one(LIN, "a", 5, text="the zombie's"), one(LIN, "b", 6)])
    assert [each.memory_id for each in changed] == []
    assert [each.text for each in await owner.read(0, LIN)] == ["fact b", "the owner's"]


async def test_two_writers_of_the_same_batches_leave_no_duplicates(tables: MemoryTables, tmp_path: Path) -> None:
    zombie = MemoryTables(tmp_path, DIMENSIONS, partitions=4)
    for number in range(5):
        await asyncio.gather(tables.upsert(0, generation(number)), zombie.upsert(0, generation(number)))
    assert await tables.count(0) == 5 * WIDTH
    assert len(await tables.read(0, LIN)) == WIDTH


async def test_two_tenants_with_the_same_ids_share_nothing(tables: MemoryTables) -> None:
    """Field case 45: the user, session and message ids are alike, and so are the facts."""
    await tables.upsert(0, [one(LIN, "a", 1, text="lives in Oslo"), one(OTHER_LIN, "b", 1, text="lives in Oslo")])
    await tables.upsert(0, [one(OTHER_LIN, "c", 2, text="lives in Bergen", supersedes=["b", "a"])])
    assert [each.memory_id for each in await tables.read(0, LIN)] == ["a"]
    assert [each.memory_id for each in await tables.read(0, OTHER_LIN)] == ["c"]
    assert len(await tables.read(0, OTHER_LIN, include_superseded=True)) == 2


async def test_scopes_and_ids_may_hold_any_character(tables: MemoryTables) -> None:
    scopes = [Scope(tenant, "user", user) for tenant in HOSTILE for user in ("u", tenant)]
    first = [one(scope, f"{place}{scope.tenant}1", 1) for place, scope in enumerate(scopes)]
    second = [
        one(scope, f"{place}{scope.tenant}2", 2, supersedes=[f"{place}{scope.tenant}1"])
        for place, scope in enumerate(scopes)
    ]
    await tables.upsert(0, first)
    await tables.upsert(0, second)
    for place, scope in enumerate(scopes):
        assert [each.memory_id for each in await tables.read(0, scope)] == [f"{place}{scope.tenant}2"]
    assert await tables.count(0) == 2 * len(scopes)


async def test_partitions_are_tables_of_their_own(tables: MemoryTables) -> None:
    await tables.upsert(0, [one(LIN, "a", 1)])
    await tables.upsert(3, [one(OTHER_LIN, "b", 1), one(OTHER_LIN, "c", 2)])
    assert [await tables.count(partition) for partition in range(4)] == [1, 0, 0, 2]
    assert await tables.read(1, LIN) == []
    with pytest.raises(LayoutError, match="partition 4 of 4"):
        await tables.count(4)


async def test_vectors_and_their_absence_are_kept(tables: MemoryTables) -> None:
    vector = np.arange(DIMENSIONS, dtype="<f4").tobytes()
    await tables.upsert(0, [one(LIN, "a", 1, vector=vector), one(LIN, "b", 2)])
    assert [each.vector for each in await tables.read(0, LIN)] == [vector, b""]


async def test_a_vector_that_does_not_fit_is_refused_and_nothing_of_its_batch_is_written(tables: MemoryTables) -> None:
    with pytest.raises(VectorError, match="memory b"):
        await tables.upsert(0, [one(LIN, "a", 1), one(LIN, "b", 2, vector=b"\0" * 8)])
    assert await tables.count(0) == 0


@pytest.mark.parametrize(
    ("dimensions", "partitions", "says"),
    [
        (8, 4, "vector"),
        (DIMENSIONS, 5, "4 tables, not of 5"),
    ],
)
async def test_tables_made_for_another_layout_are_refused(
    tables: MemoryTables,
    tmp_path: Path,
    dimensions: int,
    partitions: int,
    says: str,
) -> None:
    await tables.upsert(0, [one(LIN, "a", 1)])
    other = MemoryTables(tmp_path, dimensions, partitions)
    with pytest.raises(LayoutError, match=says):
        await other.read(0, LIN)
    with pytest.raises(LayoutError, match=says):
        await other.upsert(0, [one(LIN, "a", 1)])


async def test_a_table_that_lancedb_cannot_write_is_not_taken_for_a_bad_record(
    tables: MemoryTables,
    tmp_path: Path,
) -> None:
    await tables.upsert(0, [one(LIN, "a", 1)])
    shutil.rmtree(tmp_path / "memories-0.lance")
    with pytest.raises(RuntimeError):
        await tables.upsert(0, [one(LIN, "b", 2)])


async def test_a_table_whose_creation_was_cut_short_is_created_anew(tables: MemoryTables, tmp_path: Path) -> None:
    (tmp_path / "memories-0.lance" / "_versions").mkdir(parents=True)
    assert await tables.read(0, LIN) == []
    await tables.upsert(0, [one(LIN, "a", 1)])
    assert await tables.count(0) == 1


async def test_maintenance_is_due_after_enough_commits_whoever_made_them(tables: MemoryTables, tmp_path: Path) -> None:
    for number in range(upkeep.COMMITS - 1):
        await tables.upsert(0, generation(number))
        assert not await tables.maintain(0)
    tables.close()
    successor = MemoryTables(tmp_path, DIMENSIONS, partitions=4)
    await successor.upsert(0, generation(upkeep.COMMITS - 1))
    await successor.upsert(0, generation(upkeep.COMMITS))
    before = await successor.read(0, LIN, include_superseded=True)
    assert await successor.maintain(0)
    assert not await successor.maintain(0)
    assert await successor.read(0, LIN, include_superseded=True) == before
    assert len(before) == (upkeep.COMMITS + 1) * WIDTH


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_upserts_equal_the_fold_however_the_records_are_batched_and_redelivered(data: st.DataObject) -> None:
    scopes = [LIN, OTHER_LIN]
    history = data.draw(histories(scopes))
    batches = data.draw(redeliveries(history))
    expected: dict[Scope, dict[str, Memory]] = {scope: {} for scope in scopes}
    for each in history:
        apply(expected[each.scope], each)
    for scope, rows in asyncio.run(_rows_after(batches, scopes)).items():
        assert {each.memory_id: each for each in rows} == expected[scope]
        assert len(rows) == len(expected[scope])


async def _rows_after(batches: Sequence[Sequence[DecisionRecord]], scopes: list[Scope]) -> dict[Scope, list[Memory]]:
    with tempfile.TemporaryDirectory() as folder:
        tables = MemoryTables(Path(folder), DIMENSIONS, partitions=1)
        for batch in batches:
            await tables.upsert(0, batch)
        rows = {scope: await tables.read(0, scope, include_superseded=True) for scope in scopes}
        tables.close()
        return rows


async def test_an_owner_killed_while_it_upserts_leaves_no_partial_batch(tmp_path: Path) -> None:
    tables = MemoryTables(tmp_path, DIMENSIONS, partitions=1)
    acknowledged = -1
    for delay in (0.0, 0.012, 0.025, 0.05):  # an upsert takes some 0.03 s
        first = max(0, acknowledged - 2)  # what a consumer group would deliver again
        acknowledged = await asyncio.to_thread(_upsert_until_killed, tmp_path, first, 4, delay)
        rows = await tables.read(0, LIN, include_superseded=True)
        written = Counter(each.window_id for each in rows)
        latest = len(written) - 1
        assert latest in (acknowledged, acknowledged + 1)
        assert written == {f"g{number}": WIDTH for number in range(latest + 1)}
        active = Counter(each.window_id for each in rows if each.status == ACTIVE)
        assert active == {f"g{latest}": WIDTH}


def _upsert_until_killed(folder: Path, first: int, count: int, delay: float) -> int:
    """The last generation that was acknowledged before SIGKILL, `delay` seconds after the `count`-th."""
    command = [sys.executable, "-m", "tests.upserting", str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(count)]
        time.sleep(delay)
        process.kill()
        return int([*lines, *process.stdout.readlines()][-1])
