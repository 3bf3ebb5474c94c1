"""Names and configuration of the topics, and the connection's settings. Creating topics is tested on a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from headwater_schemas.errors import AuthenticationError, KafkaUnreachableError
from headwater_schemas.kafka import KafkaSettings
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs


def test_names() -> None:
    assert (TopicNames().events, TopicNames().dead_letters, TopicNames().schemas) == (
        "lineage.events",
        "lineage.events.dlq",
        "lineage.schemas",
    )
    assert TopicNames("staging.lineage").dead_letters == "staging.lineage.events.dlq"


def test_nothing_expires_and_a_dead_letter_always_fits() -> None:
    events, dead_letters, schemas = topic_specs(partitions=12, replication_factor=3, max_message_bytes=1_000_000)
    for forever in (events, dead_letters):
        assert forever.config["cleanup.policy"] == "delete"
        assert forever.config["retention.ms"] == forever.config["retention.bytes"] == "-1"
    assert events.config["max.message.bytes"] == "1000000"
    assert dead_letters.config["max.message.bytes"] == str(1_000_000 + 65_536)
    assert schemas.config == {"cleanup.policy": "compact"}
    assert (events.partitions, dead_letters.partitions, schemas.partitions) == (12, 1, 1)
    assert {spec.replication_factor for spec in (events, dead_letters, schemas)} == {3}


def test_an_unreachable_broker_is_transient_and_named() -> None:
    with pytest.raises(KafkaUnreachableError, match=r"127\.0\.0\.1:1"):
        ensure_topics({"bootstrap.servers": "127.0.0.1:1"}, timeout_seconds=0.3)


def test_the_connection_as_librdkafka_spells_it() -> None:
    settings = KafkaSettings(
        bootstrap_servers="b:9093",
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="u",
        sasl_password=SecretStr("hunter2"),
        ssl_ca_location=Path("/ca.pem"),
        ssl_certificate_location=Path("/me.pem"),
        ssl_key_location=Path("/me.key"),
        ssl_key_password=SecretStr("hunter3"),
        client_properties={"client.rack": SecretStr("a"), "sasl.username": SecretStr("v")},
    )
    assert settings.client_config() == {
        "bootstrap.servers": "b:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "v",
        "sasl.password": "hunter2",
        "ssl.ca.location": "/ca.pem",
        "ssl.certificate.location": "/me.pem",
        "ssl.key.location": "/me.key",
        "ssl.key.password": "hunter3",
        "client.rack": "a",
    }
    assert "hunter" not in repr(settings)
    assert "hunter" not in str(settings.model_dump())


def test_what_is_not_set_is_left_to_librdkafka() -> None:
    assert KafkaSettings().client_config() == {
        "bootstrap.servers": "localhost:9092",
        "security.protocol": "PLAINTEXT",
    }


def test_an_unknown_setting_is_refused_without_showing_values() -> None:
    with pytest.raises(ValidationError) as caught:
        KafkaSettings(sasl_pasword="hunter2")  # type: ignore[call-arg]  # the mistake under test
    assert "sasl_pasword" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_fatal_error_names_its_setting() -> None:
    assert str(AuthenticationError("no", setting="X_Y")) == "no (setting: X_Y)"
