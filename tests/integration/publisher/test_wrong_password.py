"""A real broker that refuses the password: an error at once, with the setting's name, and never with the password."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_schemas.errors import CredentialsRefusedError
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.schema_store import SchemaStore
from headwater_schemas.topics import ensure_topics
from support.events import full_run_event
from support.secured_broker import PASSWORD, WRONG, SecuredBroker, secured_broker
from support.waiting import patience


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("sasl")) as servers:
        yield servers


def settings(broker: SecuredBroker, password: str, *, create_topics: bool = True) -> PublisherSettings:
    return PublisherSettings(
        **KafkaSettings.model_validate(broker.scram(password=password)).model_dump(exclude_defaults=True),
        create_topics=create_topics,
    )


@pytest.mark.parametrize("create_topics", [True, False])
def test_flush_says_so_at_once(broker: SecuredBroker, create_topics: bool) -> None:
    configured = settings(broker, WRONG, create_topics=create_topics)
    publisher = Publisher(configured, metrics=PublisherMetrics(CollectorRegistry()))
    try:
        publisher.publish(full_run_event())
        with pytest.raises(CredentialsRefusedError) as caught:
            publisher.flush(3_600)  # longer than the test may take
        assert "HEADWATER_KAFKA_SASL_PASSWORD" in str(caught.value)
        assert WRONG not in str(caught.value)
    finally:
        assert publisher.close(0).outstanding == 1


def test_so_do_the_topics_and_the_schema_store(broker: SecuredBroker) -> None:
    conf = settings(broker, WRONG).client_config()
    with pytest.raises(CredentialsRefusedError, match="HEADWATER_KAFKA_SASL_PASSWORD"):
        ensure_topics(conf)
    with SchemaStore(conf, "lineage.schemas") as store, pytest.raises(CredentialsRefusedError, match="SASL_PASSWORD"):
        store.find(b"12345678")


def test_the_right_password_is_let_in(broker: SecuredBroker) -> None:
    with Publisher(settings(broker, PASSWORD), metrics=PublisherMetrics(CollectorRegistry())) as publisher:
        publisher.publish(full_run_event())
        publisher.flush(patience(60)).require_delivered()
