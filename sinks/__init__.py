"""LanceDB: how a memory is stored, written and read. Knows nothing of Kafka or Faust."""
