"""What becomes of a candidate: policies, the pool they look at, what they know. Pure but for a model's call."""
