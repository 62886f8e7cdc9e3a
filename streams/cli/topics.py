"""`memweir topics`: the topic catalogue against a cluster."""

import sys

import click
from rich.table import Table

from streams.cli.output import as_json, console, print_json
from streams.settings import load
from topics import provisioning
from topics.catalogue import CATALOGUE


@click.group()
def topics() -> None:
    """Create and check the topics."""


@topics.command()
@as_json
def apply(json_: bool) -> None:
    """Create what is missing; report what differs; destroy nothing."""
    kafka = load().kafka
    done = provisioning.apply(
        kafka.bootstrap_servers, partitions=kafka.partitions, replication_factor=kafka.replication_factor
    )
    if json_:
        print_json({"created": [topic.name for topic in done.created], "differences": list(map(str, done.differences))})
        return
    for topic in done.created:
        console.print(f"created [bold]{topic.name}[/] ({topic.policy}, {kafka.partitions} partitions)", highlight=False)
    for difference in done.differences:
        console.print(f"left as it is: {difference}", highlight=False)
    if not done.created:
        console.print("nothing was missing")


@topics.command()
@as_json
def check(json_: bool) -> None:
    """Report what is missing or differs; exit status 1 where something does."""
    kafka = load().kafka
    plan = provisioning.check(kafka.bootstrap_servers, partitions=kafka.partitions)
    if json_:
        print_json({"missing": [topic.name for topic in plan.missing], "differences": list(map(str, plan.differences))})
    else:
        for topic in plan.missing:
            console.print(f"missing: {topic.name}", highlight=False)
        for difference in plan.differences:
            console.print(f"differs: {difference}", highlight=False)
        if plan.fits:
            console.print(f"all {len(CATALOGUE)} topics are there, as the catalogue wants them")
    sys.exit(0 if plan.fits else 1)


@topics.command("list")
def list_() -> None:
    """Show the catalogue: each topic, its key, its policy, and why."""
    table = Table("topic", "key", "policy", "why", show_lines=True)
    for topic in CATALOGUE:
        table.add_row(topic.name, topic.key, topic.policy, topic.why)
    console.print(table)
