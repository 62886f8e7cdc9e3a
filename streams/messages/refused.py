"""The answer to input that cannot be accepted."""


class Refused(ValueError):
    """A message or command was not accepted. Its text says why, for the dead letter and its reader."""

    @property
    def reason(self) -> str:
        return str(self)


def shown(value: object) -> str:
    """A value inside a reason: quoted, printable, short whatever it holds."""
    text = str(value)
    text = text[:40] + "…" if len(text) > 40 else text
    return '"' + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text) + '"'
