"""Names and configuration of the topics, and the connection's settings. Creating topics is tested on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pydantic import SecretStr, ValidationError

from headwater_schemas.errors import BrokerUnavailableError, CredentialsRefusedError, SettingsRefusedError
from headwater_schemas.kafka.errors import settings_refused
from headwater_schemas.kafka.settings import KafkaSettings
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
    with pytest.raises(BrokerUnavailableError, match=r"127\.0\.0\.1:1"):
        ensure_topics({"bootstrap.servers": "127.0.0.1:1"}, timeout_seconds=0.3)


def test_the_connection_as_librdkafka_spells_it(tmp_path: Path) -> None:
    pem = tmp_path / "some.pem"
    pem.touch()
    settings = KafkaSettings(
        bootstrap_servers="b:9093",
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="u",
        sasl_password=SecretStr("hunter2"),
        ssl_ca_location=pem,
        ssl_certificate_location=pem,
        ssl_key_location=pem,
        ssl_key_password=SecretStr("hunter3"),
        client_properties={"client.rack": SecretStr("a"), "sasl.username": SecretStr("v")},
    )
    assert settings.client_config() == {
        "bootstrap.servers": "b:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "v",
        "sasl.password": "hunter2",
        "ssl.ca.location": str(pem),
        "ssl.certificate.location": str(pem),
        "ssl.key.location": str(pem),
        "ssl.key.password": "hunter3",
        "client.rack": "a",
    }
    assert "hunter" not in repr(settings)
    assert "hunter" not in str(settings.model_dump())


def test_no_broker_is_guessed() -> None:
    with pytest.raises(SettingsRefusedError) as caught:
        KafkaSettings().client_config()
    assert caught.value.setting == "HEADWATER_KAFKA_BOOTSTRAP_SERVERS"
    named = {"client_properties": {"bootstrap.servers": "other:1"}}
    assert KafkaSettings.model_validate(named).client_config()["bootstrap.servers"] == "other:1"


def test_what_is_not_set_is_left_to_librdkafka() -> None:
    assert KafkaSettings(bootstrap_servers="broker:9092").client_config() == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "PLAINTEXT",
    }


SASL = {"security_protocol": "SASL_PLAINTEXT"}
TLS = {"security_protocol": "SSL"}
PLAIN = {**SASL, "sasl_mechanism": "PLAIN"}


def test_what_no_client_can_be_made_of_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        (SASL, ["SASL_MECHANISM", "SASL_USERNAME", "SASL_PASSWORD"]),
        (PLAIN, ["SASL_USERNAME", "SASL_PASSWORD"]),
        ({**PLAIN, "sasl_username": "u"}, ["SASL_PASSWORD"]),
        ({**PLAIN, "sasl_password": "hunter2"}, ["SASL_USERNAME"]),
        ({**TLS, "ssl_ca_location": "/nowhere.pem"}, ["SSL_CA_LOCATION"]),
        ({**TLS, "ssl_certificate_location": "/nowhere.pem"}, ["SSL_CERTIFICATE_LOCATION"]),
        ({**TLS, "ssl_key_location": "/nowhere.pem"}, ["SSL_KEY_LOCATION"]),
    ]
    for settings, named in cases:
        with subtests.test(settings=settings):
            with pytest.raises(SettingsRefusedError) as caught:
                KafkaSettings.model_validate({"bootstrap_servers": "broker:9092", **settings}).client_config()
            assert caught.value.setting == ", ".join(f"HEADWATER_KAFKA_{name}" for name in named)
            assert "hunter2" not in str(caught.value)


def test_what_librdkafka_refuses_is_reported_by_our_name_for_it(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({**TLS, "ssl_ca_location": __file__}, "HEADWATER_KAFKA_SSL_CA_LOCATION"),
        ({**TLS, "ssl_certificate_location": __file__}, "HEADWATER_KAFKA_SSL_CERTIFICATE_LOCATION"),
        ({**SASL, "sasl_mechanism": "GSSAPI"}, "HEADWATER_KAFKA_SASL_MECHANISM"),
        ({"client_properties": {"no.such.thing": "1"}}, "HEADWATER_KAFKA_CLIENT_PROPERTIES"),
        ({"client_properties": {"socket.timeout.ms": "soon"}}, "HEADWATER_KAFKA_CLIENT_PROPERTIES"),
    ]
    for settings, named in cases:
        with subtests.test(settings=settings):
            config = KafkaSettings.model_validate({"bootstrap_servers": "broker:9092", **settings}).client_config()
            with pytest.raises(KafkaException) as caught:
                AdminClient(dict[str, Any](config))
            assert settings_refused(caught.value).setting == named


def test_what_librdkafka_takes_is_let_through(subtests: pytest.Subtests) -> None:
    cases: list[dict[str, Any]] = [
        {**PLAIN, "client_properties": {"sasl.username": "u", "sasl.password": "p"}},
        {**SASL, "sasl_mechanism": "OAUTHBEARER"},
        {**TLS, "ssl_ca_location": "probe"},
        {"ssl_ca_location": "/nowhere.pem"},  # not asked for without TLS
        {"client_properties": {"socket.timeout.ms": 5000, "socket.keepalive.enable": True}},
    ]
    for settings in cases:
        with subtests.test(settings=settings):
            kafka = KafkaSettings.model_validate({"bootstrap_servers": "broker:9092", **settings})
            AdminClient(dict[str, Any](kafka.client_config()))


def test_an_unknown_setting_is_refused_without_showing_values() -> None:
    with pytest.raises(ValidationError) as caught:
        KafkaSettings(sasl_pasword="hunter2")  # type: ignore[call-arg]  # the mistake under test
    assert "sasl_pasword" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_fatal_error_names_its_setting() -> None:
    assert str(CredentialsRefusedError("no", setting="X_Y")) == "no (setting: X_Y)"
