"""The schemas as they are written in this folder."""

from importlib.resources import files


def schema_text(event: str) -> str:
    """The text of `<event>.avsc`."""
    return files("schemas").joinpath(f"{event}.avsc").read_text("utf-8")
