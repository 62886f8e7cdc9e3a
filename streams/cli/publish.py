"""`memweir publish`: a file of chat, one JSON message a line."""

import asyncio
from pathlib import Path

import click
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from streams.cli.output import console
from streams.settings import load
from topics.catalogue import CHAT_MESSAGES
from topics.producer import Producer
from topics.publisher import publish_file, publish_lines, standard_input
from topics.reader import require_topic


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
def publish(file: Path) -> None:
    """Publish FILE (JSON lines; - for standard input) to chat.messages.v1.

    Each line is a message; scope_id and content are required. A line without a message_id gets a
    stable one, so that publishing a file twice changes nothing.
    """
    count = asyncio.run(_publish(file))
    console.print(f"published {count} messages")


async def _publish(file: Path) -> int:
    servers = load().kafka.bootstrap_servers
    # A producer would wait for a broker without a word, for ever.
    await asyncio.to_thread(require_topic, servers, CHAT_MESSAGES.name)
    producer = Producer(servers)
    await producer.start()
    try:
        with Progress(SpinnerColumn(), TextColumn("published"), MofNCompleteColumn(), console=console) as bar:
            task = bar.add_task("published", total=None)

            def progress(acknowledged: int) -> None:
                bar.update(task, completed=acknowledged)

            if str(file) == "-":
                return await publish_lines(standard_input(), producer, progress=progress)
            return await publish_file(file, producer, progress=progress)
    finally:
        await producer.stop()
