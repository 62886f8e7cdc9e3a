"""`memweir changes`: the memory-change events."""

import asyncio
import logging

import click

from schemas.memory import MemoryChanged
from streams.cli.output import as_json, console, day, print_json
from streams.processing import codec
from streams.settings import load
from topics import subscriber


@click.command()
@click.option("--follow", is_flag=True, help="Stay, and show what comes.")
@click.option("--from-beginning", is_flag=True, help="Show what is on the topic already.")
@as_json
def changes(follow: bool, from_beginning: bool, json_: bool) -> None:
    """Show memory-change events: those that are there, those that come, or both."""
    if not (follow or from_beginning):
        raise click.UsageError("say --from-beginning (what is there), --follow (what comes), or both")
    try:
        asyncio.run(_changes(follow, from_beginning, json_))
    except KeyboardInterrupt:
        return


async def _changes(follow: bool, from_beginning: bool, json_: bool) -> None:
    logging.getLogger("aiokafka").addHandler(logging.NullHandler())  # what it says, the one-line error says better
    settings = load()
    events = subscriber.changes(
        settings.kafka.bootstrap_servers, from_beginning=from_beginning, follow=follow, codec=codec(settings)
    )
    async for event in events:
        if json_:
            print_json(event)
        else:
            console.print(line(event), markup=False, highlight=False)


def line(event: MemoryChanged) -> str:
    """One event as a line of text."""
    return f"{event.tenant} {event.scope} #{event.scope_seq} {event.action:6} {day(event.decided_at)}  {event.text}"
