"""Bringing a cluster to the catalogue: creates what is missing, reports what differs, destroys nothing."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, NewTopic, ResourceType

from topics.catalogue import CATALOGUE, Topic


class ProvisioningError(RuntimeError):
    """The cluster cannot be read or refuses a topic; the message says which and why."""


@dataclass(frozen=True)
class Existing:
    """A topic as the cluster has it. `settings` holds whatever the broker tells of its configuration."""

    partitions: int
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Difference:
    """One setting of one topic that is not as the catalogue wants it. Values are Kafka's own text."""

    topic: str
    setting: str
    wanted: str
    actual: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.setting} is {self.actual}, wanted {self.wanted}"


@dataclass(frozen=True)
class Plan:
    """What a cluster lacks, and what it has otherwise than the catalogue."""

    missing: tuple[Topic, ...]
    differences: tuple[Difference, ...]

    @property
    def fits(self) -> bool:
        return not self.missing and not self.differences


@dataclass(frozen=True)
class Applied:
    """What `apply` did, and what it left alone although it differs."""

    created: tuple[Topic, ...]
    differences: tuple[Difference, ...]


def plan(catalogue: Sequence[Topic], existing: Mapping[str, Existing], *, partitions: int) -> Plan:
    """Set `catalogue` against the topics of a cluster (by name). Pure."""
    missing = tuple(topic for topic in catalogue if topic.name not in existing)
    differences = [
        difference
        for topic in catalogue
        if topic.name in existing and not topic.gateways
        for difference in _differences(topic, existing[topic.name], partitions)
    ]
    return Plan(missing, tuple(differences))


def check(
    bootstrap_servers: str, *, partitions: int, catalogue: Sequence[Topic] = CATALOGUE, timeout: float = 15.0
) -> Plan:
    """Compare the cluster with the catalogue; changes nothing. `timeout` is in seconds a request.

    Raises ProvisioningError where no broker answers.
    """
    admin = _admin(bootstrap_servers)
    return plan(catalogue, _existing(admin, bootstrap_servers, catalogue, timeout), partitions=partitions)


def apply(
    bootstrap_servers: str,
    *,
    partitions: int,
    replication_factor: int = 1,
    catalogue: Sequence[Topic] = CATALOGUE,
    timeout: float = 15.0,
) -> Applied:
    """Create what is missing and wait until it can be used. Safe beside others that do the same.

    Raises ProvisioningError where no broker answers or a topic is refused; what had been created
    by then stays.
    """
    admin = _admin(bootstrap_servers)
    before = plan(catalogue, _existing(admin, bootstrap_servers, catalogue, timeout), partitions=partitions)
    created = _create(admin, before.missing, partitions, replication_factor, timeout)
    _wait_for_leaders(admin, [topic.name for topic in before.missing], timeout)
    # What somebody else has created since we looked is not known to be as wanted.
    raced = [topic for topic in before.missing if topic not in created]
    theirs = plan(raced, _existing(admin, bootstrap_servers, raced, timeout), partitions=partitions)
    return Applied(created, before.differences + theirs.differences)


def _differences(topic: Topic, existing: Existing, partitions: int) -> list[Difference]:
    wanted = {"partitions": str(partitions), **topic.settings}
    actual = {"partitions": str(existing.partitions), **existing.settings}
    return [
        Difference(topic.name, setting, value, actual.get(setting, "not set"))
        for setting, value in wanted.items()
        if actual.get(setting) != value
    ]


def _admin(bootstrap_servers: str) -> AdminClient:
    # An unreachable broker is our error to word: librdkafka's own lines would be noise beside it.
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})


def _existing(
    admin: AdminClient, bootstrap_servers: str, catalogue: Sequence[Topic], timeout: float
) -> dict[str, Existing]:
    try:
        topics = admin.list_topics(timeout=timeout).topics
    except KafkaException as error:
        raise ProvisioningError(
            f"no Kafka broker answers at {bootstrap_servers} ({_reason(error)}): "
            "is it running, and is MEMWEIR_KAFKA_BOOTSTRAP_SERVERS right?"
        ) from error
    names = [topic.name for topic in catalogue if topic.name in topics]
    if not names:
        return {}
    answers = admin.describe_configs(
        [ConfigResource(ResourceType.TOPIC, name) for name in names], request_timeout=timeout
    )
    return {
        resource.name: Existing(
            len(topics[resource.name].partitions),
            {entry.name: str(entry.value) for entry in _result(future, resource.name, timeout).values()},
        )
        for resource, future in answers.items()
    }


def _create(
    admin: AdminClient, missing: Sequence[Topic], partitions: int, replication_factor: int, timeout: float
) -> tuple[Topic, ...]:
    if not missing:
        return ()
    answers = admin.create_topics(
        [
            NewTopic(
                topic.name, num_partitions=partitions, replication_factor=replication_factor, config=topic.settings
            )
            for topic in missing
        ],
        request_timeout=timeout,
    )
    return tuple(topic for topic in missing if _created(answers[topic.name], topic.name, timeout))


def _created(future: "Future[None]", name: str, timeout: float) -> bool:
    try:
        future.result(timeout=timeout)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False  # another process was faster, with the same catalogue
        raise ProvisioningError(f"{name} could not be created: {_reason(error)}") from error
    return True


def _wait_for_leaders(admin: AdminClient, names: Sequence[str], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while names:
        topics = admin.list_topics(timeout=timeout).topics
        names = [
            name
            for name in names
            if name not in topics or any(partition.leader < 0 for partition in topics[name].partitions.values())
        ]
        if names:
            if time.monotonic() > deadline:
                raise ProvisioningError(f"created, but without a leader after {timeout:g} s: {', '.join(names)}")
            time.sleep(0.05)


def _result(future: "Future[dict[str, ConfigEntry]]", name: str, timeout: float) -> dict[str, ConfigEntry]:
    try:
        return future.result(timeout=timeout)
    except KafkaException as error:
        raise ProvisioningError(f"the configuration of {name} cannot be read: {_reason(error)}") from error


def _reason(error: KafkaException) -> str:
    return str(error.args[0].str())
