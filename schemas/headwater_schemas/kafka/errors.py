"""Errors of librdkafka as errors of Headwater: `kafka_failure` is the one place where a code is interpreted.

Refused credentials, forbidden operations and impossible settings are fatal. Everything else may be temporary: an
unreachable broker, a rebalance, a topic that doesn't exist (yet). Codes are librdkafka's (`_` before the client's own)
and the Kafka protocol's.
"""

# ruff: noqa: SLF001 - a leading underscore is how librdkafka names the errors of the client itself
from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from confluent_kafka import KafkaError, KafkaException

from headwater_schemas.errors import (
    BrokerUnavailableError,
    CredentialsRefusedError,
    FatalError,
    SettingsRefusedError,
    TopicsUnusableError,
)
from headwater_schemas.kafka.settings import PREFIX, KafkaSettings

_PASSWORD = {KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED}
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
_MECHANISM = {KafkaError.UNSUPPORTED_SASL_MECHANISM}
_ARGUMENTS = {KafkaError._INVALID_ARG, KafkaError.INVALID_GROUP_ID, KafkaError.TOPIC_EXCEPTION}
_TIME = {KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP}
_CLOCKS = (
    "A record has the time of this machine's clock: compare it with the brokers', and see the topic's "
    "message.timestamp.before.max.ms and message.timestamp.after.max.ms (message.timestamp.difference.max.ms before "
    "Kafka 3.6)"
)
# Beginning of librdkafka's message if it makes no client of its settings. Bad arguments of later calls share its code.
_UNUSABLE = re.compile(r"Failed to create|[Cc]onfiguration property")


def kafka_error(raised: KafkaError | KafkaException) -> KafkaError:
    """The error in an exception, or itself."""
    if isinstance(raised, KafkaException):
        inner = raised.args[0]
        return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL, str(inner))
    return raised


def refusal_text(error: KafkaError) -> str:
    """Explain why the brokers refuse a record, as `NAME: text`; for a refused time, with the setting to check."""
    text = f"{error.name()}: {error.str()}"
    return f"{text}. {_CLOCKS}" if error.code() in _TIME else text


def refuses_credentials(error: KafkaError) -> bool:
    """Return True if the brokers refuse the user or the password, so that no retry helps."""
    return error.code() in _PASSWORD


def credentials_refused(error: KafkaError, *, servers: str) -> CredentialsRefusedError:
    """The error for an `error` of which `refuses_credentials` is true."""
    return CredentialsRefusedError(
        f"Kafka at {servers} refuses the credentials: {error.str()}",
        setting="HEADWATER_KAFKA_SASL_PASSWORD",
        code=error.name(),
    )


def kafka_failure(
    raised: KafkaError | KafkaException, *, servers: str, doing: str
) -> BrokerUnavailableError | FatalError:
    """The error of Headwater's tree for one of librdkafka, to be raised or logged by the caller.

    Args:
        raised: librdkafka's error.
        servers: the bootstrap servers, for the message.
        doing: attempted operation, as in "committing offsets".
    """
    error = kafka_error(raised)
    code, text = error.name(), error.str()
    where = f"Kafka at {servers}"
    if error.code() == KafkaError._INVALID_ARG and _UNUSABLE.search(text):
        return settings_refused(error)
    if error.code() in _PASSWORD:
        return credentials_refused(error, servers=servers)
    if error.code() in _MECHANISM:
        return CredentialsRefusedError(f"{where}: {text}", setting="HEADWATER_KAFKA_SASL_MECHANISM", code=code)
    if error.code() in _FORBIDDEN:
        return CredentialsRefusedError(
            f"{where} doesn't allow {doing}: {text}", setting="HEADWATER_KAFKA_SASL_USERNAME", code=code
        )
    if error.code() in _ARGUMENTS:
        return TopicsUnusableError(f"{where}: {doing} failed, {text}", setting="HEADWATER_TOPIC_PREFIX", code=code)
    return BrokerUnavailableError(f"{where}: {doing} failed, {text} ({code})", code=code)


def settings_refused(raised: KafkaError | KafkaException) -> SettingsRefusedError:
    """Return the error for settings that librdkafka refuses, with the name of the setting to check."""
    error = kafka_error(raised)
    text = str(error.str()).strip()
    # Failed to create producer: ssl.key.location failed: … ⇒ HEADWATER_KAFKA_SSL_KEY_LOCATION
    known = {name.replace("_", "."): f"{PREFIX}{name.upper()}" for name in KafkaSettings.model_fields}
    found = [known[name] for name in re.findall(r"[a-z]+(?:\.[a-z]+)+", text) if name in known]
    if not found and "SASL mechanism" in text:
        found = [known["sasl.mechanism"]]
    names = ", ".join(dict.fromkeys(found)) or f"{PREFIX}CLIENT_PROPERTIES"
    return SettingsRefusedError(f"no Kafka client can be made: {text}", setting=names, code=error.name())


@contextlib.contextmanager
def making_clients(servers: str) -> Iterator[None]:
    """Context in which Kafka clients are created: a setting that librdkafka refuses is reported by name.

    Args:
        servers: the bootstrap servers, for the message.

    Raises:
        SettingsRefusedError: it refuses.
    """
    try:
        yield
    except KafkaException as error:
        raise kafka_failure(error, servers=servers, doing="making a client") from None
