"""What a dead letter looks like. Pure: sending it is the stage's business, with the rest of its batch."""

from collections.abc import Iterable
from typing import Protocol

PREFIX = "__memweir.errors."
"""Before each header that is ours. Names follow Kafka Streams' dead letters (KIP-1034)."""

MAX_MESSAGE_BYTES = 2000


class Record(Protocol):
    """What is read of a consumed record; aiokafka's and Faust's both have it."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Iterable[tuple[str, bytes]]: ...


Headers = list[tuple[str, bytes]]


def dead_letter(
    record: Record, *, stage: str, error: BaseException | str, attempt: int = 0, now: int
) -> tuple[bytes | None, bytes | None, Headers]:
    """Key, value and headers for the DLQ: the record's own bytes, its headers, and why it is here.

    `error` is what was raised, or the reason where nothing was; `attempt` counts the redrives
    before this one; `now` is epoch milliseconds. The headers of an earlier stay on the DLQ are
    replaced. All header values are UTF-8 text.
    """
    kind, message = ("", error) if isinstance(error, str) else (type(error).__name__, str(error))
    why = {
        "stage": stage,
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "exception": kind,
        "message": message,
        "attempt": str(attempt),
        "time": str(now),
    }
    kept = [(name, value) for name, value in record.headers or () if not name.startswith(PREFIX)]
    return record.key, record.value, kept + [(PREFIX + name, _text(value)) for name, value in why.items()]


def origin(headers: Headers) -> tuple[str, tuple[int, int]]:
    """Topic, and partition and offset, of a dead letter's original. Raises ValueError where the headers do not tell."""
    why = {name.removeprefix(PREFIX): value.decode("utf-8", "replace") for name, value in headers}
    try:
        return why["topic"], (int(why["partition"]), int(why["offset"]))
    except KeyError as error:
        raise ValueError(f"a dead letter without its {error.args[0]}") from error


def _text(value: str) -> bytes:
    # A message may quote bad input: lone surrogates, or a megabyte of it.
    data = value.encode("utf-8", "backslashreplace")
    return data[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore").encode("utf-8")
