"""The windows of a session: where they are cut, what holds a partition, how a replay gives them again. Pure."""
