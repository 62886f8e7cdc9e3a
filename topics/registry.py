"""A schema registry of the Confluent API (Confluent's own, Apicurio, Karapace) for the codec."""

import json
from urllib.parse import urlsplit

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from schemas.codec import RegistryUnavailableError

NOT_FOUND = 404
REFUSED = {409, 422}  # incompatible with what is registered; not a schema


class SchemaRegistry:
    """Implements `schemas.codec.Registry`. Subjects are record names: one event has one subject on any topic.

    Its calls block, once a schema: the client keeps what it has been told. Both raise
    RegistryUnavailableError where the registry does not answer, so that an outage is waited for
    and is not taken for bad input.
    """

    def __init__(self, url: str, *, timeout: float = 10.0) -> None:
        """`timeout` is in seconds a request; user and password may stand in the URL."""
        self._url = url
        # Its own retries sleep for seconds in the calling thread; a stage waits better than that.
        self._client = SchemaRegistryClient({"url": url, "timeout": timeout, "max.retries": 0})

    def id_of(self, event: str, schema: str) -> int:
        """Register `schema`, or find it registered. Raises ValueError where the registry refuses it."""
        name = json.loads(schema)
        subject = f"{name['namespace']}.{name['name']}"
        try:
            return int(self._client.register_schema(subject, Schema(schema, "AVRO")))
        except SchemaRegistryError as error:
            if error.http_status_code in REFUSED:
                raise ValueError(f"the registry refuses {event} as {subject}: {error.error_message}") from error
            raise self._unavailable(error) from error
        except Exception as error:  # whatever its HTTP library raises; which one that is varies
            raise self._unavailable(error) from error

    def schema_of(self, schema_id: int) -> str:
        """Raises LookupError where no schema has this id."""
        try:
            text = self._client.get_schema(schema_id).schema_str
        except SchemaRegistryError as error:
            if error.http_status_code == NOT_FOUND:
                raise LookupError(f"no schema has the id {schema_id}") from error
            raise self._unavailable(error) from error
        except Exception as error:  # whatever its HTTP library raises; which one that is varies
            raise self._unavailable(error) from error
        if text is None:
            raise LookupError(f"the schema of id {schema_id} is empty")
        return str(text)

    def _unavailable(self, error: Exception) -> RegistryUnavailableError:
        return RegistryUnavailableError(
            f"the schema registry at {urlsplit(self._url).hostname} does not answer: {error}"
        )
