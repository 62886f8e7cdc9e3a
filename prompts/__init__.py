"""Prompts, their rendering and output contracts, the model client, the offline rules. Knows no Kafka, no LanceDB."""
