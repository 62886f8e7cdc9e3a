import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from prompts.answers import parse_records
from prompts.client import Call, ModelClient, ModelOutage, Reply, UnusableAnswer, Usage
from prompts.templates import Prompt
from tests.model_server import Answer, Fault, ModelServer, Request, failing, rate_limited

PROMPT = Prompt("test.prompt@7", "You answer in JSON.", '<messages>\n{"text":"hello"}\n</messages>')
GOOD = '[{"content":"Lin likes tea"}]'


def client(server: ModelServer, **options: Any) -> ModelClient:
    chosen: dict[str, Any] = {"base_url": server.base_url, "retries": 1, "backoff": 0.0, "timeout": 5.0} | options
    return ModelClient("small", **chosen)


async def ask(model: ModelClient) -> Reply[list[dict[str, Any]]]:
    try:
        return await model.ask(PROMPT, lambda text, cut: parse_records(text, ["content"], truncated=cut).items)
    finally:
        await model.close()


def in_turn(*answers: Answer) -> Callable[[Request], Answer]:
    """The answers one after the other, the last one for ever."""
    left: Iterator[Answer] = iter(answers)
    return lambda request: next(left, answers[-1])


async def test_a_good_answer_comes_with_its_tokens() -> None:
    async with ModelServer(in_turn(GOOD)) as server:
        reply = await ask(client(server))
    assert reply.value == [{"content": "Lin likes tea"}]
    assert reply.usage == Usage(len(PROMPT.system + PROMPT.user) // 4, len(GOOD) // 4)
    assert reply.answers == len(server.requests) == 1


async def test_a_request_names_its_prompt_and_no_person() -> None:
    async with ModelServer(in_turn(GOOD)) as server:
        await ask(client(server))
    (request,) = server.requests
    assert request.headers["x-memweir-prompt"] == "test.prompt@7"
    assert set(request.body) == {"model", "messages"}
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]


async def test_the_key_for_openai_is_not_shown_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    async with ModelServer(in_turn(GOOD)) as server:
        await ask(client(server))
        await ask(client(server, api_key="for-this-one"))
    assert "sk-for-openai-only" not in str(server.requests[0].headers)
    assert server.requests[1].headers["authorization"] == "Bearer for-this-one"


async def test_retry_after_is_waited_for() -> None:
    async with ModelServer(in_turn(rate_limited(1.2), GOOD)) as server:
        started = time.monotonic()
        await ask(client(server))
        waited = time.monotonic() - started
    assert len(server.requests) == 2
    assert waited >= 1.2


@pytest.mark.parametrize(
    "fault",
    [
        rate_limited(0.01),
        failing(500),
        failing(503),
        failing(401),
        failing(404),
        Fault(text=GOOD, cut=True),
        Fault(body="<html>Welcome to the proxy</html>"),
        Fault(body='{"error": {"message": "overloaded"}}'),
        Fault(body='{"choices": []}'),
        Fault(body='{"choices": [{"index": 0}]}'),
        Fault(body="[1"),
        Fault(text=GOOD, delay=30),
        Fault(text=GOOD, drip=0.4),
    ],
    ids=str,
)
async def test_the_servers_trouble_is_an_outage_and_no_answer(fault: Fault) -> None:
    calls: list[Call] = []
    async with ModelServer(in_turn(fault)) as server:
        model = client(server, retries=0, timeout=0.5, on_call=calls.append)
        with pytest.raises(ModelOutage):
            await ask(model)
    assert [call.outcome for call in calls] == ["outage"]


@pytest.mark.parametrize(
    ("header", "seconds"), [("600", 600), ("1e9", 900), ("inf", 900), ("nan", None), ("-1", None), ("soon", None)]
)
async def test_an_outage_tells_how_long_the_server_wants_to_be_left_alone(header: str, seconds: float | None) -> None:
    async with ModelServer(in_turn(Fault(429, {"Retry-After": header}, body="{}"))) as server:
        with pytest.raises(ModelOutage) as caught:
            await ask(client(server, retries=0))
    assert caught.value.retry_after == seconds


async def test_a_server_that_is_not_there_is_an_outage() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelOutage):
        await ask(ModelClient("small", base_url=f"http://127.0.0.1:{port}/v1", retries=0))


@pytest.mark.parametrize("fault", [failing(500), failing(503), rate_limited(0.01), Fault(text=GOOD, cut=True)], ids=str)
async def test_a_passing_fault_is_not_noticed(fault: Fault) -> None:
    async with ModelServer(in_turn(fault, GOOD)) as server:
        reply = await ask(client(server))
    assert reply.value
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fault", "raw"),
    [
        (Fault(refusal="I will not do this."), "I will not do this."),
        (Fault(text="I cannot help with that."), "I cannot help with that."),
        (Fault(text="", finish_reason="stop"), ""),
        (Fault(text=GOOD, finish_reason="content_filter"), GOOD),
        (Fault(text='[{"content":"half', finish_reason="length"), '[{"content":"half'),
        (Fault(text="lorem [ipsum"), "lorem [ipsum"),
    ],
)
async def test_a_refusal_or_garbage_is_asked_again_and_then_given_up_with_the_raw_answer(
    fault: Fault, raw: str
) -> None:
    calls: list[Call] = []
    async with ModelServer(in_turn(fault)) as server:
        with pytest.raises(UnusableAnswer, match=r"test\.prompt@7") as caught:
            await ask(client(server, answers=3, on_call=calls.append))
    assert len(server.requests) == 3
    assert caught.value.raw == raw
    assert caught.value.usage.prompt_tokens == 3 * (len(PROMPT.system + PROMPT.user) // 4)
    assert [(call.outcome, call.usage) for call in calls] == [("unusable", caught.value.usage)]


async def test_an_answer_after_a_refusal_is_taken_and_both_are_paid_for() -> None:
    async with ModelServer(in_turn(Fault(refusal="No."), GOOD)) as server:
        reply = await ask(client(server))
    assert (reply.answers, reply.usage.prompt_tokens) == (2, 2 * (len(PROMPT.system + PROMPT.user) // 4))


async def test_a_cut_answer_is_used_as_far_as_it_goes() -> None:
    text = '[{"content":"a"},{"content":"b"},{"content":"half of'
    async with ModelServer(in_turn(Fault(text=text, finish_reason="length"))) as server:
        reply = await ask(client(server))
    assert reply.value == [{"content": "a"}, {"content": "b"}]
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_that_a_working_server_turns_away_is_given_up(status: int) -> None:
    async with ModelServer(in_turn(GOOD, failing(status))) as server:
        model = client(server)
        await model.ask(PROMPT, lambda text, _: text)
        with pytest.raises(UnusableAnswer) as caught:
            await ask(model)
    assert "no" in caught.value.raw
    assert len(server.requests) == 2


async def test_a_server_that_never_answered_anything_is_rather_set_up_wrongly() -> None:
    async with ModelServer(in_turn(failing(400))) as server:
        with pytest.raises(ModelOutage):
            await ask(client(server))


async def test_a_cancelled_call_ends_at_once() -> None:
    calls: list[Call] = []
    asked = asyncio.Event()

    def never(request: Request) -> Answer:
        asked.set()
        return Fault(text=GOOD, delay=30)

    async with ModelServer(never) as server:
        call = asyncio.ensure_future(ask(client(server, on_call=calls.append)))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert [call.outcome for call in calls] == ["cancelled"]
