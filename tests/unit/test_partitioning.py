"""Partition numbers, against values that Kafka's own clients are tested with."""

import pytest

from schemas.scope import Scope
from topics.partitioning import partition_of

# Hashes of Kafka's UtilsTest.testMurmur2.
JAVA = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536, b"abc": 479470107}


@pytest.mark.parametrize(("key", "java"), JAVA.items())
@pytest.mark.parametrize("count", [1, 3, 12, 1000])
def test_a_key_is_where_javas_client_puts_it(key: bytes, java: int, count: int) -> None:
    assert partition_of(key, count) == (java & 0x7FFFFFFF) % count


def test_a_scope_is_where_its_key_is() -> None:
    scope = Scope("acme", "user", "林")
    assert partition_of(scope, 12) == partition_of(scope.key, 12)
