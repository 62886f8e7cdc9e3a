"""Avro bodies of our own events, by functions that are generated once from schema and type together.

fastavro looks the schema up again for every field of every value (about 0.7 µs each) and has a dict
on its other side. Straight-line code that reads and makes the structs themselves takes a third of
that, which is most of what a fast stage spends on a message. It writes the same bytes and is tested
against fastavro. Encoding: Avro 1.11 specification, "Binary Encoding".
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import inspect

_PUT = "out += "

_FEW = frozenset(
    {
        "tenant", "scope_kind", "role", "speaker", "time_zone", "kind", "origin_topic", "close_reason", "status",
        "policy", "noise", "stripped",
    }
)  # fmt: skip
"""Fields with the same few texts again and again: encoded once, and shared by all values that were read."""

_ONCE = frozenset({"offset", "first_offset", "last_offset", "closed_through", "origin_offset", "sent_at", "included"})
"""Fields whose numbers hardly come twice: nothing is gained where they are remembered."""

_REMEMBERED = 20_000
"""How many numbers, and texts, are kept encoded."""


class Encoded(Sequence[Any]):
    """Structs as they lie on the wire: read where somebody looks at them, never encoded again.

    `bodies` are their bodies, `encoded` the whole Avro array. `read` takes one body.
    """

    __slots__ = ("_read", "bodies", "encoded")

    def __init__(self, bodies: Sequence[bytes], read: "Read") -> None:
        self.bodies = bodies
        self.encoded = b"".join((VARINTS[len(bodies)], *bodies, b"\0")) if bodies else b"\0"
        self._read = read

    def __len__(self) -> int:
        return len(self.bodies)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._read(body, 0)[0] for body in self.bodies[index]]
        return self._read(self.bodies[index], 0)[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


Write = Callable[[Any, list[bytes]], None]
Read = Callable[[bytes, int], tuple[Any, int]]


class Compiled(NamedTuple):
    """`write` appends the pieces of a value's body to a list; `read` takes the body that starts at an index.

    `write` raises whatever a value that is not of its field's type leads it into. `read` returns the
    value and the index after it, which is beyond the data where the last text was cut short; it
    raises ValueError or IndexError for bytes that are no such body.
    """

    write: Write
    read: Read


def compiled(kind: type[msgspec.Struct], schema: Any) -> Compiled:
    """For a struct whose record schema fastavro has parsed. Raises TypeError for what the schema may not hold.

    It may hold records, arrays, maps of text, long, int, string, bytes and unions of null with one of these.
    """
    compiler = _Compiler(schema["__named_schemas"])
    compiler.record(kind, schema)
    functions = compiler.functions()
    return Compiled(functions[f"write_{kind.__name__}"], functions[f"read_{kind.__name__}"])


def run(first: str, last: str) -> msgspec.Meta:
    """Marks a `bytes` field of a projection: the fields from `first` to `last` as they lie on the wire."""
    return msgspec.Meta(extra={"run": (first, last)})


def projected(kind: type[msgspec.Struct], schema: Any) -> Read:
    """The reader of a type that has some fields of a schema, and runs of them. It skips the rest.

    What follows the last field that it needs it does not even look at.
    """
    compiler = _Compiler(schema["__named_schemas"])
    compiler.projection(kind, schema)
    return cast(Read, compiler.functions()[f"read_{kind.__name__}"])


class _Compiler:
    """Writes a pair of functions a record type. Lines are indented by one space a level."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self.kinds: dict[str, type[msgspec.Struct]] = {}
        self.lines: list[str] = []
        self._schemas = schemas

    def functions(self) -> dict[str, Any]:
        names: dict[str, Any] = {**self.kinds, **_HELPERS}
        exec(compile("\n".join(self.lines), f"<Avro of {', '.join(self.kinds)}>", "exec"), names)  # noqa: S102 - our own schemas
        return names

    def projection(self, kind: type[msgspec.Struct], schema: Any) -> None:
        self.kinds[kind.__name__] = kind
        types = _types(kind)
        runs = {
            name: type_.extra["run"]
            for name, type_ in types.items()
            if isinstance(type_, inspect.Metadata) and type_.extra is not None
        }
        wanted = types.keys() - runs.keys() | {last for _, last in runs.values()}
        lines = [f"def read_{kind.__name__}(data, at):"]
        for field in schema["fields"]:
            name, of = field["name"], self._named(field["type"])
            lines += [f" from_{taken} = at" for taken, (first, _) in runs.items() if first == name]
            if name in types:
                lines += _deeper(self._read(of, types[name], f"f_{name}", name in _FEW))
            else:
                lines += _deeper(self._skip(of, name in _FEW))
            lines += [f" f_{taken} = data[from_{taken}:at]" for taken, (_, last) in runs.items() if last == name]
            wanted -= {name}
            if not wanted:
                break
        self.lines += [*lines, f" return {kind.__name__}({', '.join(f'f_{name}' for name in types)}), at"]

    def record(self, kind: type[msgspec.Struct], schema: Any) -> None:
        if kind.__name__ in self.kinds:
            return
        self.kinds[kind.__name__] = kind
        types = _types(kind)
        fields = [(field["name"], self._named(field["type"]), types[field["name"]]) for field in schema["fields"]]
        write = [line for name, of, type_ in fields for line in self._write(of, type_, f"value.{name}", name in _FEW)]
        read = [line for name, of, type_ in fields for line in self._read(of, type_, f"f_{name}", name in _FEW)]
        made = ", ".join(f"{name}=f_{name}" for name, _, _ in fields)
        self.lines += [
            f"def write_{kind.__name__}(value, out):",
            *(f" {line}" for line in _merged(write)),
            f"def read_{kind.__name__}(data, at):",
            *(f" {line}" for line in read),
            f" return {kind.__name__}({made}), at",
        ]

    def _named(self, schema: Any) -> Any:
        return self._schemas.get(schema, schema) if isinstance(schema, str) else schema

    def _write(self, schema: Any, type_: inspect.Type, value: str, few: bool = False) -> Iterator[str]:
        match _name_of(schema):
            case "string" if few:
                yield f"{_PUT}(whole[{value}],)"
            case "string":
                yield f"{_PUT}(varints[len(text := {value}.encode())], text)"
            case "bytes":
                yield f"{_PUT}(varints[len({value})], {value})"
            case "long" | "int":
                yield f"{_PUT}(varint({value}),)" if _last(value) in _ONCE else f"{_PUT}(varints[{value}],)"
            case "union":
                yield f"if {value} is None:"
                yield f" {_PUT}(b'\\0',)"
                yield "else:"
                yield f" {_PUT}(b'\\2',)"
                yield from _deeper(self._write(self._named(schema[1]), _not_none(type_), value))
            case "array" | "map" as name:
                item = f"{value}_".replace(".", "_")
                if name == "array" and isinstance(_item(type_), inspect.StructType):
                    yield f"if {value}.__class__ is Encoded:"
                    yield f" {_PUT}({value}.encoded,)"
                    yield f"elif {value}:"
                else:
                    yield f"if {value}:"
                yield f" {_PUT}(varints[len({value})],)"
                if name == "array" and _last(value) in _ONCE:
                    yield f" out += map(varint, {value})"
                    inner: Iterable[str] = ()
                elif name == "array":
                    yield f" for {item} in {value}:"
                    inner = self._write(self._named(schema["items"]), _item(type_), item)
                else:
                    yield f" for key, {item} in {value}.items():"
                    yield f"  {_PUT}(whole[key],)"
                    inner = self._write(self._named(schema["values"]), _item(type_), item)
                yield from _deeper(_deeper(inner))
                yield f" {_PUT}(b'\\0',)"
                yield "else:"
                yield f" {_PUT}(b'\\0',)"
            case "record":
                kind = _struct(type_)
                self.record(kind, schema)
                yield f"write_{kind.__name__}({value}, out)"
            case other:
                raise TypeError(f"{other} is not compiled")

    def _read(self, schema: Any, type_: inspect.Type, target: str, few: bool = False) -> Iterator[str]:
        match _name_of(schema):
            case "string" | "bytes" as name:
                yield from _extent()
                if few:
                    yield f"{target} = shared[data[at:end]]"
                else:
                    yield f"{target} = data[at:end]" + (".decode()" if name == "string" else "")
                yield "at = end"
            case "long" | "int":
                yield f"{target} = data[at]"
                yield f"if {target} & 129:"
                yield f" {target}, at = number(data, at)"
                yield "else:"
                yield f" {target} >>= 1"
                yield " at += 1"
            case "union":
                yield "branch, at = data[at], at + 1"
                yield "if branch == 0:"
                yield f" {target} = None"
                yield "elif branch == 2:"
                yield from _deeper(self._read(self._named(schema[1]), _not_none(type_), target))
                yield "else:"
                yield " raise ValueError('no such branch of a union')"
            case "array" | "map" as name:
                item = f"{target}_"
                yield f"{target} = " + ("[]" if name == "array" else "{}")
                yield "while count := data[at]:"
                yield from _deeper(_count())
                yield " for _ in range(count):"
                if name == "array":
                    inner = [*self._read(self._named(schema["items"]), _item(type_), item), f"{target}.append({item})"]
                else:
                    key = self._read("string", type_, f"{target}key", few=True)
                    values = self._read(self._named(schema["values"]), _item(type_), item)
                    inner = [*key, *values, f"{target}[{target}key] = {item}"]
                yield from _deeper(_deeper(inner))
                yield "at += 1"
            case "record":
                kind = _struct(type_)
                self.record(kind, schema)
                yield f"{target}, at = read_{kind.__name__}(data, at)"
            case other:
                raise TypeError(f"{other} is not compiled")

    def _skip(self, schema: Any, few: bool = False) -> Iterator[str]:
        # Texts are looked at all the same: what is passed over here is copied, and read by others.
        match _name_of(schema):
            case "string":
                yield from _extent()
                yield "shared[data[at:end]]" if few else "data[at:end].decode()"
                yield "at = end"
            case "bytes":
                yield from _extent()
                yield "at = end"
            case "long" | "int":
                yield "while data[at] > 127:"
                yield " at += 1"
                yield "at += 1"
            case "union":
                yield "branch, at = data[at], at + 1"
                yield "if branch == 2:"
                yield from _deeper(self._skip(self._named(schema[1])))
                yield "elif branch:"
                yield " raise ValueError('no such branch of a union')"
            case "array" | "map" as name:
                yield "while count := data[at]:"
                yield from _deeper(_count())
                yield " for _ in range(count):"
                if name == "map":
                    yield from _deeper(_deeper(self._skip("string", few=True)))
                yield from _deeper(_deeper(self._skip(self._named(schema["values" if name == "map" else "items"]))))
                yield "at += 1"
            case "record":
                for field in schema["fields"]:
                    yield from self._skip(self._named(field["type"]))
            case other:
                raise TypeError(f"{other} is not compiled")


