"""Faust made safe and fast: batches in, marks out, partitions, order, state."""
