"""The memories in LanceDB: one table a partition, each written and maintained by one owner."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import lancedb
import pyarrow as pa
from lancedb import AsyncConnection, AsyncTable
from lancedb.expr import Expr, col, lit

from schemas.memory import ACTIVE, DecisionRecord, Memory
from schemas.scope import Scope
from sinks import upkeep
from sinks.batch import fold_batch, touched_ids
from sinks.rows import KEY, SCOPE, from_rows, row_schema, scope_key, to_rows

PARTITIONS = b"memweir.partitions"
ATTEMPTS = 5


class LayoutError(RuntimeError):
    """The tables on disk were made for another number of partitions, dimensions or other columns."""


class WriteError(RuntimeError):
    """LanceDB did not write the rows that it was given."""


class MemoryTables:
    """The tables under one folder. One instance a process; a process is spawned, never forked.

    Any process may read. A partition is written and maintained by its owner alone.
    """

    def __init__(self, path: Path, dimensions: int, partitions: int) -> None:
        self._path = path
        self._dimensions = dimensions
        self._partitions = partitions
        self._schema = row_schema(dimensions).with_metadata({PARTITIONS: str(partitions).encode()})
        self._connecting = asyncio.Lock()
        self._connection: AsyncConnection | None = None
        self._tables: dict[int, AsyncTable] = {}
        self._commits: dict[int, int] = {}
        self._turns: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def upsert(self, partition: int, records: Sequence[DecisionRecord]) -> list[Memory]:
        """Fold `records` into the partition's table: all of it becomes visible at once, or nothing.

        `records` come in the order of the decisions topic; repeated ones change nothing. Returns the
        rows that changed. Raises ValueError (ScopeError, VectorError) where a record can never be
        written, RuntimeError (LayoutError, WriteError, LanceDB's own) where the table is the trouble.
        """
        async with self._turns[partition]:
            table = await self._created(partition)
            for _ in range(ATTEMPTS):
                changed = fold_batch(await _stored(table, touched_ids(records)), records)
                if not changed or await self._merge(table, changed):
                    break
                # An owner that has lost the partition without knowing it wrote in between: fold anew.
            else:
                raise WriteError(f"partition {partition}: rows are overtaken by another writer")
            self._commits[partition] += bool(changed)
            return changed

    async def read(self, partition: int, scope: Scope, *, include_superseded: bool = False) -> list[Memory]:
        """The scope's memories, in order of `scope_seq`; the active ones unless asked for all."""
        table = await self._existing(partition)
        if table is None:
            return []
        mine = col(SCOPE) == lit(scope_key(scope))
        memories = await _select(table, mine if include_superseded else mine & (col("status") == lit(ACTIVE)))
        return sorted(memories, key=lambda memory: (memory.scope_seq, memory.memory_id))

    async def count(self, partition: int) -> int:
        """Rows in the partition's table, superseded ones included."""
        table = await self._existing(partition)
        return 0 if table is None else await table.count_rows()

    async def maintain(self, partition: int) -> bool:
        """Compact the table and drop old versions, where that is due; tell whether it was.

        For the partition's owner only, after a batch or while idle.
        """
        async with self._turns[partition]:
            table = await self._existing(partition)
            if table is None or not upkeep.due(self._commits[partition], await table.count_rows()):
                return False
            await table.optimize(cleanup_older_than=upkeep.KEEP_VERSIONS)
            self._commits[partition] = 0
            return True

    def close(self) -> None:
        """Let go of the connection. The next call opens another."""
        self._tables.clear()
        if self._connection is not None:
            self._connection.close()  # type: ignore[no-untyped-call]
            self._connection = None

    async def _merge(self, table: AsyncTable, memories: list[Memory]) -> bool:
        merge = (
            table.merge_insert(KEY)
            .when_matched_update_all(where="target.scope_seq < source.scope_seq")
            .when_not_matched_insert_all()
            .use_index(False)  # the indexed path lets two writers insert one key twice
        )
        rows = to_rows(memories, self._dimensions)
        try:
            # "null" is what lets a row without a vector pass; to_rows has refused the bad ones.
            result = await merge.execute(rows, on_bad_vectors="null")
        except ValueError as error:  # the rows are sound: it is no caller's fault
            raise WriteError(f"{table.name}: {error}") from error
        written: int = result.num_inserted_rows + result.num_updated_rows
        if written > len(memories):
            raise WriteError(f"{table.name}: {written} rows were written for {len(memories)}: an id is there twice")
        return written == len(memories)

    async def _created(self, partition: int) -> AsyncTable:
        table = await self._existing(partition)
        if table is None:
            connection = await self._connect()
            table = await connection.create_table(self._name(partition), schema=self._schema, exist_ok=True)
            await self._keep(partition, table)
        return table

    async def _existing(self, partition: int) -> AsyncTable | None:
        if partition not in self._tables:
            name = self._name(partition)
            connection = await self._connect()
            try:
                table = await connection.open_table(name)
            except ValueError as error:  # LanceDB has no type of its own for this
                if "was not found" in str(error):
                    return None
                raise LayoutError(f"{self._path}: {error}") from error
            await self._keep(partition, table)
        return self._tables[partition]

    async def _keep(self, partition: int, table: AsyncTable) -> None:
        self._check(table.name, await table.schema())
        statistics = cast("dict[str, Any]", await table.stats())  # a mapping, whatever its type says
        # Nearly each commit left a fragment: what earlier owners did not compact counts as well.
        self._commits[partition] = statistics["fragment_stats"]["num_small_fragments"]
        self._tables[partition] = table

    async def _connect(self) -> AsyncConnection:
        async with self._connecting:
            if self._connection is None:
                # A handle that lags behind another process's commit repeats its conflict for ever.
                self._connection = await lancedb.connect_async(self._path, read_consistency_interval=timedelta(0))
            return self._connection

    def _name(self, partition: int) -> str:
        if not 0 <= partition < self._partitions:
            raise LayoutError(f"partition {partition} of {self._partitions}")
        return f"memories-{partition}"

    def _check(self, name: str, found: pa.Schema) -> None:
        partitions = (found.metadata or {}).get(PARTITIONS, b"an unknown number of").decode()
        if partitions != str(self._partitions):
            raise LayoutError(f"{self._path}: {name} is one of {partitions} tables, not of {self._partitions}")
        if not found.equals(self._schema):
            wrong = [field.name for field in self._schema if field not in list(found)]
            raise LayoutError(f"{self._path}: {name} has other columns: {', '.join(wrong) or 'more than expected'}")


async def _stored(table: AsyncTable, ids: set[str]) -> list[Memory]:
    return await _select(table, col(KEY).isin(sorted(ids))) if ids else []


async def _select(table: AsyncTable, where: Expr) -> list[Memory]:
    # Expressions, not SQL text: a literal needs no quoting, whatever an id holds.
    return from_rows(await table.query().where(where).to_arrow())
