"""Events as bytes and back.

Without a registry: Avro single-object encoding (Avro 1.11 specification, "Single-object encoding":
C3 01, then the little-endian CRC-64-AVRO fingerprint of the writer's schema, then the body).
With one: Confluent framing (00, then the big-endian schema id, then the body).
Plain JSON is accepted for what gateways and applications send.
"""

import io
import json
import struct
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import fastavro
import msgspec
from fastavro.schema import fingerprint, parse_schema, to_parsing_canonical_form

from schemas.candidates import Candidates, Extraction
from schemas.chat import ChatMessage, Command
from schemas.compiled import Write, compiled, projected
from schemas.inbox import Arrived, InboxCommand, InboxMessage
from schemas.memory import DecisionRecord, MemoryChanged
from schemas.text import schema_text
from schemas.window import Session, Window

T = TypeVar("T", bound=msgspec.Struct)

SINGLE_OBJECT = b"\xc3\x01"
CONFLUENT = b"\x00"

EVENTS: dict[type[msgspec.Struct], str] = {
    ChatMessage: "chat_message",
    Command: "command",
    InboxMessage: "inbox_message",
    InboxCommand: "inbox_command",
    Session: "session",
    Window: "window",
    Candidates: "candidates",
    Extraction: "extraction",
    DecisionRecord: "decision_record",
    MemoryChanged: "memory_changed",
}
"""Every event type, and the name of the `.avsc` that it is written with."""

PROJECTIONS: dict[type[msgspec.Struct], type[msgspec.Struct]] = {Arrived: InboxMessage}
"""Types that are only read, and the events whose records they are read from."""


class UndecodableError(ValueError):
    """The bytes are not an event that was asked for. The message says why, for a dead letter."""


class RegistryUnavailableError(RuntimeError):
    """The registry does not answer. Nothing is known of the bytes: they must wait, not become a dead letter."""


class Registry(Protocol):
    """What Confluent framing needs of a schema registry. Both raise RegistryUnavailableError in an outage."""

    def id_of(self, event: str, schema: str) -> int:
        """The id under which this event's schema is registered."""

    def schema_of(self, schema_id: int) -> str:
        """The schema text of an id. Raises LookupError where the registry does not know it."""


def _single_object_header(schema: Any) -> bytes:
    return SINGLE_OBJECT + bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO"))


class _Schema:
    """An event's schema, and how its body is written and read."""

    def __init__(self, kind: type[msgspec.Struct], event: str) -> None:
        self.kind = kind
        self.event = event
        self.text = schema_text(event)
        raw = json.loads(self.text)
        self.parsed: Any = parse_schema(raw)
        self.header = _single_object_header(raw)
        # What gateways and applications send may be one thing or another in a field, and is not ours
        # to be fast at.
        self.compiled = None if kind in (ChatMessage, Command) else compiled(kind, self.parsed)
        self.write: Write = self._interpreted if self.compiled is None else self.compiled.write
        self.readers = {} if self.compiled is None else {kind: self.compiled.read}
        for projection, of in PROJECTIONS.items():
            if of is kind:
                self.readers[projection] = projected(projection, self.parsed)

    def _interpreted(self, value: msgspec.Struct, pieces: list[bytes]) -> None:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self.parsed, msgspec.to_builtins(value, builtin_types=(bytes,)))
        pieces.append(out.getvalue())

    def decode(self, data: bytes, start: int, kind: type[msgspec.Struct]) -> Any:
        if self.compiled is None:
            body = fastavro.schemaless_reader(io.BytesIO(memoryview(data)[start:]), self.parsed, None)
            return msgspec.convert(body, self.kind)
        value, end = self.readers[kind](data, start)
        if end > len(data):
            raise UndecodableError("the value is cut short")
        return value


_BY_KIND = {kind: _Schema(kind, event) for kind, event in EVENTS.items()}
_BY_HEADER = {schema.header: schema for schema in _BY_KIND.values()}
_SCHEMAS = _BY_KIND | {projection: _BY_KIND[of] for projection, of in PROJECTIONS.items()}


