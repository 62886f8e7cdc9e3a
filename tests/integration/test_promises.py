"""What the README promises to gateways, subscribers and operators, on a running pipeline."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from prompts.rules.strategy import RulesStrategy
from prompts.strategy import Extracted
from schemas.chat import ChatMessage, Command
from schemas.codec import Codec
from schemas.memory import Memory, MemoryChanged
from schemas.window import Window
from streams import endpoints, metrics
from streams.roster import STAGES
from tests.pipeline import PARTITIONS, Pipeline, lin, message, on_embedded, pipeline_on
from topics.catalogue import CANDIDATES, CHANGES, CHAT_MESSAGES, DECISIONS, DLQ, INBOX, SCENES
from topics.dead_letters import origin

pytestmark = pytest.mark.asyncio(loop_scope="module")

_tenants = count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(own_broker: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with pipeline_on(own_broker, tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def tenant() -> str:
    return f"promised-{next(_tenants)}"


async def test_a_file_published_twice_changes_nothing(pipeline: Pipeline, tenant: str, tmp_path: Path) -> None:
    texts = ["I live in Oslo.", "I love ramen.", "I live in Oslo.", "I moved to Bergen.", "ok", "I am a nurse."]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(json.dumps(message(tenant, text)) for text in texts))
    await pipeline.publish_file(file)
    await pipeline.finish(tenant)
    rows, events = await pipeline.memories(lin(tenant), all_=True), pipeline.changes(tenant)
    assert len(rows) == 4

    await pipeline.publish_file(file)
    await pipeline.finish(tenant)
    assert len(pipeline.inbox(tenant)) == 2 * len(texts)
    assert await pipeline.memories(lin(tenant), all_=True) == rows
    assert pipeline.changes(tenant) == events
    assert pipeline.filtered(tenant).count("duplicate") == len(texts)


async def test_avro_and_json_and_json_with_more_in_it_are_one_inbox_message(pipeline: Pipeline, tenant: str) -> None:
    given = ChatMessage(
        "lin", "I live in Oslo.", tenant, session_id="s", message_id="m", speaker="Lin", sent_at="2024-05-03T23:30:00Z",
        time_zone="Europe/Oslo", attributes={"channel": "sms"},
    )  # fmt: skip
    plain = message(
        tenant, given.content, session_id="s", message_id="m", sent_at=given.sent_at, time_zone="Europe/Oslo",
        attributes={"channel": "sms"},
    )  # fmt: skip
    more = {**plain, "trace": {"id": [1, 2]}, "scope": "other", "vip": None}
    await pipeline.publish(Codec().encode(given), key=b"any key")
    await pipeline.publish(plain, more)
    await pipeline.finish(tenant)
    accepted = [replace(each, origin_offset=0, received_at=0) for each in pipeline.inbox(tenant)]
    assert accepted == [accepted[0]] * 3
    assert await pipeline.texts(tenant) == ["Lin lives in Oslo."]


@on_embedded
async def test_what_a_gateway_leaves_out_has_its_default(pipeline: Pipeline, tenant: str) -> None:
    await pipeline.publish({"tenant": tenant, "scope_id": 7, "content": "hi"})
    await pipeline.finish(tenant)
    (accepted,) = pipeline.inbox(tenant)
    record = pipeline.records[CHAT_MESSAGES.name][-1]
    assert (accepted.scope_kind, accepted.scope_id, accepted.session_id) == ("user", "7", "7")
    assert (accepted.role, accepted.kind, accepted.time_zone) == ("user", "chat", "UTC")
    assert accepted.message_id == f"{CHAT_MESSAGES.name}-0-{record.offset}"
    assert accepted.sent_at == record.timestamp


async def test_the_row_of_a_change_can_be_read_when_its_event_arrives(pipeline: Pipeline, tenant: str) -> None:
    seen: list[tuple[MemoryChanged, list[Memory]]] = []

    async def read(event: MemoryChanged) -> None:
        seen.append((event, await pipeline.memories(event.scope, all_=True)))

    pipeline.on_change = read
    texts = ("I live in Oslo.", "I love ramen.", "I moved to Bergen.", "I live in Porto.", "Noted.", "I love ramen.")
    for text in texts:
        await pipeline.publish(message(tenant, text, role="assistant" if text == "Noted." else "user"))
    await pipeline.finish(tenant)
    pipeline.on_change = None
    assert [event.action for event, _ in seen] == ["store", "store", "update", "update", "skip"]
    for event, rows in seen:
        (row,) = [row for row in rows if row.memory_id == event.memory_id]
        assert row.scope_seq >= event.scope_seq
        assert row.text == event.text
        replaced = [row for row in rows if row.memory_id in event.supersedes]
        assert [old.memory_id for old in replaced if old.superseded_by] == event.supersedes


@on_embedded
async def test_a_dead_letter_keeps_its_bytes_and_tells_stage_and_reason(pipeline: Pipeline, tenant: str) -> None:
    refused = json.dumps(message(tenant, "I live in Oslo.", role="oracle")).encode()
    await pipeline.publish(refused, b"", key=b"\xff the gateway's own key")
    garbage = {topic.name: f"garbage {topic.name}".encode() for topic in (INBOX, SCENES, CANDIDATES, DECISIONS)}
    for topic, value in garbage.items():
        await pipeline.send(topic, value, key=b"k")
    await pipeline.command(b'{"type": "forget-everything", "scope_id": "lin"}')
    await pipeline.until(lambda: len({value.value for value in pipeline.records[DLQ.name]} & {*garbage.values()}) == 4)
    await pipeline.taken_in()

    originals = {(r.topic, (r.partition, r.offset)): r for records in pipeline.records.values() for r in records}
    for letter in pipeline.records[DLQ.name]:
        original = originals[origin(list(letter.headers))]
        assert (letter.key, letter.value) == (original.key, original.value)
    assert pipeline.reason(refused) == 'intake Refused: role "oracle" is not one of user, assistant, system, tool'
    stages = [pipeline.reason(value).split()[0] for value in garbage.values()]
    assert stages == ["windowing", "extraction", "resolution", "sink"]

    await pipeline.publish(message(tenant, "I live in Oslo."))
    await pipeline.finish(tenant)
    assert await pipeline.texts(tenant) == ["Lin lives in Oslo."]


@on_embedded
async def test_a_command_ends_the_session_it_names_and_no_other(pipeline: Pipeline, tenant: str) -> None:
    for session in ("one", "two"):
        await pipeline.publish(*(message(tenant, f"Note {n}.", session_id=session) for n in range(2)))
    await pipeline.taken_in()
    await pipeline.command(Command("end-session", "lin", tenant, session_id="one"))
    await pipeline.until(lambda: len(pipeline.windows(tenant)) == 3)
    ended = [window for window in pipeline.windows(tenant) if window.close_reason == "end-session"]
    assert [window.session_id for window in ended] == ["one"]
    await pipeline.finish(tenant)


@on_embedded
async def test_a_scrape_of_the_metrics_holds_every_series_and_names_nobody(pipeline: Pipeline, tenant: str) -> None:
    await pipeline.publish(b"not a message", message(tenant, "I live in Oslo."), message(tenant, "ping"))
    await pipeline.finish(tenant)
    port = endpoints.serve(pipeline.settings.metrics.host, 0)
    with await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{port}/metrics") as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    ours = {name: family.samples for name, family in families.items() if name.startswith("memweir_")}
    assert {
        "memweir_records", "memweir_dead_letters", "memweir_messages_filtered", "memweir_windows_closed",
        "memweir_open_windows", "memweir_candidates", "memweir_decisions", "memweir_sink_rows",
        "memweir_sink_batch_rows", "memweir_stage_duration_seconds", "memweir_end_to_end_seconds",
        "memweir_in_flight", "memweir_consumer_lag_records",
    } <= set(ours)  # fmt: skip
    assert {sample.labels["stage"] for sample in ours["memweir_records"]} == set(STAGES)
    assert all(families[name].documentation and families[name].type != "unknown" for name in ours)

    labels = {(name, value) for samples in ours.values() for s in samples for name, value in s.labels.items()}
    names = {"stage", "outcome", "error", "reason", "partition", "strategy", "type", "policy", "action", "le"}
    assert {name for name, _ in labels} <= names
    assert {value for name, value in labels if name == "partition"} <= {str(n) for n in range(PARTITIONS)}
    people = {each for m in pipeline.inbox() for each in (m.tenant, m.scope_id, m.session_id, m.message_id, m.speaker)}
    assert not people & {value for name, value in labels if name not in ("le", "partition")}


@on_embedded
async def test_events_are_cloud_events_for_whoever_wants_them_so(pipeline: Pipeline, tenant: str) -> None:
    await pipeline.publish(message(tenant, "I live in Oslo."))
    await pipeline.finish(tenant)
    (event,) = pipeline.changes(tenant)
    record = next(r for r in pipeline.records[CHANGES.name] if r.key == event.scope.key)
    headers = dict(record.headers)
    assert headers["ce_specversion"] == b"1.0"
    assert headers["ce_type"] == b"memweir.memory.stored"
    assert headers["ce_id"].decode() == event.event_id


@on_embedded
async def test_a_window_that_breaks_the_extractor_is_a_dead_letter_and_its_scope_goes_on(
    pipeline: Pipeline, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract = RulesStrategy.extract

    async def fragile(self: RulesStrategy, window: Window, scene_name: str) -> Extracted:
        if any("poison" in turn.text for turn in window.turns):
            raise TypeError("a bug in the extractor")
        return await extract(self, window, scene_name)

    monkeypatch.setattr(RulesStrategy, "extract", fragile)
    dead = metrics.DEAD_LETTERS.labels("extraction", "TypeError")
    before = dead._value.get()
    await pipeline.publish(message(tenant, "This is poison."), message(tenant, "I live in Oslo."))
    await pipeline.finish(tenant)
    assert await pipeline.texts(tenant) == ["Lin lives in Oslo."]
    assert dead._value.get() == before + 1
