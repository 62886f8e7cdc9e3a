"""Whose memory something is, and the record keys built from that."""

import msgspec


class Scope(msgspec.Struct, frozen=True, order=True, gc=False):
    """Tenant, kind (`user` or `team`) and id: the unit of ordering, isolation and forgetting."""

    tenant: str
    kind: str
    id: str

    @property
    def key(self) -> bytes:
        """The record key: a JSON array, so that no character in an id can make two scopes one."""
        return _key(self.tenant, self.kind, self.id)

    def session_key(self, session_id: str) -> bytes:
        return _key(self.tenant, self.kind, self.id, session_id)

    def window_key(self, window_id: str) -> bytes:
        return _key(self.tenant, self.kind, self.id, window_id)

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


class Scoped(msgspec.Struct, gc=False):
    """What every event of one scope starts with.

    Events are trees of plain values: the garbage collector, which looks for cycles, may leave them out.
    """

    tenant: str
    scope_kind: str
    scope_id: str

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, self.scope_kind, self.scope_id)


def _key(*parts: str) -> bytes:
    return msgspec.json.encode(parts)
