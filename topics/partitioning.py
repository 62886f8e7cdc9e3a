"""Which partition a scope is on: murmur2, as Java's clients and librdkafka's `murmur2_random` hash."""

from aiokafka.partitioner import murmur2

from schemas.scope import Scope


def partition_of(scope: Scope | bytes, count: int) -> int:
    """The partition, of `count`, of a scope or of a record key's bytes."""
    key = scope.key if isinstance(scope, Scope) else scope
    # Java's `toPositive`: the sign bit goes, the number is not negated.
    partition: int = (murmur2(key) & 0x7FFFFFFF) % count
    return partition
