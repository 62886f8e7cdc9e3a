"""A sink's owner that upserts generation after generation until it is killed.

`python -m tests.upserting FOLDER FIRST` prints each generation's number once its upsert is acknowledged.
"""

import asyncio
import itertools
import sys
from pathlib import Path

from schemas.memory import DecisionRecord
from schemas.scope import Scope
from sinks.tables import MemoryTables
from tests.strategies import DIMENSIONS, memory, record

WIDTH = 40
LIN = Scope("acme", "user", "lin")


def generation(number: int) -> list[DecisionRecord]:
    """WIDTH records; each makes a memory that supersedes its like of the generation before."""
    return [
        record(
            LIN,
            [
                memory(
                    LIN,
                    f"{number}-{place}",
                    number * WIDTH + place,
                    window_id=f"g{number}",
                    supersedes=[f"{number - 1}-{place}"] if number else [],
                )
            ],
        )
        for place in range(WIDTH)
    ]


async def main(folder: Path, first: int) -> None:
    tables = MemoryTables(folder, DIMENSIONS, partitions=1)
    for number in itertools.count(first):
        await tables.upsert(0, generation(number))
        print(number, flush=True)
        await tables.maintain(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
