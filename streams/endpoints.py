"""What a process answers over HTTP: `/metrics`, `/healthz` (it lives), `/readyz` (its stages work).

Kubernetes restarts what is not alive, and counts a rollout's step as done once it is ready.
"""

import functools
import socket
import threading
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import msgspec
from prometheus_client import make_wsgi_app

from streams.delivery import health


class PortError(RuntimeError):
    """The port cannot be opened; the message says which, and how to choose another."""


@functools.cache
def serve(host: str, port: int) -> int:
    """Listen once a process, however many stages it runs; return the port in use. Raises PortError."""
    try:
        server = make_server(host, port, _app(), _server(host), handler_class=_Quiet)
    except OSError as error:
        raise PortError(
            f"metrics cannot be served on {host}:{port} ({error.strerror}): set MEMWEIR_METRICS_PORT"
        ) from error
    threading.Thread(target=server.serve_forever, name="endpoints", daemon=True).start()
    return server.server_port


def _app() -> Any:
    metrics = make_wsgi_app()

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)  # type: ignore[no-any-return]
            case "/healthz":
                alive = health.alive()
                return _answer(start_response, good=alive, body={"alive": alive})
            case "/readyz":
                states = health.states()
                ready = bool(states) and set(states.values()) == {health.READY}
                return _answer(start_response, good=ready, body=states)
            case _:
                start_response("404 Not Found", [("Content-Type", "text/plain")])
                return [b"/metrics, /healthz, /readyz\n"]

    return app


def _answer(start_response: Any, *, good: bool, body: object) -> Iterable[bytes]:
    status = "200 OK" if good else "503 Service Unavailable"
    start_response(status, [("Content-Type", "application/json")])
    return [msgspec.json.encode(body) + b"\n"]


def _server(host: str) -> type[WSGIServer]:
    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    return Server


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_: object) -> None:
        """Scrapes and probes come every few seconds: nobody wants to read of them."""
