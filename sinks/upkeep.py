"""When a table is due for compaction. Pure."""

from datetime import timedelta

COMMITS = 20
ROWS_A_COMMIT = 5_000
KEEP_VERSIONS = timedelta(minutes=10)
"""How long a replaced version stays readable: longer than any query of another process runs."""


def due(commits: int, rows: int) -> bool:
    """Whether a table of `rows` rows, written `commits` times since its last compaction, needs one.

    A small table every 20 commits; a large one less often, since a compaction rewrites it whole.
    """
    return commits >= max(COMMITS, rows // ROWS_A_COMMIT)
