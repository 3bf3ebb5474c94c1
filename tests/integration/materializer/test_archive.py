"""The archive that a Spark job keeps, and the graph made again from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

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

    Command = Callable[..., Any]


pytestmark = [pytest.mark.stack, pytest.mark.spark, pytest.mark.timeout(600)]

JOB = Path(__file__).parents[3] / "spark_jobs" / "lineage" / "archive.py"


@pytest.mark.nightly
def test_a_graph_is_made_again_from_an_archive_and_what_the_topic_has_since(
    world: RealWorld,
    settings: dict[str, str],
    neo4j_driver: Driver,
    tmp_path: Path,
    headwater: Command,
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

    found = headwater("doctor", "--archive", str(folder), status=None)["findings"]
    prefix = settings["HEADWATER_TOPIC_PREFIX"]
    assert [
        (each["severity"], each["message"].replace(prefix, "lineage"))
        for each in found
        if each["subject"] == str(folder)
    ] == [("OK", "31 records, without a gap to lineage.events; 5 wait there to be archived.")]
    assert run_until_caught_up(settings)["applied"] == 35
    before = list(dump(neo4j_driver))
    reported = headwater("graph", "rebuild", "--yes", "--archive", str(folder))
    assert reported["from_archive"]["applied"] == 30
    assert reported["consumed"] == 5, "the topic is read from where the archive ends"
    assert list(dump(neo4j_driver)) == before
    headwater("graph", "verify")


@pytest.mark.nightly
def test_what_the_graph_only_summarizes_is_found_in_the_archive_one_by_one(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, headwater: Command
) -> None:
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
    world: RealWorld, headwater: Command, tmp_path: Path
) -> None:
    headwater("graph", "rebuild", "--yes", "--archive", str(tmp_path / "none"), status=2)
