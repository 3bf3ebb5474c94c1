"""Trouble with Kafka as what ends a command."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from headwater.errors import ConfigurationError, UnreachableError
from headwater_consumers.materializer import kafka_errors
from headwater_consumers.materializer.errors import FatalError, MaterializerError
from headwater_schemas import errors as contract

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def asking_kafka(servers: str, *, doing: str) -> Iterator[None]:
    """Turn what the clients raise within the block into exit codes with a fix.

    Args:
        servers: the bootstrap servers, for the message.
        doing: what is tried, as in "reading lineage.events".

    Raises:
        UnreachableError: the brokers don't answer.
        ConfigurationError: they refuse until a person changes a setting.
    """
    fix = "Start it with `headwater up`, or check HEADWATER_KAFKA_BOOTSTRAP_SERVERS."
    try:
        yield
    except (KafkaException, MaterializerError) as raised:
        error: Exception = raised
        if isinstance(raised, KafkaException):
            error = kafka_errors.classify(raised, servers=servers, doing=doing)
        if isinstance(error, FatalError):
            raise ConfigurationError(str(error), fix=f"Check {error.setting}." if error.setting else "") from raised
        raise UnreachableError(f"{error}.", fix=fix) from raised
    except contract.FatalError as error:
        raise ConfigurationError(str(error), fix=f"Check {error.setting}.") from error
    except (contract.TransientError, TimeoutError) as error:
        raise UnreachableError(f"Kafka at {servers} doesn't answer, {doing}: {error}.", fix=fix) from error
