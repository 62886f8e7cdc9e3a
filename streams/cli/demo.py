"""`memweir demo`: the whole flow on this machine, shown as it happens."""

import asyncio
import logging
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import click

from streams.cli.output import console
from streams.demo import run
from streams.embedded import EmbeddedBroker
from streams.settings import Settings, Sink, load
from topics import provisioning


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def demo(file: Path | None) -> None:
    """Watch chat become memories: a broker, all stages and sample conversations, on this machine.

    FILE is your own chat, one JSON message a line; without it the samples are used. Nothing is kept.
    """
    logging.basicConfig(level=logging.ERROR)
    if file is not None:
        _demo(file)
        return
    with as_file(files("topics").joinpath("samples/chat.jsonl")) as samples:
        _demo(samples)


def _demo(file: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="memweir-") as folder, EmbeddedBroker() as broker:
        settings = _settings(broker.bootstrap, Path(folder))
        provisioning.apply(broker.bootstrap, partitions=settings.kafka.partitions)
        asyncio.run(run(file, settings, console))


def _settings(bootstrap_servers: str, folder: Path) -> Settings:
    own = load()
    return own.model_copy(
        update={
            # Four partitions: all that a laptop gains from more is a longer start.
            "kafka": own.kafka.model_copy(update={"bootstrap_servers": bootstrap_servers, "partitions": 4}),
            "sink": Sink(path=folder / "lancedb"),
            "metrics": own.metrics.model_copy(update={"port": 0}),
        }
    )