class Codec:
    """Encodes events for our topics and decodes what arrives on them."""

    def __init__(self, registry: Registry | None = None) -> None:
        self._registry = registry
        self._writers: dict[type[msgspec.Struct], tuple[bytes, Write]] = {}
        self._writer_schemas: dict[int, tuple[Any, bytes]] = {}

    def encode(self, value: msgspec.Struct) -> bytes:
        header, write = self._writers.get(type(value)) or self._writer(type(value))
        pieces = [header]
        write(value, pieces)
        return b"".join(pieces)

    def decode(self, data: bytes | None, *kinds: type[T]) -> T:
        """`data` as one of `kinds`. Raises UndecodableError, whatever the bytes hold."""
        if not data:
            raise UndecodableError("the value is empty")
        try:
            if data[:2] == SINGLE_OBJECT:
                return self._single_object(data, kinds)
            if data[:1] == CONFLUENT:
                return self._confluent(data, kinds)
            return _plain_json(data, kinds)
        except (UndecodableError, RegistryUnavailableError):
            raise
        except Exception as error:  # readers raise whatever the bytes lead them into
            raise UndecodableError(f"{type(error).__name__}: {error}") from error

    def reader(self, *kinds: type[T]) -> Callable[[bytes | None], T]:
        """`decode` for one set of kinds, for who reads many: in the common framing it asks nothing twice."""
        common = {_SCHEMAS[kind].header: _SCHEMAS[kind].readers[kind] for kind in kinds}

        def read(data: bytes | None) -> T:
            try:
                value, end = common[data[:10]](data, 10)  # type: ignore[index, arg-type]
                if end <= len(data):  # type: ignore[arg-type]
                    return cast(T, value)
            except Exception:  # noqa: BLE001, S110 - `decode` says what is the matter
                pass
            return self.decode(data, *kinds)

        return read

    def _writer(self, kind: type[msgspec.Struct]) -> tuple[bytes, Write]:
        schema = _BY_KIND[kind]
        if self._registry is None:
            header = schema.header
        else:
            header = CONFLUENT + struct.pack(">I", self._registry.id_of(schema.event, schema.text))
        self._writers[kind] = header, schema.write
        return header, schema.write

    def _single_object(self, data: bytes, kinds: tuple[type[T], ...]) -> T:
        schema = _BY_HEADER.get(data[:10])
        if schema is None:
            raise UndecodableError(f"unknown schema fingerprint {data[2:10].hex()}")
        for kind in kinds:
            if _SCHEMAS[kind] is schema:
                value: T = schema.decode(data, 10, kind)
                return value
        raise UndecodableError(f"a {schema.kind.__name__} where {_names(kinds)} was expected")

    def _confluent(self, data: bytes, kinds: tuple[type[T], ...]) -> T:
        if self._registry is None:
            raise UndecodableError("Confluent framing, but no schema registry is configured")
        if len(data) < 5:
            raise UndecodableError("a Confluent header cut short")
        (schema_id,) = struct.unpack(">I", data[1:5])
        known = self._writer_schemas.get(schema_id)
        if known is None:
            try:
                raw = json.loads(self._registry.schema_of(schema_id))
            except LookupError as error:
                raise UndecodableError(f"schema id {schema_id} is unknown to the registry") from error
            parsed: Any = parse_schema(raw)
            known = self._writer_schemas[schema_id] = parsed, _single_object_header(raw)
        writer, header = known
        for kind in kinds:
            ours = _SCHEMAS[kind]
            if writer.get("name") == ours.parsed["name"]:
                if header == ours.header:
                    same: T = ours.decode(data, 5, kind)
                    return same
                body = fastavro.schemaless_reader(io.BytesIO(memoryview(data)[5:]), writer, ours.parsed)
                if kind is ours.kind:
                    return msgspec.convert(body, kind)
                pieces: list[bytes] = []
                ours.write(msgspec.convert(body, ours.kind), pieces)
                resolved: T = ours.decode(b"".join(pieces), 0, kind)
                return resolved
        raise UndecodableError(f"a {writer.get('name')} where {_names(kinds)} was expected")


def _plain_json(data: bytes, kinds: tuple[type[T], ...]) -> T:
    for kind in kinds:
        if kind in (ChatMessage, Command):
            try:
                return msgspec.json.decode(data, type=kind)
            except msgspec.ValidationError as error:
                raise UndecodableError(str(error)) from error
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise UndecodableError(f"neither Avro nor JSON: {error}") from error
    raise UndecodableError("not Avro")


def _names(kinds: tuple[type[msgspec.Struct], ...]) -> str:
    return " or ".join(kind.__name__ for kind in kinds)
