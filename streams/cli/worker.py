"""`memweir worker` and `memweir up`: the stages, against your broker or with one of their own."""

import logging
import os
import shutil
import sys
from pathlib import Path

import click

from streams import endpoints
from streams.cli.output import console
from streams.embedded import EmbeddedBroker
from streams.roster import STAGES, stages
from streams.settings import Settings, SettingsError, load, variable
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
    _refuse_other_partitions(settings)
    sys.exit(run_worker(stages(settings, names), settings))


def _refuse_other_partitions(settings: Settings) -> None:
    # A scope's partition follows from their number: with another one its state and rows are not found.
    kafka = settings.kafka
    plan = provisioning.check(kafka.bootstrap_servers, partitions=kafka.partitions)
    wrong = [difference for difference in plan.differences if difference.setting == "partitions"]
    if wrong:
        raise SettingsError(f"{variable('kafka', 'partitions')}: {'; '.join(map(str, wrong))}")
    if plan.missing:
        names = ", ".join(topic.name for topic in plan.missing)
        raise SettingsError(f"{kafka.bootstrap_servers} lacks {names}: run `memweir topics apply` first")


@click.command()
@click.option(
    "--port",
    default=9092,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The embedded broker's port on 127.0.0.1; 0: any.",
)
@click.option("--discard", is_flag=True, help="Remove the memories of an earlier run first.")
@click.option("--verbose", is_flag=True, help="Log what Kafka's clients do.")
def up(port: int, discard: bool, verbose: bool) -> None:
    """Start the embedded broker and all stages, and stay. For trying out: the broker keeps nothing."""
    _log(verbose)
    # Nobody who tries it out waits ten minutes for a session to be idle.
    os.environ.setdefault(variable("windowing", "idle_seconds"), "10")
    _start_empty(load().sink.path, discard=discard)
    with EmbeddedBroker(port) as broker:
        os.environ[variable("kafka", "bootstrap_servers")] = broker.bootstrap
        settings = load()
        provisioning.apply(broker.bootstrap, partitions=settings.kafka.partitions)
        console.print(f"broker on {broker.bootstrap} (in memory: what it holds ends with it)", highlight=False)
        console.print(f"memories in {settings.sink.path}; in another terminal: memweir publish FILE", highlight=False)
        port = endpoints.serve(settings.metrics.host, settings.metrics.port)
        console.print(f"metrics on http://{settings.metrics.host}:{port}/metrics", highlight=False)
        status = run_worker(stages(settings), settings)
    sys.exit(status)


def _start_empty(path: Path, *, discard: bool) -> None:
    # The broker forgets and LanceDB does not: new decisions over old rows would contradict them.
    if not path.exists() or not any(path.iterdir()):
        return
    if not discard:
        raise click.ClickException(
            f"the embedded broker starts empty, but {path} holds memories of an earlier run: "
            f"say --discard to remove them, or name another folder in {variable('sink', 'path')}"
        )
    shutil.rmtree(path)


def _log(verbose: bool) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
