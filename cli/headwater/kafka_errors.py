"""Errors of Kafka as errors that end a command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from confluent_kafka import KafkaException

from headwater.connection import client_config, require_servers
from headwater.errors import ConfigurationError, HeadwaterError, UnreachableError
from headwater_schemas.errors import FatalError, LineageError, TransientError
from headwater_schemas.kafka.errors import kafka_failure
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.topics import ensure_topics

# A refused connection is reported within a round trip; librdkafka's first attempts are up to 0.1 s apart.
_PROBE_SECONDS = 3.0


@contextlib.contextmanager
def asking_kafka(kafka: KafkaSettings, *, doing: str) -> Iterator[None]:
    """Convert errors of Kafka clients within the block to errors of the command, each with exit code and fix.

    Args:
        kafka: settings of the clients.
        doing: attempted operation, as in "reading lineage.events".

    Raises:
        NotConfiguredError: no Kafka is configured.
        UnreachableError: the brokers don't answer.
        ConfigurationError: the brokers refuse the client until a setting is changed.
    """
    servers = require_servers(kafka)
    try:
        yield
    except KafkaException as error:
        raise _end(kafka_failure(error, servers=servers, doing=doing), kafka) from error
    except LineageError as error:
        if not (error.retryable or isinstance(error, FatalError)):
            raise
        raise _end(error, kafka) from error
    except TimeoutError as error:
        raise _end(TransientError(f"Kafka at {servers} doesn't answer, {doing}: {error}"), kafka) from error


def _end(error: LineageError, kafka: KafkaSettings) -> HeadwaterError:
    if not isinstance(error, FatalError):
        error = refusal(kafka) or error
    if isinstance(error, FatalError):
        return refused(error)
    return UnreachableError(
        f"{str(error).rstrip('.')}.", fix="Start it with `headwater up`, or check HEADWATER_KAFKA_BOOTSTRAP_SERVERS."
    )


def refusal(kafka: KafkaSettings) -> FatalError | None:
    """Connect once more, and return the reason why the brokers refuse this client; None if they accept it.

    A refused connection and an absent broker cause the same error of a request. Only the client's error callback
    receives the reason.
    """
    try:
        ensure_topics(client_config(kafka), [], timeout_seconds=_PROBE_SECONDS)
    except FatalError as found:
        return found
    except LineageError:
        return None
    return None


def refused(error: FatalError) -> ConfigurationError:
    """Convert a fatal error to an error of the command, with the setting to check."""
    return ConfigurationError(error.message, fix=f"Check {error.setting}." if error.setting else "")
