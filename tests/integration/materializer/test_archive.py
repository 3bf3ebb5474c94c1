"""The archive that a Spark job keeps, and the graph made again from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater_consumers.archive import Archive
from headwater_consumers.graph.dump import dump
from headwater_schemas.codec import encode
from support.materializer import events
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld
from support.spark_submit import submit

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.spark, pytest.mark.timeout(600)]

JOB = Path(__file__).parents[3] / "spark_jobs" / "lineage" / "archive.py"


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


def test_what_is_no_archive_is_refused_before_anything_is_deleted(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["graph", "rebuild", "--yes", "--archive", str(tmp_path / "none"), "--json"]) == 2
