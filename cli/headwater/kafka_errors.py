"""Errors of Kafka as errors that end a command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from confluent_kafka import KafkaException

from headwater.errors import ConfigurationError, HeadwaterError, UnreachableError
from headwater_schemas.errors import FatalError, LineageError, TransientError
from headwater_schemas.kafka.errors import kafka_failure


@contextlib.contextmanager
def asking_kafka(servers: str, *, doing: str) -> Iterator[None]:
    """Convert the clients' errors within the block to exit codes with a fix.

    Args:
        servers: the bootstrap servers, for the message.
        doing: attempted operation, as in "reading lineage.events".

    Raises:
        UnreachableError: the brokers don't answer.
        ConfigurationError: they refuse until a person changes a setting.
    """
    try:
        yield
    except KafkaException as error:
        raise _end(kafka_failure(error, servers=servers, doing=doing)) from error
    except LineageError as error:
        if not (error.retryable or isinstance(error, FatalError)):
            raise
        raise _end(error) from error
    except TimeoutError as error:
        raise _end(TransientError(f"Kafka at {servers} doesn't answer, {doing}: {error}")) from error


def _end(error: LineageError) -> HeadwaterError:
    if isinstance(error, FatalError):
        return refused(error)
    return UnreachableError(
        f"{str(error).rstrip('.')}.", fix="Start it with `headwater up`, or check HEADWATER_KAFKA_BOOTSTRAP_SERVERS."
    )


def refused(error: FatalError) -> ConfigurationError:
    """Convert a fatal error to one of the command, with the setting to check."""
    return ConfigurationError(error.message, fix=f"Check {error.setting}." if error.setting else "")
