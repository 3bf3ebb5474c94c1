from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from headwater.connection import TopicSettings
from headwater.settings import OTHER_VARIABLES as COMMANDS_VARIABLES
from headwater.settings import environment_name, setting_names
from headwater_producers.spark import CaptureSettings, CaptureSettingsError
from headwater_producers.spark.common.settings import environment_names
from headwater_producers.spark.driver.kafka_sink import kafka_sink, publisher_settings
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.registry import RegistrySettings
from headwater_schemas.topics import TopicNames
from headwater_schemas.variables import OTHER_VARIABLES


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


UNKNOWN_VARIABLES: list[tuple[str, str]] = [
    ("HEADWATER_TENNANT", "HEADWATER_TENANT"),
    ("HEADWATER_KAFKA_CLUSTERNAME", "HEADWATER_KAFKA_CLUSTER_NAME"),
    ("HEADWATER_REGISTRY_URI", "HEADWATER_REGISTRY_URL"),
    ("HEADWATER_NEO4J_PASWORD", "HEADWATER_NEO4J_PASSWORD"),
    ("HEADWATER_SOMETHING_ELSE", ""),
]


def test_every_unknown_variable_is_refused(subtests: pytest.Subtests) -> None:
    for variable, nearest in UNKNOWN_VARIABLES:
        with subtests.test(variable), pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv(variable, "x")
            with pytest.raises(CaptureSettingsError, match=f"unknown setting {variable}.*{nearest}"):
                CaptureSettings.load()


def test_what_the_commands_read_is_no_mistake_in_a_drivers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where this fails, add the names that it shows to headwater_schemas/variables.py.
    theirs = {*map(environment_name, setting_names()), *COMMANDS_VARIABLES}
    assert theirs - environment_names() == OTHER_VARIABLES
    for variable in OTHER_VARIABLES:
        monkeypatch.setenv(variable, "x")
    CaptureSettings.load()


def test_a_driver_can_be_told_all_that_the_commands_can(subtests: pytest.Subtests) -> None:
    for prefix, section in (("kafka_", KafkaSettings), ("registry_", RegistrySettings), ("topic_", TopicSettings)):
        with subtests.test(prefix):
            ours = {name.removeprefix(prefix) for name in CaptureSettings.model_fields if name.startswith(prefix)}
            assert ours == set(section.model_fields)


def test_registry_and_topics_reach_the_publisher(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": "broker:9092",
        "KAFKA_CLIENT_PROPERTIES": '{"client.rack": "a", "socket.timeout.ms": 5000}',
        "REGISTRY_URL": "http://registry:8081",
        "REGISTRY_USERNAME": "me",
        "REGISTRY_PASSWORD": "hunter2",
        "REGISTRY_TIMEOUT_SECONDS": "3",
        "TOPIC_PARTITIONS": "12",
        "TOPIC_REPLICATION_FACTOR": "3",
        "TOPIC_MAX_MESSAGE_BYTES": "2000000",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"HEADWATER_{name}", value)
    settings = publisher_settings(CaptureSettings.load())
    assert settings.registry == RegistrySettings(
        url="http://registry:8081", username="me", password=SecretStr("hunter2"), timeout_seconds=3
    )
    events, *_ = settings.specs(TopicNames())
    assert (events.partitions, events.replication_factor) == (12, 3)
    assert events.config["max.message.bytes"] == "2000000"
    assert settings.producer_config()["message.max.bytes"] == 2_000_000
    assert settings.client_config()["client.rack"] == "a"
    assert settings.client_config()["socket.timeout.ms"] == "5000"


def test_without_a_registry_there_is_none() -> None:
    assert publisher_settings(CaptureSettings.load(kafka_bootstrap_servers="broker:9092")).registry is None


def test_client_properties_that_are_no_json_are_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_CLIENT_PROPERTIES", '{"ssl.key.password": "hunter2')
    with pytest.raises(CaptureSettingsError, match="HEADWATER_KAFKA_CLIENT_PROPERTIES") as refused:
        CaptureSettings.load()
    assert "hunter2" not in str(refused.value)