def _count() -> Iterator[str]:
    """Lines after which `count` items of a block begin at `at`."""
    yield "if count & 129:"
    yield " count, at = block(data, at)"
    yield "else:"
    yield " count >>= 1"
    yield " at += 1"


def _extent() -> Iterator[str]:
    """Lines after which a text lies between `at` and `end`."""
    yield "end = data[at]"
    yield "if end & 129:"
    yield " end, at = size(data, at)"
    yield "at += 1"
    yield "end = at + (end >> 1)"


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _types(kind: type[msgspec.Struct]) -> dict[str, inspect.Type]:
    info = inspect.type_info(kind)
    return {field.name: field.type for field in info.fields} if isinstance(info, inspect.StructType) else {}


def _name_of(schema: Any) -> str:
    if isinstance(schema, list):
        return "union" if len(schema) == 2 and schema[0] == "null" else "a union of values"
    return str(schema["type"]) if isinstance(schema, dict) else str(schema)


def _item(type_: inspect.Type) -> inspect.Type:
    match type_:
        case inspect.ListType(item_type=item) | inspect.DictType(value_type=item):
            return item
    raise TypeError(f"{type_} is neither a list nor a dict")


def _not_none(type_: inspect.Type) -> inspect.Type:
    if isinstance(type_, inspect.UnionType):
        return next(each for each in type_.types if not isinstance(each, inspect.NoneType))
    raise TypeError(f"{type_} cannot be None")


