"""A broker whose topics may have their fixed names: of one module, and empty at its start."""

from collections.abc import Iterator

import pytest

from streams.embedded import EmbeddedBroker
from tests.brokers import KafkaServer


@pytest.fixture(scope="module", params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def own_broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap address of the module's own broker: an embedded one, and then an Apache Kafka."""
    if request.param == "kafka":
        with KafkaServer(tmp_path_factory.mktemp("kafka")) as server:
            yield server.bootstrap
    else:
        with EmbeddedBroker() as broker:
            yield broker.bootstrap
