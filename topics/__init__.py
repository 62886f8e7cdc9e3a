"""The topics, what is published to them and read from them. Knows nothing of LanceDB or LLMs."""
