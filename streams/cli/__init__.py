"""The `memweir` command. One file a command."""

import logging
import sys

import click

from streams.cli.audit import audit
from streams.cli.changes import changes
from streams.cli.config import config
from streams.cli.demo import demo
from streams.cli.memories import memories
from streams.cli.publish import publish
from streams.cli.topics import topics
from streams.cli.worker import up, worker
from streams.embedded import EmbeddedBrokerError
from streams.endpoints import PortError
from streams.settings import SettingsError
from topics.producer import DeliveryError
from topics.provisioning import ProvisioningError
from topics.publisher import InvalidLineError
from topics.reader import ReadError
from topics.subscriber import SubscriptionError

EXPECTED = (
    DeliveryError,
    EmbeddedBrokerError,
    InvalidLineError,
    PortError,
    ProvisioningError,
    ReadError,
    SettingsError,
    SubscriptionError,
)
"""What a person can cause or mend: told in one line, without a traceback."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="memweir")
def cli() -> None:
    """Streams of chat in, long-term memory for agents out.

    Try it first:  memweir demo

    Settings are environment variables: MEMWEIR_KAFKA_BOOTSTRAP_SERVERS names your broker, and
    `memweir config show` lists them all.
    """


for command in (demo, up, worker, publish, changes, memories, audit, topics, config):
    cli.add_command(command)


def main() -> None:
    logging.lastResort = None  # what the Kafka clients say beside our error is noise; `worker` configures its own
    try:
        cli()
    except EXPECTED as error:
        click.echo(f"memweir: {error}", err=True)
        sys.exit(2)
