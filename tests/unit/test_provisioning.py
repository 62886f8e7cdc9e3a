"""What a cluster lacks, worked out without one."""

import pytest

from tests.brokers import free_ports
from topics.catalogue import CATALOGUE, CHAT_MESSAGES, INBOX
from topics.provisioning import Difference, Existing, ProvisioningError, check, plan


def as_wanted(partitions: int = 12) -> dict[str, Existing]:
    return {topic.name: Existing(partitions, topic.settings) for topic in CATALOGUE}


def test_an_empty_cluster_lacks_everything_in_the_order_of_the_catalogue() -> None:
    assert plan(CATALOGUE, {}, partitions=12).missing == CATALOGUE


def test_a_cluster_that_is_as_wanted_fits() -> None:
    assert plan(CATALOGUE, as_wanted(), partitions=12).fits


def test_settings_beyond_the_catalogue_are_the_operators_business() -> None:
    existing = as_wanted()
    existing[INBOX.name] = Existing(12, {**INBOX.settings, "compression.type": "zstd"})
    assert plan(CATALOGUE, existing, partitions=12).fits


def test_a_differing_setting_is_named_with_both_values() -> None:
    existing = as_wanted()
    existing[INBOX.name] = Existing(12, {**INBOX.settings, "message.timestamp.type": "CreateTime"})
    found = plan(CATALOGUE, existing, partitions=12)
    assert not found.fits
    assert found.differences == (Difference(INBOX.name, "message.timestamp.type", "LogAppendTime", "CreateTime"),)
    assert str(found.differences[0]) == "memory.inbox.v1: message.timestamp.type is CreateTime, wanted LogAppendTime"


def test_another_partition_count_is_a_difference() -> None:
    existing = as_wanted() | {INBOX.name: Existing(3, INBOX.settings)}
    assert plan(CATALOGUE, existing, partitions=12).differences == (Difference(INBOX.name, "partitions", "12", "3"),)


def test_a_setting_that_the_broker_does_not_tell_is_not_taken_for_right() -> None:
    existing = as_wanted() | {INBOX.name: Existing(12, {})}
    assert {found.actual for found in plan(CATALOGUE, existing, partitions=12).differences} == {"not set"}


def test_how_gateways_lay_out_their_topic_is_no_difference() -> None:
    existing = as_wanted() | {CHAT_MESSAGES.name: Existing(50, {"cleanup.policy": "compact"})}
    assert plan(CATALOGUE, existing, partitions=12).fits


def test_a_broker_that_is_not_there_is_said_with_its_address() -> None:
    (port,) = free_ports(1)
    with pytest.raises(ProvisioningError, match=f"no Kafka broker answers at 127.0.0.1:{port}"):
        check(f"127.0.0.1:{port}", partitions=12, timeout=1)
