"""A stage as a Faust app: a group, a source topic, a task a partition."""

import asyncio
import contextlib
from typing import cast

import faust
from faust.app.base import BootStrategy
from faust.types import StreamT

from streams.delivery import health
from streams.delivery.partitions import Partitions, Source
from streams.delivery.stage import Record, Stage
from streams.delivery.transport import BatchConsumer, BatchTopic, BatchTransport
from streams.settings import Settings


class _NoWeb(BootStrategy):
    # `web_enabled=False` is overwritten by the `faust worker` command; this is not.
    enable_web = False


class StageApp(faust.App):
    """Runs one stage. `partitions.assignments` tells positions and lag."""

    BootStrategy = _NoWeb

    def __init__(self, stage: Stage, settings: Settings) -> None:
        kafka = settings.kafka
        super().__init__(
            f"{kafka.group_prefix}-{stage.name}",
            broker=[f"kafka://{server.strip()}" for server in kafka.bootstrap_servers.split(",")],
            store="memory://",
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            table_standby_replicas=0,
            # True, the default, waits at a revocation for what only a commit after it could free.
            stream_wait_empty=False,
            consumer_auto_offset_reset="earliest",
            broker_session_timeout=kafka.session_timeout,
            broker_heartbeat_interval=kafka.session_timeout / 6,
            broker_rebalance_timeout=kafka.session_timeout * 2,
            broker_commit_interval=kafka.commit_interval,
            broker_max_poll_records=2000,
            consumer_max_fetch_size=4 * 1024 * 1024,
        )
        self.stage = stage
        self.partitions = Partitions(
            stage, lambda: cast(Source, self.consumer), self._fail, accept_deleted=kafka.accept_deleted
        )
        self.transport = BatchTransport(self.conf.broker_consumer, self, self.partitions)
        self.agent(BatchTopic(self, topics=[stage.source]), name=stage.name)(self._dispatch)

    async def _dispatch(self, stream: StreamT[list[Record]]) -> None:
        async for event in stream.events():
            message = event.message
            self.partitions.deliver(message.tp, message.generation_id, cast(list[Record], event.value))

    async def _fail(self, error: BaseException) -> None:
        # A crash closes the connection first: what the other partitions have marked would come again.
        await self.partitions.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(cast(BatchConsumer, self.consumer).commit_marks(), self.conf.broker_session_timeout)
        await self.crash(error)

    async def on_start(self) -> None:
        await super().on_start()
        health.watch(self.stage.name, self.waiting_for)
        await self.stage.start()

    def waiting_for(self) -> str:
        """What keeps the stage from working, or `ready`: every partition it was given is restored.

        A worker that was given none, where there are more workers than partitions, is ready too.
        """
        if self.should_stop:
            return "stopping"
        consumer = cast(BatchConsumer, self.consumer)
        if self.rebalancing or not consumer.joined:
            return "waiting for the group"
        if not consumer.heard_lately():
            return "waiting for the broker"
        restored = {each.tp for each in self.partitions.assignments if each.restored}
        restoring = sorted(tp.partition for tp in consumer.assignment() - restored)
        return f"restoring partitions {', '.join(map(str, restoring))}" if restoring else health.READY

    async def on_stop(self) -> None:
        # Before the consumer's last commit: nothing may be marked, or written, after it.
        await self.partitions.close()
        await super().on_stop()

    async def on_shutdown(self) -> None:
        await super().on_shutdown()
        health.forget(self.stage.name)
        await self.stage.stop()

    def _create_directories(self) -> None:
        # Stock: `<app id>-data` in the working directory, for table files that we don't have.
        pass


def build_app(stage: Stage, settings: Settings) -> StageApp:
    """The Faust app of a stage, its consumer group being `<group_prefix>-<stage name>`."""
    return StageApp(stage, settings)
