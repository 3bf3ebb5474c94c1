"""Kafka settings that no client can be made of end `headwater consume` with 6 and their names, without a broker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from headwater import cli

if TYPE_CHECKING:
    import pytest

SASL = {"SECURITY_PROTOCOL": "SASL_PLAINTEXT", "SASL_MECHANISM": "PLAIN"}


def test_they_are_named(
    subtests: pytest.Subtests,
    tmp_path: os.PathLike[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cases = [
        (SASL, ["HEADWATER_KAFKA_SASL_USERNAME", "HEADWATER_KAFKA_SASL_PASSWORD"]),
        ({"SECURITY_PROTOCOL": "SSL", "SSL_CA_LOCATION": "/nowhere.pem"}, ["HEADWATER_KAFKA_SSL_CA_LOCATION"]),
        ({"SECURITY_PROTOCOL": "SSL", "SSL_CA_LOCATION": __file__}, ["HEADWATER_KAFKA_SSL_CA_LOCATION"]),
        ({"CLIENT_PROPERTIES": '{"no.such.thing": 1}'}, ["HEADWATER_KAFKA_CLIENT_PROPERTIES"]),
    ]
    for settings, named in cases:
        with subtests.test(settings=settings):
            monkeypatch.chdir(tmp_path)
            for name in [name for name in os.environ if name.startswith("HEADWATER_")]:
                monkeypatch.delenv(name)
            monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
            monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
            monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
            for name, value in settings.items():
                monkeypatch.setenv(f"HEADWATER_KAFKA_{name}", value)
            assert cli.main(["consume", "--port", "0"]) == 6
            reported = capsys.readouterr().err
            assert [name for name in named if name not in reported] == []
            assert "Traceback" not in reported