def _struct(type_: inspect.Type) -> type[msgspec.Struct]:
    if isinstance(type_, inspect.StructType):
        return type_.cls
    raise TypeError(f"{type_} is not a struct")


def _deeper(lines: Iterable[str]) -> Iterator[str]:
    return (f" {line}" for line in lines)


def _merged(lines: list[str]) -> Iterator[str]:
    """Neighbouring appends as one."""
    for put, group in groupby(lines, lambda line: line.startswith(_PUT)):
        if put:
            yield f"{_PUT}({', '.join(line.removeprefix(_PUT)[1:-1].rstrip(',') for line in group)},)"
        else:
            yield from group


# -- what the generated functions call; `data` is the whole record


def varint(number: int) -> bytes:
    """A zigzag varint. Raises OverflowError for more than 64 bits."""
    if number < 0 or number >> 41:
        return _long_varint(number)
    twice = number << 1
    if twice < 1 << 14:
        return _ENDS[twice]
    if twice < 1 << 28:
        return _PAIRS[twice & 0x3FFF] + _ENDS[twice >> 14]
    return _PAIRS[twice & 0x3FFF] + _PAIRS[twice >> 14 & 0x3FFF] + _ENDS[twice >> 28]


def _long_varint(number: int) -> bytes:
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"{number} does not fit into an Avro long")
    rest = (number << 1) ^ (number >> 63)
    encoded = b""
    while rest > 0x3FFF:
        encoded += _PAIRS[rest & 0x3FFF]
        rest >>= 14
    return encoded + _ENDS[rest]


