"""A model server for tests: OpenAI's chat completions over real HTTP on loopback, with faults to order.

`async with ModelServer(answer) as server:` serves until the block ends; `answer` is a callable that takes
the parsed `Request` and returns what to reply: a text (a normal answer), or a `Fault`.
"""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class Request:
    """What a client sent. `records(tag)` reads the data between a prompt's tags."""

    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    def lines(self, tag: str) -> list[str]:
        match = re.search(rf"^<{tag}>\n(.*?)\n?^</{tag}>$", self.user, re.DOTALL | re.MULTILINE)
        return match[1].split("\n") if match and match[1] else []

    def records(self, tag: str) -> list[Any]:
        return [json.loads(line) for line in self.lines(tag)]


@dataclass(frozen=True)
class Fault:
    """A reply that is not a plain answer. `text` still counts where the status is 200."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    body: str | None = None
    """Sent as it is, in place of a chat completion."""
    delay: float = 0
    """Seconds before anything is sent."""
    drip: float = 0
    """Seconds between single bytes: each arrives in time, the answer never does."""
    cut: bool = False
    """The connection is closed in the middle of the body."""


def rate_limited(retry_after: float) -> Fault:
    return Fault(429, {"Retry-After": f"{retry_after:g}"}, body='{"error": {"message": "slow down"}}')


def failing(status: int = 500) -> Fault:
    return Fault(status, body='{"error": {"message": "no"}}')


Answer = str | Fault


class ModelServer:
    """Answers `/v1/chat/completions` on a free port of 127.0.0.1; `requests` holds what came, in order."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._completions)
        self._runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        seen = Request({name.lower(): value for name, value in request.headers.items()}, await request.json())
        self.requests.append(seen)
        answer = self.answer(seen)
        fault = answer if isinstance(answer, Fault) else Fault(text=answer)
        await asyncio.sleep(fault.delay)
        body = fault.body if fault.body is not None else json.dumps(_completion(seen, fault))
        if not fault.cut and not fault.drip:
            kind = "text/html" if body.startswith("<") else "application/json"
            return web.Response(status=fault.status, headers=fault.headers, text=body, content_type=kind)
        data = body.encode()
        response = web.StreamResponse(status=fault.status, headers={"Content-Type": "application/json"})
        response.content_length = len(data)
        await response.prepare(request)
        if fault.cut:
            await response.write(data[: len(data) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        for byte in data:
            await response.write(bytes([byte]))
            await asyncio.sleep(fault.drip)
        return response


def _completion(request: Request, fault: Fault) -> dict[str, Any]:
    text = fault.text
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": request.body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": fault.refusal},
                "finish_reason": fault.finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": len(request.system + request.user) // 4,
            "completion_tokens": len(text or "") // 4,
            "total_tokens": len(request.system + request.user + (text or "")) // 4,
        },
    }
