"""`memweir worker` and `memweir up`: the stages, against your broker or with one of their own."""

import logging
import os
import sys

import click

from streams.cli.output import console
from streams.embedded import EmbeddedBroker
from streams.roster import STAGES, stages
from streams.settings import load
from streams.worker import run_worker
from topics import provisioning


@click.command()
@click.option("--stage", "names", multiple=True, type=click.Choice(list(STAGES)), help="Only this stage; repeatable.")
@click.option("--verbose", is_flag=True, help="Log what Kafka's clients do.")
def worker(names: tuple[str, ...], verbose: bool) -> None:
    """Run the stages against the broker that MEMWEIR_KAFKA_BOOTSTRAP_SERVERS names.

    All stages in one process, or those you pick: start as many workers as you like, up to one a
    partition. The topics must be there: `memweir topics apply`.
    """
    _log(verbose)
    settings = load()
    sys.exit(run_worker(stages(settings, names), settings))


@click.command()
@click.option("--port", default=9092, show_default=True, help="The embedded broker's port on 127.0.0.1.")
@click.option("--verbose", is_flag=True, help="Log what Kafka's clients do.")
def up(port: int, verbose: bool) -> None:
    """Start the embedded broker and all stages, and stay. For trying out: the broker keeps nothing."""
    _log(verbose)
    with EmbeddedBroker(port) as broker:
        os.environ["MEMWEIR_KAFKA_BOOTSTRAP_SERVERS"] = broker.bootstrap
        settings = load()
        provisioning.apply(broker.bootstrap, partitions=settings.kafka.partitions)
        console.print(f"broker on {broker.bootstrap} (in memory: what it holds ends with it)", highlight=False)
        console.print(f"memories in {settings.sink.path}; in another terminal: memweir publish FILE", highlight=False)
        console.print(f"metrics on http://{settings.metrics.host}:{settings.metrics.port}/metrics", highlight=False)
        status = run_worker(stages(settings), settings)
    sys.exit(status)


def _log(verbose: bool) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
