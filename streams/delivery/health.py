"""Whether the stages of this process are alive and ready: what an orchestrator asks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import TimeoutError as NoAnswer

ANSWER_SECONDS = 5.0
"""An event loop that answers nothing for so long is taken for dead. Kubernetes' probes wait 1 s by default."""

READY = "ready"

_stages: dict[str, tuple[asyncio.AbstractEventLoop, Callable[[], str]]] = {}


def watch(stage: str, waiting_for: Callable[[], str]) -> None:
    """Ask `waiting_for`, on the running loop, what the stage still waits for: `ready`, or words that say."""
    _stages[stage] = asyncio.get_running_loop(), waiting_for


def forget(stage: str) -> None:
    _stages.pop(stage, None)


def states() -> dict[str, str]:
    """Each stage's state. Call it from a thread of its own: it waits for the stages' event loops."""
    return {stage: _ask(loop, waiting_for) for stage, (loop, waiting_for) in list(_stages.items())}


def alive() -> bool:
    """Whether every stage's event loop answers."""
    return DEAD not in states().values()


DEAD = "the event loop does not answer"


def _ask(loop: asyncio.AbstractEventLoop, waiting_for: Callable[[], str]) -> str:
    async def answer() -> str:
        return waiting_for()

    asked = answer()
    try:
        return asyncio.run_coroutine_threadsafe(asked, loop).result(ANSWER_SECONDS)
    except (NoAnswer, RuntimeError):  # RuntimeError: the loop is closed
        asked.close()
        return DEAD
