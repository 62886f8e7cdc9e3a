"""The command line: help, answers for programs, and errors that a person can act upon."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streams.cli import cli, main
from streams.embedded import EmbeddedBroker
from streams.roster import STAGES
from tests.brokers import free_ports
from tests.workers import MEMWEIR, memweir, wait_until
from topics import provisioning, reader

Run = Callable[..., tuple[int, str, str]]

COMMANDS = [
    (name, *sub)
    for name, command in cli.commands.items()
    for sub in [(), *((s,) for s in getattr(command, "commands", ()))]
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `memweir …` in this process: status, standard output, standard error."""

    def run_(*arguments: str, **environment: str) -> tuple[int, str, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["memweir", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        told = capfd.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return run_


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """`memweir up` in a process of its own, and the environment of those who talk to it."""
    (port,) = free_ports(1)
    folder = tmp_path_factory.mktemp("up")
    environment = {
        "MEMWEIR_KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{port}",
        "MEMWEIR_KAFKA_PARTITIONS": "2",
        "MEMWEIR_KAFKA_SESSION_TIMEOUT": "3",
        "MEMWEIR_SINK_PATH": str(folder / "lancedb"),
        "MEMWEIR_METRICS_PORT": "0",
    }
    log = folder / "up.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*MEMWEIR, "up", "--port", str(port)], env=os.environ | environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: "metrics on" in log.read_text() or process.poll() is not None, "memweir up")
        yield environment
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_every_command_has_help_that_says_what_it_does(run: Run, command: tuple[str, ...]) -> None:
    status, out, err = run(*command, "--help")
    usage, _, what, *_ = out.splitlines()
    assert (status, err) == (0, "")
    assert usage.startswith(f"Usage: memweir {' '.join(command)}".strip())
    assert len(what.split()) >= 3


def test_what_goes_in_comes_out_for_programs(run: Run, up: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    said = {"tenant": "acme", "scope_id": "lin", "speaker": "Lin"}
    file.write_text("\n".join(json.dumps(said | {"content": f"I live in {city}."}) for city in ("Oslo", "Bergen")))
    status, out, _ = run("publish", str(file), **up)
    assert (status, out.strip().splitlines()[-1]) == (0, "published 2 messages")

    def changes() -> list[Any]:
        status, out, _ = run("changes", "--from-beginning", "--json")
        assert status == 0
        return [json.loads(line) for line in out.splitlines()]

    wait_until(lambda: len(changes()) == 1, "the first memory")
    first = changes()[0]
    assert (first["tenant"], first["scope_id"], first["action"]) == ("acme", "lin", "store")

    status, out, _ = run("memories", "--tenant", "acme", "--scope", "user:lin", "--json")
    (memory,) = map(json.loads, out.splitlines())
    assert (status, memory["text"], memory["memory_id"]) == (0, "Lin lives in Oslo.", first["memory_id"])
    assert "vector" not in memory

    status, out, _ = run("memories", "--tenant", "acme", "--scope", "user:lin", "--all")
    assert (status, "Lin lives in Oslo." in out) == (0, True)
    status, out, _ = run("memories", "--tenant", "zenith", "--scope", "user:lin")
    assert (status, out.strip()) == (0, "nothing is remembered of user:lin in tenant zenith")
    status, out, _ = run("changes", "--from-beginning")
    assert "acme user:lin #1 store" in out

    status, out, _ = run("audit", "--json")
    account = json.loads(out)
    assert (status, account["sound"], account["accepted"], account["open"]) == (0, True, 2, 1)
    assert "nothing lost, nothing doubled" in run("audit")[1]

    status, out, _ = run("topics", "check", "--json")
    assert (status, json.loads(out)) == (0, {"missing": [], "differences": []})
    status, out, _ = run("topics", "apply", "--json")
    assert (status, json.loads(out)) == (0, {"created": [], "differences": []})


def test_topics_of_another_layout_are_told_and_left(run: Run, up: dict[str, str]) -> None:
    status, out, _ = run("topics", "check", **{**up, "MEMWEIR_KAFKA_PARTITIONS": "12"})
    assert status == 1
    assert "memory.inbox.v1" in out


def test_settings_are_shown_without_secrets(run: Run) -> None:
    status, out, _ = run("config", "show", "--json", MEMWEIR_MODEL_API_KEY="sk-secret", MEMWEIR_KAFKA_PARTITIONS="5")
    shown = json.loads(out)
    assert (status, shown["kafka"]["partitions"]) == (0, 5)
    assert "sk-secret" not in out + run("config", "show")[1]


def test_a_wrong_setting_is_named_in_one_line(run: Run) -> None:
    for command in (("config", "show"), ("audit",), ("worker",), ("memories", "--scope", "user:lin")):
        status, out, err = run(*command, MEMWEIR_KAFKA_PARTITIONS="many")
        assert (status, out) == (2, "")
        assert err.startswith("memweir: MEMWEIR_KAFKA_PARTITIONS: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize("scope", ["lin", "user:", "room:lin", ":lin"])
def test_a_bad_scope_is_told_with_the_right_form(run: Run, scope: str) -> None:
    status, _, err = run("memories", "--scope", scope)
    assert status == 2
    assert err.strip().splitlines()[-1].endswith(f"{scope!r} is not user:ID or team:ID")


def test_a_bad_line_is_told_by_its_number_and_nothing_of_its_file_is_published(
    run: Run, up: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    good = '{"tenant": "lines", "scope_id": "lin", "content": "I live in Oslo."}'
    for bad, reason in (("{", "not JSON"), ('{"scope_id": "lin"}', "`content`"), ("[1]", "object")):
        file.write_text(f"{good}\n\n{bad}\n{good}\n")
        before = reader.ends(up["MEMWEIR_KAFKA_BOOTSTRAP_SERVERS"], "chat.messages.v1")
        status, _, err = run("publish", str(file), **up)
        assert status == 2
        assert err.startswith("memweir: line 3: ")
        assert reason in err
        assert err.count("\n") == 1
        assert reader.ends(up["MEMWEIR_KAFKA_BOOTSTRAP_SERVERS"], "chat.messages.v1") == before


def test_a_file_that_is_not_there_and_a_stage_that_is_none_are_told(run: Run) -> None:
    assert "does not exist" in run("publish", "nowhere.jsonl")[2]
    assert "'intake'" in run("worker", "--stage", "intakes")[2]
    assert "--from-beginning" in run("changes")[2]


@pytest.mark.parametrize(
    "command",
    [("topics", "check"), ("topics", "apply"), ("audit",), ("changes", "--from-beginning"), ("publish", "-")],
    ids=" ".join,
)
def test_where_no_broker_answers_one_line_says_so(
    run: Run, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "SECONDS", 1.0)
    for function in (provisioning.check, provisioning.apply):
        monkeypatch.setitem(function.__kwdefaults__ or {}, "timeout", 1.0)
    (port,) = free_ports(1)
    status, out, err = run(*command, MEMWEIR_KAFKA_BOOTSTRAP_SERVERS=f"127.0.0.1:{port}")
    assert (status, out.strip()) == (2, "")
    assert err.startswith("memweir: no Kafka broker answers")
    assert err.count("\n") == 1


def test_up_does_not_put_new_decisions_over_the_rows_of_an_earlier_run(run: Run, tmp_path: Path) -> None:
    # The embedded broker forgets and LanceDB does not: two runs on one folder left two homes active.
    (tmp_path / "memories-0.lance").mkdir()
    status, _, told = run("up", "--port", "0", MEMWEIR_SINK_PATH=str(tmp_path))
    assert status == 1
    assert "--discard" in told
    assert str(tmp_path) in told


def test_up_on_a_port_that_is_none_is_told(run: Run) -> None:
    status, _, told = run("up", "--port", "99999")
    assert (status, "99999" in told) == (2, True)


def test_a_worker_for_another_number_of_partitions_does_not_start(run: Run, up: dict[str, str]) -> None:
    # It joined the group, rebalanced the healthy worker twice, and crashed at the first partition beyond its number.
    status, _, told = run("worker", **up | {"MEMWEIR_KAFKA_PARTITIONS": "5"})
    assert status == 2
    assert "MEMWEIR_KAFKA_PARTITIONS" in told
    assert "partitions is 2, wanted 5" in told


def test_where_the_topics_are_missing_the_command_that_makes_them_is_named(run: Run) -> None:
    with EmbeddedBroker() as broker:
        for command in (("audit",), ("changes", "--from-beginning"), ("publish", "-")):
            status, _, err = run(*command, MEMWEIR_KAFKA_BOOTSTRAP_SERVERS=broker.bootstrap)
            assert status == 2
            assert "memweir topics apply" in err
            assert err.count("\n") == 1


def test_each_stage_is_a_faust_worker_and_six_of_them_are_memweir(run: Run, tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        environment = {
            "MEMWEIR_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap,
            "MEMWEIR_KAFKA_PARTITIONS": "1",
            "MEMWEIR_KAFKA_SESSION_TIMEOUT": "3",
            "MEMWEIR_SINK_PATH": str(tmp_path / "lancedb"),
            "MEMWEIR_METRICS_PORT": "0",
        }
        provisioning.apply(broker.bootstrap, partitions=1)
        workers = {
            name: subprocess.Popen(
                [sys.executable, "-m", "faust", "-A", f"streams.{name}", "worker", "--without-web"],
                env=os.environ | environment,
                stdout=(tmp_path / f"{name}.log").open("wb"),
                stderr=subprocess.STDOUT,
            )
            for name in STAGES
        }
        try:
            line = '{"scope_id": "lin", "speaker": "Lin", "content": "I live in Oslo."}'
            assert memweir(environment, "publish", "-", text=line).returncode == 0

            def remembered() -> bool:
                for name, worker in workers.items():
                    assert worker.poll() is None, (tmp_path / f"{name}.log").read_text()
                return "Lin lives in Oslo." in run("memories", "--scope", "user:lin", "--json", **environment)[1]

            wait_until(remembered, "a memory through six Faust workers")
            for worker in workers.values():
                worker.send_signal(signal.SIGTERM)
            assert {name: worker.wait(60) for name, worker in workers.items()} == dict.fromkeys(STAGES, 0)
        finally:
            for worker in workers.values():
                if worker.poll() is None:
                    worker.kill()
                    worker.wait()
