"""The demonstration: publish a chat, follow its windows and decisions, show what is remembered."""

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiokafka import AIOKafkaConsumer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from schemas.chat import ChatMessage, Command
from schemas.codec import Codec
from schemas.memory import ACTIVE, DecisionRecord
from schemas.scope import Scope
from streams import metrics
from streams.audit import Report, account, gather
from streams.cli.audit import table as audit_table
from streams.cli.changes import line as change_line
from streams.cli.memories import read as read_memories
from streams.cli.memories import table as memory_table
from streams.processing import ProcessingStage
from streams.roster import stages
from streams.settings import Settings
from streams.worker import run_stages
from topics import subscriber
from topics.catalogue import CHAT_MESSAGES, COMMANDS, DECISIONS
from topics.producer import Producer
from topics.publisher import prepare, publish_file
from topics.reader import lag

COLOURS = {"store": "green", "update": "yellow", "skip": "bright_black", "merge": "cyan"}
T = TypeVar("T")

POLL_SECONDS = 0.3
SHOWN_CHANGES = 8


class DemoError(RuntimeError):
    """The account of the demonstration does not add up."""


async def run(file: Path, settings: Settings, console: Console) -> None:
    """The whole demonstration against a broker whose topics are there. Raises DemoError, InvalidLineError."""
    sessions = _sessions(file)
    console.rule("[bold]memweir[/]: chat in, memories out")
    console.print(
        f"broker {settings.kafka.bootstrap_servers} (embedded, in memory), extraction "
        f"[bold]{settings.extraction.strategy}[/], policy [bold]{settings.resolution.policy}[/], "
        f"{sum(sessions.values())} messages of {len({scope for scope, _ in sessions})} scopes from {escape(file.name)}",
        highlight=False,
    )
    stopping = asyncio.Event()
    workers = stages(settings)
    worker = asyncio.create_task(run_stages(workers, settings, stopping))
    shown = asyncio.create_task(_show_decisions(settings, console))
    try:
        with console.status("the stages join their consumer groups"):
            await _first(worker, _ready(workers, settings.kafka.partitions))
        started = time.monotonic()
        report = await _first(worker, _feed(file, sessions, settings, console))
        seconds = time.monotonic() - started
    finally:
        stopping.set()
        shown.cancel()
        await asyncio.gather(worker, shown, return_exceptions=True)
    await _show_memories(sessions, settings, console)
    await _show_changes(settings, console)
    _show_figures(report, sum(sessions.values()), seconds, console)
    if not (report.sound and report.settled):
        raise DemoError("the account does not add up: " + "; ".join(report.examples))


def _sessions(file: Path) -> Counter[tuple[Scope, str]]:
    """How many messages each session of the file has."""
    sessions: Counter[tuple[Scope, str]] = Counter()
    with file.open("rb") as lines:
        for _, value in prepare(lines):
            message = msgspec.json.decode(value, type=ChatMessage)
            scope = Scope(message.tenant, message.scope_kind, str(message.scope_id))
            sessions[scope, scope.id if message.session_id is None else str(message.session_id)] += 1
    return sessions


async def _ready(workers: Sequence[ProcessingStage], partitions: int) -> None:
    while any(len(stage.ready) < partitions for stage in workers):  # noqa: ASYNC110 - of six stages, at a start
        await asyncio.sleep(POLL_SECONDS)


