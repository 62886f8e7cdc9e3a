"""The one way to a model: any OpenAI-compatible server, two kinds of failure.

`ModelOutage` is the server's trouble: whoever calls waits and asks again for ever, and nothing advances.
`UnusableAnswer` is this request's trouble: asking again did not help, so it becomes a dead letter.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

from prompts.answers import UnparsableError
from prompts.templates import Prompt

T = TypeVar("T")

PROMPT_HEADER = "x-memweir-prompt"
LONGEST_RETRY_AFTER = 120.0
"""Seconds: the openai library waits as long as Retry-After says up to this, and gives up beyond it."""
LONGEST_OUTAGE_WAIT = 900.0
"""Seconds that an outage may ask for: no header shall put a scope to sleep for a day."""

# What a server says of one request; every other status (a key, a model's name, a quota) concerns all
# requests alike, and ends when someone mends it.
_ABOUT_THE_REQUEST = {400, 413, 422}


class ModelOutage(Exception):
    """The server cannot be reached, is overloaded, fails, or turns everything away."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds that the server asked for, where it did."""


class UnusableAnswer(Exception):
    """No answer to this prompt can be used; `raw` is the last one (or the server's reason), for a dead letter."""

    def __init__(self, reason: str, raw: str, usage: "Usage") -> None:
        super().__init__(reason)
        self.raw = raw
        self.usage = usage


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counts them; 0 where it does not tell."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A usable answer, read. `usage` includes the answers that were thrown away before it."""

    value: T
    usage: Usage
    answers: int


@dataclass(frozen=True)
class Call:
    """What one `ask` came to, for metrics: `ok`, `unusable`, `outage` or `cancelled`; seconds include retries."""

    prompt: str
    outcome: str
    usage: Usage
    seconds: float


class ModelClient:
    """Asks `model` at `base_url` (OpenAI's own where None). Belongs to the event loop that first uses it.

    `timeout`: seconds a request may be silent. `retries`: requests after the first, where the server fails
    (backoff and Retry-After are the openai library's). `answers`: how often it is asked while what it says
    cannot be used. `on_call` is told of every `ask`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60,
        retries: int = 5,
        answers: int = 3,
        backoff: float = 0.5,
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        if base_url and api_key is None:
            # The library would take OPENAI_API_KEY: a key for OpenAI is no business of another server.
            api_key = "none"
        self.model = model
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=retries)
        # `timeout` restarts with each byte, so a server that drips would hold a scope for ever.
        self._deadline = (retries + 1) * 2 * timeout + retries * LONGEST_RETRY_AFTER
        self._answers = answers
        self._backoff = backoff
        self._on_call = on_call
        self._proven = False

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, prompt: Prompt, read: Callable[[str, bool], T]) -> Reply[T]:
        """`read(text, truncated)` of an answer to `prompt`, asking again where it raises UnparsableError.

        Raises ModelOutage and UnusableAnswer (see the module).
        """
        started, outcome, usage = time.monotonic(), "cancelled", Usage()
        try:
            reason, raw = "", ""
            for answers in range(1, self._answers + 1):
                if answers > 1:
                    await asyncio.sleep(self._backoff * 2 ** (answers - 2))
                completion = await self._complete(prompt)
                usage += _usage(completion)
                choice = completion.choices[0]
                raw = choice.message.content or choice.message.refusal or ""
                try:
                    _refuse_refusals(choice)
                    value = read(raw, choice.finish_reason == "length")
                except UnparsableError as error:
                    reason = str(error)
                else:
                    outcome = "ok"
                    return Reply(value, usage, answers)
            outcome = "unusable"
            raise UnusableAnswer(f"{prompt.label}: {reason} ({self._answers} answers)", raw, usage)
        except ModelOutage:
            outcome = "outage"
            raise
        except openai.APIStatusError as error:
            outcome = "unusable"
            raise UnusableAnswer(f"{prompt.label}: refused with {error}", error.response.text, usage) from error
        finally:
            if self._on_call:
                self._on_call(Call(prompt.label, outcome, usage, time.monotonic() - started))

    async def _complete(self, prompt: Prompt) -> ChatCompletion:
        """One answer. Raises ModelOutage, or openai.APIStatusError where this very request is turned away."""
        try:
            async with asyncio.timeout(self._deadline):
                completion = await self._client.chat.completions.create(
                    model=self.model,
                    messages=[
                        {"role": "system", "content": prompt.system},
                        {"role": "user", "content": prompt.user},
                    ],
                    extra_headers={PROMPT_HEADER: prompt.label},
                )
        except openai.APIStatusError as error:
            # Before anything was ever answered, a setting is the likelier cause: a dead letter for every
            # window would be the wrong answer to a typing error.
            if error.status_code in _ABOUT_THE_REQUEST and self._proven:
                raise
            raise ModelOutage(str(error), _seconds(error.response.headers.get("retry-after"))) from error
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            raise ModelOutage(f"{type(error).__name__}: {error}") from error
        # A proxy's page, or an error under status 200: the library hands both over unchecked.
        choices = getattr(completion, "choices", None)
        if not choices or not isinstance(getattr(choices[0], "message", None), ChatCompletionMessage):
            raise ModelOutage("the server's response is not a chat completion")
        self._proven = True
        return completion


def _refuse_refusals(choice: Choice) -> None:
    """Raises UnparsableError where the model declined, or said nothing."""
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise UnparsableError("refused")
    if not choice.message.content:
        raise UnparsableError("empty")


def _usage(completion: ChatCompletion) -> Usage:
    usage = completion.usage
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else Usage()


def _seconds(retry_after: str | None) -> float | None:
    """The header's seconds, where it holds some that are worth obeying; a date is left to the caller's backoff."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return min(seconds, LONGEST_OUTAGE_WAIT) if seconds > 0 else None