class _Varints(dict[int, bytes]):
    """Those that come again and again: lengths, counts, the time of a batch."""

    def __missing__(self, number: int) -> bytes:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[number] = encoded = varint(number)
        return encoded


_PAIRS = [bytes((bits & 127 | 128, bits >> 7 | 128)) for bits in range(1 << 14)]
"""14 bits of a number that goes on, as the two bytes they make."""

_ENDS = [bytes((bits,)) if bits < 128 else bytes((bits & 127 | 128, bits >> 7)) for bits in range(1 << 14)]
"""The last 14 bits of a number, or fewer."""


class _Whole(dict[str, bytes]):
    """Texts with their lengths before them."""

    def __missing__(self, text: str) -> bytes:
        encoded = text.encode()
        if len(self) >= _REMEMBERED:
            self.clear()
        self[text] = whole = VARINTS[len(encoded)] + encoded
        return whole


class _Shared(dict[bytes, str]):
    """One text for all the places where it stands."""

    def __missing__(self, encoded: bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[encoded] = text = encoded.decode()
        return text


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag varint of at most 64 bits."""
    digits = data[at : at + 6]
    if len(digits) == 6 and digits[5] < 128:
        # A time of our days has six. All but the last carry a bit that says so: taken out at once.
        a, b, c, d, e, f = digits
        if a & b & c & d & e & 128 and not a & 1:
            value = a + (b << 7) + (c << 14) + (d << 21) + (e << 28) + (f << 35) - _CARRIED
            return value >> 1, at + 6
    value = shift = 0
    for byte in data[at : at + 10]:
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> 64:
                break
            return (value >> 1) ^ -(value & 1), at
        shift += 7
    raise ValueError("a number that is cut short, or has more than 64 bits")


_CARRIED = sum(128 << 7 * place for place in range(5))


def _size(data: bytes, at: int) -> tuple[int, int]:
    """Twice the length of a text, and the index of its varint's last byte."""
    first, second = data[at], data[at + 1]
    if first & 1 or first < 128:
        raise ValueError("a negative length")
    if second < 128:
        return first & 127 | second << 7, at + 1
    size, at = _number(data, at)
    return size << 1, at - 1


def _block(data: bytes, at: int) -> tuple[int, int]:
    """How many items follow. A negative count has the block's length in bytes after it."""
    count, at = _number(data, at)
    if count < 0:
        _, at = _number(data, at)
    return abs(count), at


VARINTS = _Varints()
_HELPERS = {
    "Encoded": Encoded,
    "varint": varint,
    "varints": VARINTS,
    "whole": _Whole(),
    "shared": _Shared(),
    "number": _number,
    "size": _size,
    "block": _block,
}
