"""How commands speak: tables for people, one JSON value a line for programs."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import msgspec
from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

# A pipe has no width; 80 columns would break most memories in two.
console = Console() if sys.stdout.isatty() else Console(width=120)


def as_json(function: F) -> F:
    """The `--json` option."""
    return click.option("--json", "json_", is_flag=True, help="One JSON value a line, for programs.")(function)


def print_json(value: Any) -> None:
    click.echo(msgspec.json.encode(value).decode())


def day(time_ms: int | None) -> str:
    """Epoch milliseconds as a UTC date and minute; empty for None."""
    return "" if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
