"""Sink that the settings describe, and the location of its outbox."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater_producers import outbox
from headwater_producers.outbox import Outbox, OutboxLimits, WhenFull
from headwater_producers.publisher import Publisher
from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_producers.spark.common.outbox_folder import default_root, outbox_folder
from headwater_producers.spark.common.settings import EmissionPolicy
from headwater_producers.spark.common.sink import DurableSink, EventSink
from headwater_producers.spark.driver.kafka_sink import KafkaSink, kafka_sink
from support.capture import RecordingSink

SERVERS = "127.0.0.1:1"


def settings(**given: Any) -> CaptureSettings:
    return CaptureSettings.load(**{"kafka_bootstrap_servers": SERVERS, **given})


@pytest.fixture
def made() -> Iterator[list[EventSink]]:
    sinks: list[EventSink] = []
    yield sinks
    for sink in sinks:
        sink.close()


SINKS: list[tuple[dict[str, Any], type[EventSink]]] = [
    ({}, Outbox),
    ({"emission_policy": "fail_job"}, Outbox),
    ({"emission_policy": "fail_closed"}, Outbox),
    ({"emission_policy": "warn"}, KafkaSink),
    ({"emission_policy": "warn", "outbox_path": "outbox"}, Outbox),
    ({"outbox_enabled": False}, KafkaSink),
    ({"outbox_enabled": "false", "outbox_path": "outbox"}, KafkaSink),
]


def test_an_outbox_is_used_unless_nobody_wants_it(
    subtests: pytest.Subtests, made: list[EventSink], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (given, kind) in enumerate(SINKS):
        with subtests.test(given=given):
            folder = tmp_path / str(number)
            folder.mkdir()
            monkeypatch.chdir(folder)
            monkeypatch.setenv("HEADWATER_DATA_DIR", str(folder / "data"))
            made.append(kafka_sink(settings(**given)))
            assert type(made[-1]) is kind


def test_how_much_an_outbox_holds_and_what_gives_way_is_a_setting(
    made: list[EventSink], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[OutboxLimits | None] = []

    class Remembered(outbox.Outbox):
        def __init__(self, folder: Path, publisher: Publisher, given: OutboxLimits | None = None) -> None:
            limits.append(given)
            super().__init__(folder, publisher, given)

    monkeypatch.setattr(outbox, "Outbox", Remembered)
    asked: tuple[dict[str, Any], ...] = ({}, {"outbox_max_bytes": 2_000_000, "outbox_when_full": "drop_oldest"})
    made.extend(kafka_sink(settings(outbox_path=tmp_path, **given)) for given in asked)
    assert limits == [
        OutboxLimits(max_bytes=256 * 1024 * 1024, when_full=WhenFull.DROP_NEWEST),
        OutboxLimits(max_bytes=2_000_000, when_full=WhenFull.DROP_OLDEST),
    ]


def test_retry_is_the_default() -> None:
    assert settings().emission_policy is EmissionPolicy.RETRY


def test_what_a_sink_of_ones_own_needs_is_three_methods() -> None:
    assert not isinstance(RecordingSink(), DurableSink)


def test_the_default_place_is_the_users_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_DATA_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert default_root() == Path("/state/headwater/outbox")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/houses/me")
    assert default_root() in {
        Path("/houses/me/.local/state/headwater/outbox"),
        Path("/houses/me/Library/Application Support/headwater/outbox"),
    }
    monkeypatch.setenv("HEADWATER_DATA_DIR", "/data")
    assert default_root() == Path("/data/outbox")


def test_one_folder_for_each_cluster_and_topic() -> None:
    def folder(**given: Any) -> str:
        return outbox_folder(settings(outbox_path="o", **given)).name

    assert folder(kafka_bootstrap_servers="b:1,a:1") == folder(kafka_bootstrap_servers="a:1, b:1")
    named = {folder(kafka_cluster_name="prod", kafka_bootstrap_servers=servers) for servers in ("a:1", "b:1")}
    assert len(named) == 1
    assert named.pop().startswith("prod-")
    others = [
        folder(),
        folder(topic_prefix="other"),
        folder(kafka_bootstrap_servers="c:1"),
        folder(kafka_cluster_name="x"),
    ]
    assert len(set(others)) == 4


def test_a_home_is_found_without_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/houses/me")
    assert outbox_folder(settings(outbox_path="~/o")).parent == Path("/houses/me/o")


def test_a_path_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CaptureSettingsError, match="outbox_path: no outbox can be made"):
        kafka_sink(settings(outbox_path=tmp_path / "file"))


def test_a_default_place_that_cannot_be_used_is_done_without(
    tmp_path: Path, made: list[EventSink], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path / "file"))
    caplog.set_level(logging.WARNING)
    made.append(kafka_sink(settings()))
    assert type(made[0]) is KafkaSink
    assert "in memory only" in caplog.text
