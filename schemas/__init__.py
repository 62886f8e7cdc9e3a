"""The events, their Avro schemas and the codec. Knows nothing of Kafka clients, LanceDB or LLMs."""