async def _first(worker: asyncio.Task[None], work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; the worker's error where that comes first."""
    task = asyncio.create_task(work)
    await asyncio.wait([worker, task], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await worker
        raise DemoError("the worker ended early")
    return task.result()


async def _feed(file: Path, sessions: Counter[tuple[Scope, str]], settings: Settings, console: Console) -> Report:
    """Publish the file, end its sessions, and wait until everything is settled."""
    servers, prefix = settings.kafka.bootstrap_servers, settings.kafka.group_prefix
    producer = Producer(servers)
    await producer.start()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as bars:
        published = bars.add_task("messages published", total=sum(sessions.values()))
        await publish_file(file, producer, progress=lambda count: bars.update(published, completed=count))
        # A command has a topic of its own and could overtake the messages: it ends what is in the inbox.
        await _until_read(f"{prefix}-intake", CHAT_MESSAGES.name, settings)
        deliveries = producer.deliveries()
        for scope, session in sessions:
            command = Command("end-session", scope.id, scope.tenant, scope.kind, session, f"end-{session}")
            deliveries.send(COMMANDS.name, key=scope.key, value=msgspec.json.encode(command))
        await deliveries.confirmed()
        await _until_read(f"{prefix}-commands", COMMANDS.name, settings)
        decided = bars.add_task("windows decided", total=None)
        while True:
            report = await asyncio.to_thread(lambda: account(gather(settings)))
            bars.update(decided, total=report.windows, completed=report.decided)
            if report.settled and not await asyncio.to_thread(lag, servers, f"{prefix}-sink", DECISIONS.name):
                break
            await asyncio.sleep(POLL_SECONDS)
    await producer.stop()
    return report


async def _until_read(group: str, topic: str, settings: Settings) -> None:
    while await asyncio.to_thread(lag, settings.kafka.bootstrap_servers, group, topic):  # noqa: ASYNC110 - the broker's
        await asyncio.sleep(POLL_SECONDS)


async def _show_decisions(settings: Settings, console: Console) -> None:
    codec = Codec()
    consumer = AIOKafkaConsumer(
        DECISIONS.name,
        bootstrap_servers=settings.kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
    )
    await consumer.start()
    try:
        async for record in consumer:
            for text in _decision_lines(codec.decode(record.value, DecisionRecord)):
                console.print(text, highlight=False, soft_wrap=True)
    finally:
        await consumer.stop()


def _decision_lines(record: DecisionRecord) -> list[str]:
    return [
        f"[{COLOURS[decision.action]}]{decision.action:6}[/] [dim]{escape(f'{record.tenant} {record.scope}')}[/]  "
        f"{escape(decision.text)}  [dim]({escape(decision.reason)})[/]"
        for decision in record.decisions
    ]


async def _show_memories(sessions: Counter[tuple[Scope, str]], settings: Settings, console: Console) -> None:
    console.rule("memories")
    for scope in sorted({scope for scope, _ in sessions}):
        found = await read_memories(settings, scope, all_=True)
        if found:
            active = sum(memory.status == ACTIVE for memory in found)
            console.print(memory_table(found, f"{scope.tenant} · {scope} · {active} active"))


async def _show_changes(settings: Settings, console: Console) -> None:
    console.rule("change events")
    events = [event async for event in subscriber.changes(settings.kafka.bootstrap_servers, from_beginning=True)]
    for event in events[-SHOWN_CHANGES:]:
        console.print(change_line(event), markup=False, highlight=False, soft_wrap=True)
    console.print(f"{len(events)} events on memory.changes.v1, the last {min(len(events), SHOWN_CHANGES)} shown")


def _show_figures(report: Report, messages: int, seconds: float, console: Console) -> None:
    console.rule("the account")
    console.print(audit_table(report))
    latency = Table.grid(padding=(0, 2))
    latency.add_row("throughput", f"{messages / seconds:,.0f} messages/s over {seconds:.1f} s")
    for label, quantile in (("p50", 0.5), ("p99", 0.99)):
        latency.add_row(f"message → readable row, {label}", f"≤ {_quantile(quantile):g} s")
    console.print(latency)


def _quantile(fraction: float) -> float:
    """Upper bound (seconds) of the bucket in which the quantile of the end-to-end latency lies."""
    buckets = [
        (float(sample.labels["le"]), sample.value)
        for metric in metrics.END_TO_END_SECONDS.collect()
        for sample in metric.samples
        if sample.name.endswith("_bucket")
    ]
    total = buckets[-1][1]
    return next(bound for bound, count in buckets if count >= total * fraction)