def test_settings_that_make_no_client_are_emitted_where_attach_is_called() -> None:
    settings = CaptureSettings.load(
        kafka_bootstrap_servers="broker:9092", kafka_security_protocol="SASL_PLAINTEXT", kafka_sasl_mechanism="PLAIN"
    )
    with pytest.raises(CaptureSettingsError, match="HEADWATER_KAFKA_SASL_USERNAME, HEADWATER_KAFKA_SASL_PASSWORD"):
        kafka_sink(settings)


def test_an_ill_formed_setting_names_itself_and_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CaptureSettingsError, match="capture_queue_size, from attach"):
        CaptureSettings.load(capture_queue_size=0)
    monkeypatch.setenv("HEADWATER_CAPTURE_QUEUE_SIZE", "many")
    with pytest.raises(CaptureSettingsError, match=r"from the environment \(HEADWATER_CAPTURE_QUEUE_SIZE\)"):
        CaptureSettings.load()


def test_tags_in_another_form_are_an_error_that_shows_theirs(subtests: pytest.Subtests) -> None:
    for tags in (["a"], {"a": "b"}, None):
        with subtests.test(tags=tags):
            message = r"job_tags, from attach: write one text such as 'tier=1,pii'"
            with pytest.raises(CaptureSettingsError, match=message):
                CaptureSettings.load(job_tags=tags)


@pytest.mark.parametrize("name", ["bootstrap.servers", "metadata.broker.list"])
def test_brokers_have_one_setting(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    message = f"{name} isn't for here: kafka_bootstrap_servers is the setting for brokers"
    with pytest.raises(CaptureSettingsError, match=message):
        CaptureSettings.load(kafka_client_properties={name: "other:9092"})
    monkeypatch.setenv("HEADWATER_KAFKA_CLIENT_PROPERTIES", f'{{"{name}": "other:9092"}}')
    with pytest.raises(CaptureSettingsError, match=message):
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


def test_topics_that_kafka_refuses_are_refused_where_settings_are_read(subtests: pytest.Subtests) -> None:
    for prefix in ("", "bad topic/name", "línea", "a\n", "x" * 239):
        with subtests.test(prefix):
            message = r"topic_prefix, from attach: a topic prefix has 1 to 238"
            with pytest.raises(CaptureSettingsError, match=message):
                CaptureSettings.load(topic_prefix=prefix)
            with pytest.raises(ValidationError, match="1 to 238"):
                TopicSettings(prefix=prefix)


def test_topics_that_kafka_takes(subtests: pytest.Subtests) -> None:
    for prefix in (".", "..", "staging.lineage", "A_b-9", "x" * 238):
        with subtests.test(prefix):
            assert len(TopicNames(CaptureSettings.load(topic_prefix=prefix).topic_prefix).dead_letters) <= 249


def test_tags() -> None:
    assert CaptureSettings.load(job_tags="tier=1, pii ,,team=flights").tags == (
        ("pii", None),
        ("team", "flights"),
        ("tier", "1"),
    )


def test_the_environment_is_known_by_name() -> None:
    assert {"HEADWATER_JOB_NAME", "HEADWATER_TENANT", "HEADWATER_CAPTURE_ENABLED"} <= environment_names()


ADDRESSES: list[tuple[str, str]] = [
    ("kafka_bootstrap_servers", "bob:hunter2@b:9092"),
    ("registry_url", "https://bob:hunter2@registry"),
    ("metrics_pushgateway", "http://bob:hunter2@pushgateway:9091"),
]


def test_an_address_with_a_password_is_refused_and_not_shown(subtests: pytest.Subtests) -> None:
    for setting, address in ADDRESSES:
        with subtests.test(setting):
            with pytest.raises(CaptureSettingsError, match="contain a user or a password") as refused:
                CaptureSettings.load(**{setting: address})
            assert setting in str(refused.value)
            assert "hunter2" not in str(refused.value)
