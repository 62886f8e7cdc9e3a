"""The registry client, against a small stand-in that speaks the Confluent API."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from schemas.candidates import Extraction
from schemas.codec import Codec, RegistryUnavailableError, UndecodableError
from tests.brokers import free_ports
from topics.registry import SchemaRegistry

EVENT = Extraction("acme", "user", "lin", session_id="s", last_ordinal=3, window_id="w", scene_name="Moving house")


class StandIn(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.schemas: dict[int, str] = {}
        self.subjects: list[str] = []
        self.refuse: int | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refuse:
            self.answer(self.server.refuse, {"error_code": self.server.refuse, "message": "incompatible"})
            return
        self.server.subjects.append(self.path.split("/")[2])
        self.server.schemas[7] = body["schema"]
        self.answer(200, {"id": 7})

    def do_GET(self) -> None:
        schema = self.server.schemas.get(int(self.path.split("?")[0].rsplit("/", 1)[1]))
        if schema is None:
            self.answer(404, {"error_code": 40403, "message": "Schema not found"})
        else:
            self.answer(200, {"schema": schema})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_an_event_goes_through_the_registry_and_back(stand_in: StandIn) -> None:
    data = Codec(SchemaRegistry(stand_in.url)).encode(EVENT)
    assert data[:5] == b"\x00\x00\x00\x00\x07"
    assert stand_in.subjects == ["memweir.Extraction"]
    # Another process: it has to ask for the schema by its id.
    assert Codec(SchemaRegistry(stand_in.url)).decode(data, Extraction) == EVENT


def test_an_id_that_the_registry_does_not_know_is_bad_input(stand_in: StandIn) -> None:
    with pytest.raises(UndecodableError, match="schema id 9 is unknown"):
        Codec(SchemaRegistry(stand_in.url)).decode(b"\x00\x00\x00\x00\x09rest", Extraction)


def test_a_refused_schema_says_which_and_why(stand_in: StandIn) -> None:
    stand_in.refuse = 409
    with pytest.raises(ValueError, match=r"refuses extraction as memweir\.Extraction: incompatible"):
        Codec(SchemaRegistry(stand_in.url)).encode(EVENT)


def test_an_outage_is_not_bad_input() -> None:
    (port,) = free_ports(1)
    codec = Codec(SchemaRegistry(f"http://127.0.0.1:{port}", timeout=1))
    with pytest.raises(RegistryUnavailableError, match="does not answer"):
        codec.decode(b"\x00\x00\x00\x00\x09rest", Extraction)
    with pytest.raises(RegistryUnavailableError, match="does not answer"):
        codec.encode(EVENT)
