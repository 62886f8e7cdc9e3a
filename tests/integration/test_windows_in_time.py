"""Windows against time, restarts and slow models, on a worker of the test's own."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from prompts.strategy import Extracted, Strategy
from schemas.window import Window
from tests.pipeline import message, on_embedded, pipeline_on

_tenants = count()


@pytest.fixture
def tenant() -> str:
    return f"timed-{next(_tenants)}"


class Gate:
    """A strategy that is a slow model's: it answers once it is let."""

    def __init__(self, strategy: Strategy) -> None:
        self.name, self.model, self.prompt = strategy.name, strategy.model, strategy.prompt
        self.asked: list[Window] = []
        self.opened = asyncio.Event()
        self._strategy = strategy

    async def extract(self, window: Window, scene_name: str) -> Extracted:
        self.asked.append(window)
        await self.opened.wait()
        return await self._strategy.extract(window, scene_name)


async def test_case_28_the_tail_of_a_session_is_extracted_without_another_message(
    own_broker: str, tmp_path: Path, tenant: str
) -> None:
    async with pipeline_on(own_broker, tmp_path, idle_seconds=1) as pipeline:
        await pipeline.publish(*(message(tenant, f"Note {n}.") for n in range(14)), message(tenant, "I live in Oslo."))
        await pipeline.until(lambda: len(pipeline.turns(tenant)) == 15 and pipeline.is_settled(tenant))
        assert await pipeline.texts(tenant) == ["Lin lives in Oslo."]
        *_, tail = pipeline.windows(tenant)
        assert tail.close_reason == "idle"
        assert tail.turns[-1].text == "I live in Oslo."
        assert len(tail.turns) < 5


@on_embedded
async def test_case_29_a_window_that_fills_while_another_is_being_extracted_is_not_lost(
    own_broker: str, tmp_path: Path, tenant: str
) -> None:
    async with pipeline_on(own_broker, tmp_path) as pipeline:
        pipeline.extraction.strategy = gate = Gate(pipeline.extraction.strategy)
        await pipeline.publish(message(tenant, "I live in Oslo."))
        await pipeline.until(lambda: gate.asked)
        await pipeline.publish(*(message(tenant, f"I love {food}.") for food in ("ramen", "olives", "mango")))
        await pipeline.publish(*(message(tenant, f"Note {n}.") for n in range(3)))
        await pipeline.until(lambda: len(pipeline.windows(tenant)) == 3)
        assert [window.ordinal for window in gate.asked] == [0]
        assert pipeline.decisions(tenant) == []

        gate.opened.set()
        await pipeline.finish(tenant)
        assert [window.ordinal for window in gate.asked] == [0, 1, 2]
        assert [record.ordinal for record in pipeline.decisions(tenant)] == [0, 1, 2]
        assert sorted(await pipeline.texts(tenant)) == [
            "Lin lives in Oslo.", "Lin loves mango.", "Lin loves olives.", "Lin loves ramen.",
        ]  # fmt: skip


async def test_case_30_a_window_that_is_open_when_the_worker_stops_goes_on_after_the_restart(
    own_broker: str, tmp_path: Path, tenant: str
) -> None:
    async with pipeline_on(own_broker, tmp_path) as pipeline:
        await pipeline.publish(message(tenant, "I live in Oslo."), message(tenant, "I am a nurse."))
        await pipeline.until(lambda: pipeline.windows(tenant) and pipeline.open_windows == 1)
        await pipeline.stop()
        await pipeline.publish(message(tenant, "I love ramen."))
        await pipeline.start()
        await pipeline.until(lambda: len(pipeline.windows(tenant)) == 2)
        first, second = pipeline.windows(tenant)
        assert [turn.text for turn in first.turns] == ["I live in Oslo."]
        assert [turn.text for turn in second.turns] == ["I am a nurse.", "I love ramen."]
        assert second.close_reason == "turns"
        await pipeline.finish(tenant)
        assert len(pipeline.windows(tenant)) == 2
        assert sorted(await pipeline.texts(tenant)) == ["Lin is a nurse.", "Lin lives in Oslo.", "Lin loves ramen."]


async def test_case_30_a_worker_that_stops_again_and_again_loses_and_doubles_nothing(
    own_broker: str, tmp_path: Path, tenant: str
) -> None:
    said: list[str] = []
    async with pipeline_on(own_broker, tmp_path) as pipeline:
        for food in ("ramen", "olives"):
            texts = [f"I love {food}.", *(f"Note {n} on {food}." for n in range(7))]
            said += texts
            await pipeline.publish(*(message(tenant, text, session_id=n) for n, text in enumerate(texts)))
            await pipeline.taken_in()
            await pipeline.stop()
            await pipeline.start()
        await pipeline.finish(tenant)
        assert sorted(pipeline.turns(tenant)) == sorted(said)
        assert sorted(await pipeline.texts(tenant)) == ["Lin loves olives.", "Lin loves ramen."]
