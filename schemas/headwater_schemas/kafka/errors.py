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
_MECHANISM = {KafkaError.UNSUPPORTED_SASL_MECHANISM}
_ARGUMENTS = {KafkaError._INVALID_ARG, KafkaError.INVALID_GROUP_ID, KafkaError.TOPIC_EXCEPTION}
_TIME = {KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP}
_CLOCKS = (
    "A record has the time of this machine's clock: compare it with the brokers', and see the topic's "
    "message.timestamp.before.max.ms and message.timestamp.after.max.ms (message.timestamp.difference.max.ms before "
    "Kafka 3.6)"
)
# librdkafka's own words, and OpenSSL's for the alert of a broker that refuses a client's certificate.
_SERVERS_CERTIFICATE = re.compile(r"certificate verify failed")
_CLIENTS_CERTIFICATE = re.compile(r"alert (?:certificate|bad certificate|unsupported certificate|unknown ca)")
_TOKEN = "Failed to acquire SASL OAUTHBEARER token"  # noqa: S105 - no token
# RFC 6749, 5.2: the issuer's answer to a refused request has this key. Without it, the issuer is only unreachable.
_TOKEN_REFUSED = re.compile(r'"error"\s*:')
_ACLS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "the topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "the consumer group",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "the cluster",
}
_FIRST_WRITE = "Failed to acquire idempotence PID"
# Beginning of librdkafka's message if it refuses a client's settings. Bad arguments of later calls share its code.
_UNUSABLE = re.compile(r"Failed to create|[Cc]onfiguration property")


def kafka_error(raised: KafkaError | KafkaException) -> KafkaError:
    """Return the error in an exception; an error is returned unchanged."""
    if isinstance(raised, KafkaException):
        inner = raised.args[0]
        return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL, str(inner))
    return raised


def refusal_text(error: KafkaError) -> str:
    """Explain why the brokers refuse a record, as `NAME: text`; for a refused time or user, with the fix."""
    text = f"{error.name()}: {forbidden_text(error) or error.str()}"
    return f"{text}. {_CLOCKS}" if error.code() in _TIME else text


def refuses_credentials(error: KafkaError) -> bool:
    """Return True if one side refuses the other's password, token or certificate, so that no retry helps."""
    if refuses_certificate(error):
        return True
    text = error.str()
    return error.code() in _PASSWORD and (_TOKEN not in text or _TOKEN_REFUSED.search(text) is not None)


def refuses_certificate(error: KafkaError) -> bool:
    """Return True if this client doesn't trust a broker's certificate, or a broker doesn't trust this client's."""
    text = error.str()
    return _SERVERS_CERTIFICATE.search(text) is not None or _CLIENTS_CERTIFICATE.search(text) is not None


def credentials_refused(error: KafkaError, *, servers: str) -> CredentialsRefusedError:
    """Return the error to raise for an `error` for which `refuses_credentials` is True."""
    text, code, where = error.str(), error.name(), f"Kafka at {servers}"
    if _SERVERS_CERTIFICATE.search(text):
        return CredentialsRefusedError(
            f"{where} has a certificate that isn't trusted: it has expired, is for another host, or isn't signed by an "
            f"authority of the CA file. Renew it on the brokers, or correct the CA file and start again ({text})",
            setting=f"{PREFIX}SSL_CA_LOCATION",
            code=code,
        )
    if _CLIENTS_CERTIFICATE.search(text):
        return CredentialsRefusedError(
            f"{where} refuses this client's certificate: there is none, it has expired, or the brokers don't trust its "
            f"authority. Renew it and start again ({text})",
            setting=f"{PREFIX}SSL_CERTIFICATE_LOCATION, {PREFIX}SSL_KEY_LOCATION",
            code=code,
        )
    setting = f"{PREFIX}CLIENT_PROPERTIES" if "OAUTHBEARER" in text else f"{PREFIX}SASL_PASSWORD"
    return CredentialsRefusedError(f"{where} refuses the credentials: {text}", setting=setting, code=code)


def concerns_group(error: KafkaError | None) -> bool:
    """Return True for an error that a consumer outside of any group can ignore.

    librdkafka looks for the coordinator of any `group.id`, also of one that it never joins, and reports if the user
    may not read that group.
    """
    return error is not None and error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED


def forbidden_text(error: KafkaError) -> str | None:
    """Explain a missing permission, with the fix; None for any other error."""
    if (resource := _ACLS.get(error.code())) is None:
        return None
    if _FIRST_WRITE in error.str():
        resource = "the topic to be written to"  # a user with permission to write to a topic gets a producer id, too
    return f"{error.str().rstrip('.')}. Add an ACL on {resource} for this user, as docs/kafka-security.md lists them"


def kafka_failure(
    raised: KafkaError | KafkaException, *, servers: str, doing: str
) -> BrokerUnavailableError | FatalError:
    """Convert librdkafka's error to an error of Headwater's tree, which the caller raises or logs.

    Args:
        servers: the bootstrap servers, for the message.
        doing: attempted operation, as in "committing offsets".
    """
    error = kafka_error(raised)
    code, text = error.name(), error.str()
    where = f"Kafka at {servers}"
    if error.code() == KafkaError._INVALID_ARG and _UNUSABLE.search(text):
        return settings_refused(error)
    if refuses_credentials(error):
        return credentials_refused(error, servers=servers)
    if error.code() in _MECHANISM:
        return CredentialsRefusedError(f"{where}: {text}", setting="HEADWATER_KAFKA_SASL_MECHANISM", code=code)
    if (forbidden := forbidden_text(error)) is not None:
        return CredentialsRefusedError(
            f"{where} doesn't allow {doing}: {forbidden}", setting="HEADWATER_KAFKA_SASL_USERNAME", code=code
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
        SettingsRefusedError: librdkafka refuses a setting.
    """
    try:
        yield
    except KafkaException as error:
        raise kafka_failure(error, servers=servers, doing="making a client") from None
