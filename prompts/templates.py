"""Prompt templates: text files with a front matter, a stable part and a data part.

A file reads: front matter (`id`, `version`, `language`) between two `---` lines; the stable part,
sent as the system message and the same for every call, so that a server can cache it; a line
`=== data ===`; the data part, sent as the user message, with `{{name}}` where data goes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

Data: TypeAlias = str | Sequence[Mapping[str, object]]
"""What a placeholder takes: a text, or records that are shown one a line."""

_DATA_LINE = "\n=== data ===\n"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
# Angle brackets could close a delimiter; the others are line ends that JSON leaves as they are.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>\x7f\x85\u2028\u2029"}


class TemplateError(ValueError):
    """A template file is malformed, or was rendered with other names than it has."""


@dataclass(frozen=True)
class Prompt:
    """A rendered template: what is sent, and under which name it is recorded."""

    label: str
    system: str
    user: str


@dataclass(frozen=True)
class Template:
    """A template file. `label` is `id@version`, the same for all languages of one prompt."""

    id: str
    version: str
    language: str
    stable: str
    data: str

    @property
    def label(self) -> str:
        return f"{self.id}@{self.version}"

    def render(self, **values: Data) -> Prompt:
        """Put `values` into the data part, each encoded by `encode`. Raises TemplateError for a wrong name.

        One pass: what is put in is never looked at again, so braces in it mean nothing.
        """
        names = set(_PLACEHOLDER.findall(self.data))
        if names != set(values):
            raise TemplateError(f"{self.label} takes {sorted(names)}, not {sorted(values)}")
        user = _PLACEHOLDER.sub(lambda match: encode(values[match[1]]), self.data)
        return Prompt(self.label, self.stable, user)


def encode(data: Data) -> str:
    """`data` as JSON, one line a record, such that nothing in it can end its line, its string or its tag."""
    if isinstance(data, str):
        return _line(data)
    return "\n".join(_line(record) for record in data)


def parse(text: str) -> Template:
    """The template that a file's text holds. Raises TemplateError."""
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    if match is None:
        raise TemplateError("a template begins with a front matter between two lines of ---")
    fields = dict(re.findall(r"^(\w+): *(\S.*?) *$", match[1], re.MULTILINE))
    stable, separator, data = match[2].partition(_DATA_LINE)
    if set(fields) != {"id", "version", "language"} or not separator:
        raise TemplateError("a template has id, version and language, and a line '=== data ==='")
    return Template(fields["id"], fields["version"], fields["language"], stable.strip(), data.strip())


@cache
def load(name: str, language: str) -> Template:
    """The template `prompts/<name>.<language>.txt`; English where there is none in `language`."""
    folder = files("prompts")
    path = folder / f"{name}.{language}.txt"
    if not path.is_file():
        path = folder / f"{name}.en.txt"
    return parse(path.read_text("utf-8"))


def _line(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    # A lone surrogate has no UTF-8, so a request could not carry it.
    return text.encode("utf-8", "replace").decode("utf-8")
