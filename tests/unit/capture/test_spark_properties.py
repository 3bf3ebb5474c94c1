from __future__ import annotations

from types import SimpleNamespace

import pytest

from headwater_producers.spark import CaptureSettings, CaptureSettingsError
from headwater_producers.spark.common.settings import headwater_properties, property_name, setting_meant


def test_each_setting_has_one_property(subtests: pytest.Subtests) -> None:
    for setting in CaptureSettings.model_fields:
        with subtests.test(setting):
            assert setting_meant(property_name(setting)) == setting


def test_a_property_is_like_an_argument_and_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_TENANT", "environment")
    monkeypatch.setenv("HEADWATER_JOB_OWNER", "environment")
    submitted = {
        "spark.headwater.tenant": "property",
        "spark.headwater.jobName": "property",
        "spark.headwater.captureQueueSize": "7",
        "spark.headwater.captureEnabled": "false",
        "spark.headwater.kafkaClientProperties": '{"client.rack": "a"}',
        "spark.headwater.kafkaClusterNames": '{"b1:9092": "orders"}',
    }
    settings = CaptureSettings.load(submitted, job_name="argument")
    assert (settings.job_name, settings.tenant, settings.job_owner) == ("argument", "property", "environment")
    assert settings.capture_queue_size == 7
    assert not settings.capture_enabled
    assert settings.kafka_cluster_names == {"b1:9092": "orders"}
    assert settings.kafka_client_properties is not None
    assert settings.kafka_client_properties["client.rack"].get_secret_value() == "a"


MEANINGLESS: list[tuple[str, str, str]] = [
    ("jobNam", "x", r"unknown Spark property spark.headwater.jobNam; did you mean spark.headwater.jobName"),
    ("job_name", "x", r"did you mean spark.headwater.jobName"),
    ("captureQueueSize", "many", r"from the Spark property spark.headwater.captureQueueSize"),
    ("kafkaClientProperties", "hunter2", r"kafka_client_properties is no JSON"),
    ("kafkaClusterNames", "hunter2", r"kafka_cluster_names is no JSON"),
]


def test_what_means_nothing_is_refused_by_its_own_name(subtests: pytest.Subtests) -> None:
    for name, value, message in MEANINGLESS:
        with subtests.test(name=name, value=value):
            with pytest.raises(CaptureSettingsError, match=message) as refused:
                CaptureSettings.load({f"spark.headwater.{name}": value})
            assert "hunter2" not in str(refused.value)


def test_what_the_session_was_set_to_wins_over_the_application() -> None:
    application = {"spark.headwater.jobName": "submitted", "spark.headwater.tenant": "acme", "spark.master": "local"}
    session = application | {"spark.headwater.jobName": "a -> b\nc", "spark.sql.shuffle.partitions": "1"}
    conf = SimpleNamespace(mkString=lambda between: between.join(f"{name} -> {text}" for name, text in session.items()))
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(getConf=lambda: SimpleNamespace(getAll=lambda: list(application.items()))),
        _jsparkSession=SimpleNamespace(conf=lambda: SimpleNamespace(getAll=lambda: conf)),
    )
    assert headwater_properties(spark) == {
        "spark.headwater.jobName": "a -> b\nc",
        "spark.headwater.tenant": "acme",
    }
