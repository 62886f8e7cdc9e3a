"""Record headers that travel with a window from stage to stage."""

from streams.delivery.stage import Record

APPENDED_AT = "memweir-appended-at"
"""Append time (epoch ms) of the window's last message: what end-to-end latency is measured from."""


def millis(time_ms: int) -> bytes:
    return str(time_ms).encode()


def appended_at(record: Record) -> int | None:
    """The window's append time, or None where the record does not carry one."""
    for name, value in record.headers:
        if name == APPENDED_AT:
            return int(value) if value.isdigit() else None
    return None
