"""The stages: one Faust app each, and the execution they share. Knows nothing of how LanceDB stores a row."""
