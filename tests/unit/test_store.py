"""What a store answers for partitions that it holds, and for those that it doesn't."""

import pytest

from streams.delivery.store import PartitionedStore
from topics.producer import Producer


def make() -> PartitionedStore[str]:
    return PartitionedStore("state", "127.0.0.1:1", encode=str.encode, decode=bytes.decode)


def held(partition: int, **rows: str) -> PartitionedStore[str]:
    store = make()
    store._rows[partition] = {key.encode(): value for key, value in rows.items()}
    return store


def test_state_of_a_partition_that_is_not_held_is_an_error_and_not_emptiness() -> None:
    store = make()
    with pytest.raises(KeyError):
        store.get(3, b"session")
    with pytest.raises(KeyError):
        store.rows(3)


def test_a_late_write_for_a_partition_that_is_gone_is_ignored() -> None:
    store = held(3, session="old")
    store.drop(3)
    store.set(3, {b"session": "late"})
    assert 3 not in store


def test_none_deletes_a_row() -> None:
    store = held(0, a="1", b="2")
    store.set(0, {b"a": None, b"never": None, b"c": "3"})
    assert dict(store.rows(0)) == {b"b": "2", b"c": "3"}


def test_partitions_do_not_share_rows() -> None:
    store = held(0, a="1")
    store._rows[1] = {}
    assert store.get(1, b"a") is None
    assert list(store) == [0, 1]


async def test_a_row_that_cannot_be_sent_changes_nothing() -> None:
    store = held(0, a="1")
    producer = Producer("127.0.0.1:1", message_max_bytes=1000)
    with pytest.raises(Exception, match=r"state: .*too large"):
        await store.put(producer.deliveries(), 0, {b"a": "x" * 2000})
    assert store.get(0, b"a") == "1"
