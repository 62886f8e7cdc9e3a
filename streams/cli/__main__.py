"""`python -m streams.cli` is `memweir`."""

from streams.cli import main

main()
