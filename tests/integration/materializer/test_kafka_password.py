"""A Kafka that refuses the password ends the consumer at once, and names the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.materializer.process import consuming
from support.sasl_broker import USER, sasl_broker

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.mark.nightly
def test_a_wrong_sasl_password_ends_it_at_once_with_the_settings_name(settings: dict[str, str], tmp_path: Path) -> None:
    secret = "not-the-password-at-all"
    with sasl_broker(tmp_path) as servers:
        refused = {
            **settings,
            "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": servers,
            "HEADWATER_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
            "HEADWATER_KAFKA_SASL_MECHANISM": "PLAIN",
            "HEADWATER_KAFKA_SASL_USERNAME": USER,
            "HEADWATER_KAFKA_SASL_PASSWORD": secret,
        }
        with consuming(refused) as consumer:
            assert consumer.wait() == 6, consumer.stderr
            assert "HEADWATER_KAFKA_SASL_PASSWORD" in consumer.stderr
            assert secret not in consumer.stderr
