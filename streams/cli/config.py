"""`memweir config`: what is set, and how to set it."""

import click
from pydantic import BaseModel
from rich.table import Table

from streams.cli.output import as_json, console, print_json
from streams.settings import Settings, load, variable


@click.group()
def config() -> None:
    """Show the settings."""


@config.command()
@as_json
def show(json_: bool) -> None:
    """Each setting with its variable; what you have set yourself is marked."""
    settings = load()
    if json_:
        print_json(settings.model_dump(mode="json"))
        return
    table = Table("variable", "value", "", "")
    for section in Settings.model_fields:
        values: BaseModel = getattr(settings, section)
        for name, field in type(values).model_fields.items():
            set_ = "set" if name in values.model_fields_set else ""
            table.add_row(variable(section, name), str(getattr(values, name)), set_, field.description or "")
    console.print(table)
