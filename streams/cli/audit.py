"""`memweir audit`: proof that nothing was lost or doubled."""

import sys
from itertools import zip_longest

import click
import msgspec
from rich.table import Table

from streams.audit import Report, account, gather
from streams.cli.output import as_json, console, print_json
from streams.settings import load


@click.command()
@as_json
def audit(json_: bool) -> None:
    """Account for every accepted message and every window; exit status 1 where one is missing."""
    report = account(gather(load()))
    if json_:
        print_json({**msgspec.structs.asdict(report), "sound": report.sound})
    else:
        console.print(table(report))
        for example in report.examples:
            console.print(f"  {example}", highlight=False)
        verdict = "[green]nothing lost, nothing doubled[/]" if report.sound else "[red]the account does not add up[/]"
        console.print(verdict)
    sys.exit(0 if report.sound else 1)


def table(report: Report) -> Table:
    """The account as a table."""
    rows = Table("messages", "", "windows", "", title=None)
    left = ("refused", "accepted", "in_windows", "filtered", "dead_letters", "open", "lost", "doubled")
    right = ("windows", "decided", "windows_dead", "pending", "undecided", "decided_twice", "differing")
    for message, window in zip_longest(left, right):
        rows.add_row(*(cell for name in (message, window) for cell in _cells(report, name)))
    return rows


def _cells(report: Report, name: str | None) -> tuple[str, str]:
    return ("", "") if name is None else (name.replace("_", " "), str(getattr(report, name)))
