"""Decoder of the events topic's records, for commands that read it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from headwater.connection import client_config
from headwater.settings import Settings
from headwater_schemas.codec import Decoder
from headwater_schemas.kafka.client import quiet
from headwater_schemas.registry import RegistryClient
from headwater_schemas.schema_store import SchemaStore


@contextlib.contextmanager
def event_decoder(settings: Settings) -> Iterator[Decoder]:
    """Decoder that looks schemas up on their topic and in the registry, if any."""
    registry = RegistryClient(settings.registry) if settings.registry.url else None
    store = SchemaStore(quiet(client_config(settings.kafka)), settings.topic.names().schemas)
    with contextlib.closing(store) as schemas:
        yield Decoder(schemas, registry)
