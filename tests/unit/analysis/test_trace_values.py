"""Offset ranges, marks of paths, and what people type for traces."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from headwater.options import parse_hops
from headwater.trace_options import complete_path, parse_duration, parse_records
from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Offsets, Times
from headwater_analysis.trace import Path as PathStart
from headwater_analysis.trace.starts import parts_of_start
from headwater_graph.facts.spans import Spans, difference, flat, intersection, union
from headwater_graph.words import canonical_path, path_mark, path_marks
from headwater_schemas.ranges import MOST_OFFSET

AT = datetime(2025, 1, 31, 12, tzinfo=UTC)


def points(spans: Spans) -> set[tuple[int, int]]:
    return {(partition, offset) for partition, a, b in flat(spans) for offset in range(a, b)}


def test_a_relative_path_is_completed_where_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lake" / "dt=1").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lake")
    whole = str(tmp_path / "lake" / "dt=1")
    assert [complete_path(each) for each in ("dt=1", "../lake/dt=1", "dt=2", whole, "s3://lake/dt=1")] == [
        whole, whole, "dt=2", whole, "s3://lake/dt=1"
    ]  # fmt: skip
    for odd in ("a" * 5_000, "/a" * 5_000, "a\0b", "\udcff"):
        assert complete_path(odd) == odd


def test_only_the_first_folders_of_a_path_are_marked() -> None:
    """300,000 of them in an event of 1 MB took a worker minutes."""
    assert len(path_marks(["/" + "a=1/" * 300 + "part-0"])) == 100


def test_a_path_of_any_length_is_not_looked_for() -> None:
    """Its 4,096 folders alone would be 17 MB of names, and 60,000 were 4 GB."""
    with pytest.raises(QuestionError, match="8,192 characters"):
        parts_of_start(cast("Any", None), PathStart("/a" * 4_097))


def test_spans_are_sets_of_offsets(subtests: pytest.Subtests) -> None:
    for seed in range(50):
        with subtests.test(seed=seed):
            rng = random.Random(seed)
            one, other = (
                union((rng.randrange(3), start, start + rng.randrange(6)) for start in rng.sample(range(40), 8))
                for _ in "ab"
            )
            assert points(intersection(one, other)) == points(one) & points(other)
            assert points(difference(one, other)) == points(one) - points(other)
            assert points(union([*flat(one), *flat(other)])) == points(one) | points(other)
            assert all(a[1] < b[0] for spans in one.values() for a, b in itertools.pairwise(spans))


def test_every_spelling_of_a_path_has_one_mark(subtests: pytest.Subtests) -> None:
    cases = [
        "file:///lake/d/part-0",
        "file:/lake/d/part-0",
        "/lake//d/part-0/",
        "file://localhost/lake/d/part-0",
    ]
    for path in cases:
        with subtests.test(path=path):
            assert canonical_path(path) == "file:/lake/d/part-0"
            assert path_marks([path]) == [path_mark("/lake/d/part-0")]


def test_a_file_has_the_marks_of_its_partitions_too() -> None:
    marks = path_marks(["s3a://b/t/dt=1/hour=2/part-0"])
    assert marks == sorted(map(path_mark, ("s3://b/t/dt=1/hour=2/part-0", "s3://b/t/dt=1/hour=2", "s3://b/t/dt=1")))


def test_a_mark_is_short_however_long_the_path_is() -> None:
    """Lucene takes no word over 32,766 bytes, and a longer one stops the database."""
    assert len(path_mark("/" + "x" * 100_000)) == 16


def test_records(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, list[Offsets | Times]]] = [
        ("3 120", [Offsets("t", 3, 120, 121)]),
        ("0 120..130", [Offsets("t", 0, 120, 130)]),
        ("0 120..130 140", [Offsets("t", 0, 120, 130), Offsets("t", 0, 140, 141)]),
        ("0:120..130", [Offsets("t", 0, 120, 130)]),
        ("0:120..130 2:120", [Offsets("t", 0, 120, 130), Offsets("t", 2, 120, 121)]),
        ("0 120..", [Offsets("t", 0, 120, MOST_OFFSET)]),
        ("all", [Offsets("t", None, 0, MOST_OFFSET)]),
        ("all 120..130", [Offsets("t", None, 120, 130)]),
        ("1:5 all:120..", [Offsets("t", 1, 5, 6), Offsets("t", None, 120, MOST_OFFSET)]),
        ("0 2025-01-31T12:00", [Times("t", 0, AT, AT)]),
        ("all 2025-01-31T12:00Z..2025-01-31T13:00Z", [Times("t", None, AT, AT + timedelta(hours=1))]),
        ("0:2025-01-31T12:00 1:5", [Times("t", 0, AT, AT), Offsets("t", 1, 5, 6)]),
    ]
    for words, expected in cases:
        with subtests.test(words=words):
            assert parse_records("t", words.split(), None) == tuple(expected)
    assert parse_records("t", ["0", "2025-01-31T12:00"], None, read_time=True) == (Times("t", 0, AT, AT, read=True),)


def test_what_are_no_records(subtests: pytest.Subtests) -> None:
    for words in ("x 1", "0 1..2..3", "0 soon", "-1 1", "0", "0 1:5..9", "0 5..5", "0:1 5", "1", "", "5..9", "1:5 0"):
        with subtests.test(words=words), pytest.raises(typer.BadParameter):
            parse_records("t", words.split(), None)
    with pytest.raises(typer.BadParameter, match="--topic-id"):
        parse_records("t", ["0", "2025-01-31T12:00"], "id")


def test_depths_and_durations() -> None:
    assert (parse_hops("all"), parse_hops("3")) == (None, 3)
    assert parse_duration("1.5h") == timedelta(minutes=90)
    assert parse_duration(None) is None
    # Before today there are fewer days than these: no date is that long ago.
    datetime.now(UTC) - (parse_duration("365250d") or timedelta.max)
    refused = ((parse_duration, text) for text in ("3 weeks", "365251d", "999999999d", "999999999.5d"))
    for parse, text in ((parse_hops, "0"), *refused):
        with pytest.raises(typer.BadParameter):
            parse(text)


def test_a_range_of_another_notation_is_answered_with_how_to_write_it() -> None:
    with pytest.raises(typer.BadParameter, match=r"write 609\.\.994 for 609 up to and including 993"):
        parse_records("t", ["0", "609–993"], None)
