"""Errors of librdkafka, as Headwater's."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from headwater_schemas.errors import (
    BrokerUnavailableError,
    CredentialsRefusedError,
    SettingsRefusedError,
    TopicsUnusableError,
)
from headwater_schemas.kafka.errors import kafka_failure, making_clients


def test_a_code(subtests: pytest.Subtests) -> None:
    cases = [
        (KafkaError._AUTHENTICATION, CredentialsRefusedError, "HEADWATER_KAFKA_SASL_PASSWORD"),
        (KafkaError.SASL_AUTHENTICATION_FAILED, CredentialsRefusedError, "HEADWATER_KAFKA_SASL_PASSWORD"),
        (KafkaError.UNSUPPORTED_SASL_MECHANISM, CredentialsRefusedError, "HEADWATER_KAFKA_SASL_MECHANISM"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, CredentialsRefusedError, "HEADWATER_KAFKA_SASL_USERNAME"),
        (KafkaError.GROUP_AUTHORIZATION_FAILED, CredentialsRefusedError, "HEADWATER_KAFKA_SASL_USERNAME"),
        (KafkaError.TOPIC_EXCEPTION, TopicsUnusableError, "HEADWATER_TOPIC_PREFIX"),
        (KafkaError._TRANSPORT, BrokerUnavailableError, None),
        (KafkaError._ALL_BROKERS_DOWN, BrokerUnavailableError, None),
        (KafkaError._WAIT_COORD, BrokerUnavailableError, None),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, BrokerUnavailableError, None),
        (KafkaError.ILLEGAL_GENERATION, BrokerUnavailableError, None),
        (KafkaError.REBALANCE_IN_PROGRESS, BrokerUnavailableError, None),
        (KafkaError.NOT_COORDINATOR, BrokerUnavailableError, None),
        (KafkaError._MAX_POLL_EXCEEDED, BrokerUnavailableError, None),
    ]
    for code, expected, setting in cases:
        with subtests.test(code=code):
            for raised in (KafkaError(code), KafkaException(KafkaError(code))):
                error = kafka_failure(raised, servers="broker:9092", doing="committing offsets")
                assert type(error) is expected
                assert "broker:9092" in str(error)
                assert getattr(error, "setting", None) == setting


def test_settings_that_make_no_client_are_fatal_and_named(subtests: pytest.Subtests) -> None:
    cases = [
        ({"security.protocol": "SSL", "ssl.key.location": __file__}, "HEADWATER_KAFKA_SSL_KEY_LOCATION"),
        ({"no.such.thing": "1"}, "HEADWATER_KAFKA_CLIENT_PROPERTIES"),
    ]
    for settings, named in cases:
        with subtests.test(settings=settings):
            with pytest.raises(SettingsRefusedError) as caught, making_clients("broker:9092"):
                AdminClient({"bootstrap.servers": "broker:9092", **settings})
            assert caught.value.setting == named
