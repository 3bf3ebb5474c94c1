"""A Kafka that refuses the password ends the consumer at once, and names the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.materializer.process import consuming
from support.secured_broker import WRONG, secured_broker, variables

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.mark.nightly
def test_a_wrong_sasl_password_ends_it_at_once_with_the_settings_name(settings: dict[str, str], tmp_path: Path) -> None:
    with (
        secured_broker(tmp_path) as broker,
        consuming({**settings, **variables(broker.scram(password=WRONG))}) as consumer,
    ):
        assert consumer.wait() == 6, consumer.stderr
        assert "HEADWATER_KAFKA_SASL_PASSWORD" in consumer.stderr
        assert WRONG not in consumer.stderr
