"""`memweir memories`: what is remembered of one scope."""

import asyncio

import click
from msgspec.structs import asdict
from rich.markup import escape
from rich.table import Table

from schemas.memory import ACTIVE, Memory
from schemas.scope import Scope
from sinks.tables import MemoryTables
from streams.cli.output import as_json, console, day, print_json
from streams.settings import Settings, load
from streams.strategies import DIMENSIONS
from topics.partitioning import partition_of

KINDS = ("user", "team")


@click.command()
@click.option("--tenant", default="default", show_default=True, help="Whose user or team it is.")
@click.option("--scope", "scope_text", required=True, help="user:ID or team:ID.")
@click.option("--all", "all_", is_flag=True, help="Superseded versions too.")
@as_json
def memories(tenant: str, scope_text: str, all_: bool, json_: bool) -> None:
    """Show what is remembered of one scope."""
    scope = parse_scope(tenant, scope_text)
    found = asyncio.run(read(load(), scope, all_))
    if json_:
        for memory in found:
            print_json({name: value for name, value in asdict(memory).items() if name != "vector"})
        return
    if not found:
        console.print(f"nothing is remembered of {scope} in tenant {tenant}", highlight=False)
        return
    console.print(table(found))


def parse_scope(tenant: str, text: str) -> Scope:
    """`user:lin` as a scope. Raises click.BadParameter, naming the right form."""
    kind, colon, id_ = text.partition(":")
    if not colon or kind not in KINDS or not id_:
        raise click.BadParameter(f"{text!r} is not user:ID or team:ID", param_hint="--scope")
    return Scope(tenant, kind, id_)


async def read(settings: Settings, scope: Scope, all_: bool) -> list[Memory]:
    """The scope's memories from LanceDB."""
    count = settings.kafka.partitions
    tables = MemoryTables(settings.sink.path, DIMENSIONS, count)
    try:
        return await tables.read(partition_of(scope.key, count), scope, include_superseded=all_)
    finally:
        tables.close()


def table(found: list[Memory], title: str | None = None) -> Table:
    """Memories as a table, superseded ones dimmed."""
    rows = Table("memory", "type", "who", "sources", "when (UTC)", title=title, title_justify="left", expand=False)
    for memory in found:
        active = memory.status == ACTIVE
        text = escape(memory.text) if active else f"[dim]{escape(memory.text)} (superseded)[/]"
        who = escape(memory.speaker or memory.subject)
        rows.add_row(text, memory.type, who, str(len(memory.sources)), day(memory.activity_start or memory.valid_from))
    return rows
