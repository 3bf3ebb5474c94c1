"""The archive that a Spark job keeps, and the graph made again from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater_consumers.archive import Archive
from headwater_graph.dump import dump
from headwater_schemas.codec import encode
from headwater_schemas.identity import record_key
from support.materializer import events
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld
from support.spark_submit import submit

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.spark, pytest.mark.timeout(600)]

JOB = Path(__file__).parents[3] / "spark_jobs" / "lineage" / "archive.py"


@pytest.mark.nightly
def test_a_graph_is_made_again_from_an_archive_and_what_the_topic_has_since(
    world: RealWorld,
    settings: dict[str, str],
    neo4j_driver: Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "archive"

    def archive() -> None:
        submit(JOB, "--output", folder.as_uri(), environment=settings)

    world.put_many([events.good(number) for number in range(20)])
    world.put(events.GARBAGE, key=b"bad", headers=(("x", b"1"), ("y", None)), timestamp_ms=1_767_225_600_000)
    archive()
    world.put_many([encode(events.interval(batch)) for batch in range(10)], partition=1)
    archive()  # takes up where the first one stopped
    world.put_many([events.good(number) for number in range(20, 25)])

    kept = Archive(str(folder))
    assert [(k.partition.number, k.begin, k.end, k.missing) for k in kept.kept()] == [(0, 0, 21, 0), (1, 0, 10, 0)]
    assert {path.name for path in folder.glob("day=*")} >= {"day=2026-01-01"}, "a day for each day"
    (bad,) = [record for record in kept.records() if record.key == b"bad"]
    assert (bad.value, bad.headers, bad.timestamp_ms) == (
        events.GARBAGE,
        (("x", b"1"), ("y", None)),
        1_767_225_600_000,
    )

    assert doctors_word(settings, str(folder), monkeypatch, capsys) == [
        ("OK", "31 records, without a gap to lineage.events; 5 wait there to be archived.")
    ]
    assert run_until_caught_up(settings)["applied"] == 35
    before = list(dump(neo4j_driver))
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    capsys.readouterr()
    assert cli.main(["graph", "rebuild", "--yes", "--archive", str(folder), "--json"]) == 0
    reported: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert reported["from_archive"]["applied"] == 30
    assert reported["consumed"] == 5, "the topic is read from where the archive ends"
    assert list(dump(neo4j_driver)) == before
    assert cli.main(["graph", "verify", "--json"]) == 0


def doctors_word(
    settings: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, str]]:
    """Findings of `headwater doctor --archive`."""
    with monkeypatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(name, value)
        capsys.readouterr()
        cli.main(["doctor", "--archive", folder, "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    prefix = settings["HEADWATER_TOPIC_PREFIX"]
    return [
        (each["severity"], each["message"].replace(prefix, "lineage")) for each in findings if each["subject"] == folder
    ]


@pytest.mark.nightly
def test_what_the_graph_only_summarizes_is_found_in_the_archive_one_by_one(
    world: RealWorld,
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def headwater(*arguments: str) -> Any:
        capsys.readouterr()
        assert cli.main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    for batch in range(30):
        event = events.interval(batch)
        time = round(event.event_time.timestamp() * 1_000) + 86_400_000 * (batch % 2)  # some published a day later
        world.put(encode(event), key=record_key(event), timestamp_ms=time)
    world.put(encode(events.interval(7, query=1)), key=record_key(events.interval(7, query=1)))
    submit(JOB, "--output", (tmp_path / "archive").as_uri(), environment=settings)
    run_until_caught_up(settings)
    before = headwater("trace", "flights", "0", "77")
    headwater("retention", "set", "--before", "2026-01-02", "--yes")
    run_until_caught_up(settings)
    headwater("retention", "apply")

    summarized = headwater("trace", "flights", "0", "77")
    assert [hop["step"]["kind"] for hop in summarized["hops"]] == ["SUMMARY", "SUMMARY"]
    exact = headwater("trace", "flights", "0", "77", "--archive", str(tmp_path / "archive"))
    assert len(exact["hops"]) == 2
    for hop, known in zip(exact["hops"], before["hops"], strict=True):
        assert hop["why"].endswith("The batch is from the archive.")
        assert {**hop, "why": ""} == {**known, "why": ""}


def test_what_is_no_archive_is_refused_before_anything_is_deleted(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["graph", "rebuild", "--yes", "--archive", str(tmp_path / "none"), "--json"]) == 2
