"""What the rules of a language find in a sentence."""

from dataclasses import dataclass

from prompts.rules.calendar import Span

PERSONA = "persona"
EPISODIC = "episodic"
INSTRUCTION = "instruction"

ABSOLUTE = -1


@dataclass(frozen=True)
class Speaker:
    """Who says `I`. `name` is empty where nobody told us; `in_room` is true in a team scope."""

    name: str
    in_room: bool = False

    @property
    def slot(self) -> str:
        """The subject part of a slot: the same whatever language the message is in."""
        return self.name.casefold() or "user"


@dataclass(frozen=True)
class Fact:
    """One statement, as a sentence in the third person.

    `attribute` is the part of a slot after its subject, empty where nothing holds one value at a time;
    `about` is the subject of that slot (`maya`, `maya's sister`).
    """

    text: str
    type: str
    key: str
    tags: tuple[str, ...]
    about: str
    attribute: str = ""
    priority: int = 60
    when: Span | None = None

    @property
    def slot(self) -> str:
        return f"{self.about}|{self.attribute}" if self.attribute else ""
