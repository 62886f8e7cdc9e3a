"""Commands: what applications ask of memory, validated and put into the same inbox as the messages.

One inbox gives "before the command" a meaning. `faust -A streams.commands worker --without-web`
runs this stage alone.
"""

from typing import Any

from schemas.chat import Command
from streams.intake import Intake
from streams.messages.validate import validate_command
from topics.catalogue import COMMANDS


class Commands(Intake):
    """Intake for `memory.commands.v1`."""

    name = "commands"
    source = COMMANDS.name
    accepts = Command
    validate = staticmethod(validate_command)


def __getattr__(name: str) -> Any:
    return Commands.lazily(name)
