"""The publisher's settings as librdkafka takes them, and the accounts behind its reports."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.ledger import MAX_LISTED_FAILURES, Ledger
from headwater_producers.publisher.metrics import FailureKind, PublisherMetrics
from headwater_schemas.errors import SettingsRefusedError
from headwater_schemas.record import Record


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_a_setting_that_librdkafka_does_not_take_is_an_error_at_once(registry: CollectorRegistry) -> None:
    settings = PublisherSettings(bootstrap_servers="b:1", client_properties={"no.such.property": SecretStr("1")})
    with pytest.raises(SettingsRefusedError, match=r"no\.such\.property"):
        Publisher(settings, metrics=PublisherMetrics(registry))


def test_settings_as_librdkafka_spells_them() -> None:
    conf = PublisherSettings(bootstrap_servers="b:1").producer_config()
    assert conf["enable.idempotence"] is True
    assert conf["acks"] == "all"
    assert conf["compression.type"] == "zstd"
    assert conf["message.timeout.ms"] == 0
    assert conf["bootstrap.servers"] == "b:1"
    assert (
        PublisherSettings(bootstrap_servers="b:1", delivery_timeout_seconds=1.5).producer_config()["message.timeout.ms"]
        == 1500
    )


def test_failures_that_nobody_asks_for_do_not_fill_the_memory(registry: CollectorRegistry) -> None:
    ledger = Ledger(max_events=10, max_bytes=10_000, metrics=PublisherMetrics(registry), clock=lambda: 0.0)
    for number in range(MAX_LISTED_FAILURES + 3):
        (outgoing,) = ledger.take([Record(str(number), "RUN", b"k", b"v")])
        ledger.fail(outgoing, "reason", FailureKind.OTHER)
    report = ledger.report()
    assert (len(report.failed), report.failures_not_listed) == (MAX_LISTED_FAILURES, 3)
    assert not report.delivered
