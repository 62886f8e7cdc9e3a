"""Several stages in one process and one event loop."""

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence

from mode.threads import WorkerThread

from streams.delivery.app import StageApp, build_app
from streams.delivery.stage import Stage
from streams.settings import Settings

logger = logging.getLogger(__name__)

STOP_SECONDS = 20.0
"""How long a stage may take to commit and leave its group: without a broker it never would."""


class StageCrashedError(RuntimeError):
    """A stage stopped on an error, which is its cause. Nothing was skipped: start again to replay."""


async def run_stages(stages: Sequence[Stage], settings: Settings, stopping: asyncio.Event) -> None:
    """Run the stages until `stopping` is set; then drop what is in flight, commit, leave the groups.

    Raises StageCrashedError as soon as one of them crashes, after all have been stopped.
    """
    apps = [build_app(stage, settings) for stage in stages]
    # What was imported stays for good, and records live as long as their batch: a collector that
    # looks at them every 700 objects finds nothing, for a tenth of windowing's time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    runs = [asyncio.create_task(_run(app), name=app.stage.name) for app in apps]
    asked = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([*runs, asked], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await asyncio.gather(*(_stop(app) for app in apps))
        for task in [*runs, asked]:
            task.cancel()
        ended = await asyncio.gather(*runs, return_exceptions=True)
    for app, error in zip(apps, ended, strict=True):
        if isinstance(error, Exception):
            raise StageCrashedError(f"{app.stage.name}: {error}") from error


def run_worker(stages: Sequence[Stage], settings: Settings) -> int:
    """Run the stages until SIGTERM or SIGINT. The exit status: 0, or 1 where a stage crashed."""

    async def main() -> int:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        try:
            await run_stages(stages, settings, stopping)
        except StageCrashedError as error:
            logger.critical("%s", error)
            return _leave(1)
        return _leave(0)

    return asyncio.run(main())


async def _run(app: StageApp) -> None:
    start = asyncio.create_task(app.start())
    stopped = asyncio.create_task(app.wait_until_stopped())
    try:
        # A crash leaves `start` hanging where it comes before the start is over.
        await asyncio.wait([start, stopped], return_when=asyncio.FIRST_COMPLETED)
        if start.done():
            start.result()
        await stopped
    finally:
        start.cancel()
        stopped.cancel()
    if app.crash_reason is not None:
        raise app.crash_reason


async def _stop(app: StageApp) -> None:
    stop = asyncio.create_task(app.stop())
    # Not a timeout around it: mode swallows the cancellation and goes on waiting.
    done, _ = await asyncio.wait([stop], timeout=STOP_SECONDS)
    if not done:
        logger.error("%s did not stop within %g s", app.stage.name, STOP_SECONDS)
    elif error := stop.exception():
        logger.error("%s did not stop in order", app.stage.name, exc_info=error)


def _leave(status: int) -> int:
    # Faust's consumer threads are not daemons: one that is stuck would keep the process, its group
    # membership and its partitions.
    if any(isinstance(thread, WorkerThread) for thread in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        os._exit(status)
    return status
