from __future__ import annotations

import pytest

from headwater_producers.spark import CaptureSettings, CaptureSettingsError
from headwater_producers.spark.settings import environment_names


def test_arguments_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_JOB_NAME", "from-environment")
    monkeypatch.setenv("HEADWATER_TENANT", "acme")
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    settings = CaptureSettings.load(job_name="enrich")
    assert (settings.job_name, settings.tenant) == ("enrich", "acme")
    assert settings.require_bootstrap_servers() == "broker:9092"
    assert settings.merged(tenant="other").tenant == "other"
    assert settings.merged(tenant="other").job_name == "enrich"


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(CaptureSettingsError, match=r"unknown setting jobname; did you mean job_name\?"):
        CaptureSettings.load(jobname="x")


def test_an_unknown_variable_names_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "somebody else's")
    CaptureSettings.load()
    monkeypatch.setenv("HEADWATER_JOB_NAM", "x")
    with pytest.raises(CaptureSettingsError, match=r"HEADWATER_JOB_NAM; did you mean HEADWATER_JOB_NAME\?"):
        CaptureSettings.load()


def test_an_ill_formed_setting_names_itself_and_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CaptureSettingsError, match="capture_queue_size, from attach"):
        CaptureSettings.load(capture_queue_size=0)
    monkeypatch.setenv("HEADWATER_CAPTURE_QUEUE_SIZE", "many")
    with pytest.raises(CaptureSettingsError, match=r"from the environment \(HEADWATER_CAPTURE_QUEUE_SIZE\)"):
        CaptureSettings.load()


def test_no_kafka_says_what_to_set() -> None:
    with pytest.raises(CaptureSettingsError, match="HEADWATER_KAFKA_BOOTSTRAP_SERVERS"):
        CaptureSettings.load().require_bootstrap_servers()


def test_a_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_SASL_PASSWORD", "hunter2")
    settings = CaptureSettings.load(kafka_sasl_mechanism="PLAIN")
    assert "hunter2" not in repr(settings)
    with pytest.raises(CaptureSettingsError) as refused:
        CaptureSettings.load(kafka_sasl_password=["hunter2"])
    assert "hunter2" not in str(refused.value)


def test_tags() -> None:
    assert CaptureSettings.load(job_tags="tier=1, pii ,,team=flights").tags == (
        ("pii", None),
        ("team", "flights"),
        ("tier", "1"),
    )


def test_the_environment_is_known_by_name() -> None:
    assert {"HEADWATER_JOB_NAME", "HEADWATER_TENANT", "HEADWATER_CAPTURE_ENABLED"} <= environment_names()
