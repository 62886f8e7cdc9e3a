"""What a policy says should become of one candidate: the rules and the model give the same type."""

import msgspec


class Verdict(msgspec.Struct, frozen=True):
    """`index` is the candidate's place in its window, from 0, scenes in order.

    `action` is store, update, skip or merge. `text`, `type` and `priority` replace the candidate's own where given.
    """

    index: int
    action: str
    target_ids: list[str]
    text: str = ""
    type: str = ""
    priority: int | None = None
    reason: str = ""
