"""What an error of librdkafka means for the records in flight.

Authentication and authorization are FATAL at once; everything else passes: a broker that is away, a rebalance, a topic
that isn't there (yet). Codes are librdkafka's (`_` before the client's own) and the Kafka protocol's.
"""

# ruff: noqa: SLF001 - a leading underscore is how librdkafka names the errors of the client itself
from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException

from headwater_consumers.materializer.errors import (
    BrokerUnavailableError,
    CredentialsRefusedError,
    FatalError,
    MaterializerError,
    SettingsRefusedError,
    TopicsUnusableError,
)
from headwater_schemas.kafka import refused as unusable_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

_PASSWORD = {KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED}
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
_MECHANISM = {KafkaError.UNSUPPORTED_SASL_MECHANISM}
_ARGUMENTS = {KafkaError._INVALID_ARG, KafkaError.INVALID_GROUP_ID, KafkaError.TOPIC_EXCEPTION}
# How librdkafka begins when it makes no client of its settings. Of the same code are bad arguments of later calls.
_UNUSABLE = re.compile(r"Failed to create|[Cc]onfiguration property")


def kafka_error(error: KafkaError | KafkaException) -> KafkaError:
    """The error in an exception, or itself."""
    if isinstance(error, KafkaException):
        inner = error.args[0]
        return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL, str(inner))
    return error


def classify(raised: KafkaError | KafkaException, *, servers: str, doing: str) -> MaterializerError:
    """The error of our tree that stands for `raised`.

    Args:
        raised: by librdkafka.
        servers: the bootstrap servers, for the message.
        doing: what was tried, as in "committing offsets".
    """
    error = kafka_error(raised)
    code, text = error.name(), error.str()
    where = f"Kafka at {servers}"
    if error.code() == KafkaError._INVALID_ARG and _UNUSABLE.search(text):
        meant = unusable_settings(error)
        return SettingsRefusedError(str(meant), setting=meant.setting, code=code)
    if error.code() in _PASSWORD:
        return CredentialsRefusedError(
            f"{where} refuses the credentials: {text}", setting="HEADWATER_KAFKA_SASL_PASSWORD", code=code
        )
    if error.code() in _MECHANISM:
        return CredentialsRefusedError(f"{where}: {text}", setting="HEADWATER_KAFKA_SASL_MECHANISM", code=code)
    if error.code() in _FORBIDDEN:
        return CredentialsRefusedError(
            f"{where} doesn't allow {doing}: {text}", setting="HEADWATER_KAFKA_SASL_USERNAME", code=code
        )
    if error.code() in _ARGUMENTS:
        return TopicsUnusableError(f"{where}, {doing}: {text}", setting="HEADWATER_TOPIC_PREFIX", code=code)
    return BrokerUnavailableError(f"{where}, {doing}: {text} ({code})", code=code)


@contextlib.contextmanager
def making_clients(servers: str) -> Iterator[None]:
    """The block makes Kafka clients; what librdkafka refuses to make one of is reported by the setting's name.

    Args:
        servers: the bootstrap servers, for the message.

    Raises:
        SettingsRefusedError: it refuses.
    """
    try:
        yield
    except KafkaException as error:
        raise classify(error, servers=servers, doing="making a client") from None


def raise_for(raised: KafkaError | KafkaException, *, servers: str, doing: str) -> None:
    """Raise it if it is fatal; return if it may pass.

    Raises:
        FatalError: it can't.
    """
    error = classify(raised, servers=servers, doing=doing)
    if isinstance(error, FatalError):
        raise error from None
