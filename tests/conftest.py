"""Brokers for every test that asks for one; see tests/README.md."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from streams.embedded import EmbeddedBroker
from tests.brokers import KafkaServer, missing_for_kafka

# A duration is no failure here: the machine is shared.
settings.register_profile("memweir", deadline=None)
settings.load_profile("memweir")

_SKIPPED = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def embedded_broker() -> Iterator[str]:
    """Bootstrap address of one embedded broker, shared by the run: use unique topic names."""
    with EmbeddedBroker() as broker:
        yield broker.bootstrap


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap address of one Apache Kafka, shared by the run: use unique topic names."""
    with KafkaServer(tmp_path_factory.mktemp("kafka")) as server:
        yield server.bootstrap


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def broker(request: pytest.FixtureRequest) -> str:
    """Runs the test twice: on the embedded broker, and on Apache Kafka."""
    address: str = request.getfixturevalue("kafka" if request.param == "kafka" else "embedded_broker")
    return address


@pytest.fixture
def kafka_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """An Apache Kafka of the test's own, started: to freeze, to kill, to start again."""
    with KafkaServer(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = [item for item in items if _needs_kafka(item)]
    if not wanted:
        return
    missing = missing_for_kafka()
    if not missing:
        return
    line = f"{len(wanted)} tests need Apache Kafka: install {missing} to run them."
    if os.environ.get("CI", "").lower() == "true":
        raise pytest.UsageError(f"{line} Under CI=true they may not be skipped.")
    config.stash[_SKIPPED] = line
    for item in wanted:
        item.add_marker(pytest.mark.skip(reason=line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if line := config.stash.get(_SKIPPED, ""):
        terminalreporter.write_line(f"SKIPPED: {line}", yellow=True)


def _needs_kafka(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("kafka") is not None or "kafka" in fixtures or "kafka_server" in fixtures
