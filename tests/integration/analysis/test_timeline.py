"""Timelines: broken chains are shown where they are, queries are merged by time, and pages go back without loss."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.reader import Reader
from headwater_analysis.timeline import Break, Timeline, timeline
from headwater_analysis.trace import OffsetSpan
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from support.analysis.paging import pages
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

START = datetime(2025, 1, 1, tzinfo=UTC)
JOB = JobRef("default", "enrich")
TOPIC = DatasetRef("kafka://b:9092", "orders")
SINK = DatasetRef("file", "/tests/out")
DIGEST = "0" * 64


def run_of(query: int) -> RunRef:
    return RunRef(str(UUID(int=2_000 + query)))


def batch(
    number: int, start: int, end: int, *, query: int = 0, second: int | None = None, later: int = 0
) -> LineageEvent:
    """A micro-batch that read `[start, end)`; without a second it was reconstructed from the checkpoint."""
    ranges = (OffsetRange(partition=0, from_=start, to_exclusive=end),)
    entry = IntervalEntry(
        batch_id=number,
        processing_time=None if second is None else START + timedelta(seconds=second),
        inputs=(
            DatasetUse(
                dataset=TOPIC,
                position=Position(kafka=KafkaRanges(topic="orders", ranges=ranges)),
                certainty=Certainty.EXACT,
                rows=end - start,
            ),
        ),
        outputs=(
            DatasetUse(
                dataset=SINK,
                position=Position(files=FileSet(count=2, bytes=12_345, manifest_digest=DIGEST)),
                certainty=Certainty.EXACT,
            ),
        ),
        rows_in=end - start,
    )
    return build.lineage_event(
        IntervalEvent(
            query_id=str(UUID(int=1_000 + query)),
            entries=(entry,),
            query_name=f"query {query}",
            provenance=Provenance.RECONCILED if second is None else Provenance.OBSERVED,
        ),
        job=JOB,
        run=None if second is None else run_of(query),
        producer="test",
        event_time=START + timedelta(seconds=(second or 0) + later),
    )


def times(line: Timeline) -> list[int | None]:
    """Seconds after the start."""
    return [
        None if each.processing_time is None else int((each.processing_time - START).total_seconds())
        for each in line.intervals
    ]


def test_breaks_are_reported_at_the_batch_that_they_come_before(clean_database: Driver, reader: Reader) -> None:
    store(
        clean_database,
        [
            batch(0, 0, 10, second=0),
            batch(1, 10, 20, second=1),
            batch(2, 25, 30, second=2),  # 20 to 25 was read by nobody
            batch(3, 28, 40, second=3),  # 28 and 29 were read twice
            batch(6, 40, 50, second=6),  # 4 and 5 aren't known
            batch(6, 40, 55, second=6, later=60),  # the same again, to another end
            batch(7, 55, 60),
        ],
    )
    line = timeline(reader, job="enrich")
    assert line.job == line.asset
    assert [each.batch_id for each in line.intervals] == [0, 1, 2, 3, 6, 7]
    key = line.intervals[0].consumed[0].dataset.key
    assert [each.gaps for each in line.intervals] == [(), (), (Break(key, 0, 20, 25),), (), (), ()]
    assert [each.overlaps for each in line.intervals] == [(), (), (), (Break(key, 0, 28, 30),), (), ()]
    assert [each.missing_before for each in line.intervals] == [0, 0, 0, 0, 2, 0]
    assert [each.conflicts for each in line.intervals] == [0, 0, 0, 0, 1, 0]
    assert [each.provenance for each in line.intervals] == ["OBSERVED"] * 5 + ["RECONCILED"]
    last = line.intervals[-1]
    assert (last.run_id, last.processing_time) == (None, None)
    (consumed,), (produced,) = last.consumed, last.produced
    assert (consumed.position, consumed.ranges, consumed.summary) == ("kafka", (OffsetSpan(0, 55, 60),), None)
    assert (produced.position, produced.ranges, produced.summary) == ("files", (), "2 files, 12.3 kB")
    assert (consumed.certainty, consumed.rows) == (Certainty.EXACT, 5)
    (query,) = line.queries
    assert (query.name, query.first_batch, query.last_batch) == ("query 0", 0, 7)


def test_queries_are_merged_by_time_and_pages_go_back(clean_database: Driver, reader: Reader) -> None:
    events = [batch(n, n, n + 1, query=0, second=None if n in (3, 9) else 10 * n) for n in range(10)]
    events += [batch(n, n, n + 1, query=1, second=15 * n + 1) for n in range(6)]
    store(clean_database, events)
    whole = timeline(reader, job="enrich", limit=1_000)
    assert (whole.total, len(whole.intervals), whole.next_cursor) == (16, 16, None)

    found = pages(timeline, reader, job="enrich", limit=3)
    assert [(page.total, len(page.intervals)) for page in found] == [(16, 3)] * 5 + [(16, 1)]
    together = [each.key for page in found for each in page.intervals]
    assert sorted(together) == sorted(each.key for each in whole.intervals)
    # No page has what is later than anything on the page before.
    known = [[time for time in times(page) if time is not None] for page in found]
    assert all(max(after) <= min(before) for before, after in pairwise(known))
    # What has no time stands by its neighbour: the last batch of its query, the ninth, comes first of all.
    assert 9 in [each.batch_id for each in found[0].intervals]
    assert all(page.runs == () for page in found[1:])


def test_a_span_of_time_is_half_open(clean_database: Driver, reader: Reader) -> None:
    store(clean_database, [batch(n, n, n + 1, second=None if n == 5 else n) for n in range(10)])
    line = timeline(reader, job="enrich", begin=START + timedelta(seconds=3), end=START + timedelta(seconds=7))
    assert [each.batch_id for each in line.intervals] == [3, 4, 6]
    assert line.total == 3
    with pytest.raises(QuestionError, match="ends before it begins"):
        timeline(reader, job="enrich", begin=START, end=START - timedelta(seconds=1))


def test_a_dataset_has_the_runs_that_used_it_alone(clean_database: Driver, reader: Reader) -> None:
    def finished(run: int, *datasets: DatasetRef) -> LineageEvent:
        body = RunEvent(
            type=RunEventType.COMPLETE,
            inputs=tuple(DatasetUse(dataset=dataset) for dataset in datasets),
            outputs=(DatasetUse(dataset=DatasetRef("file", "/report")),),
        )
        time = START + timedelta(seconds=run)
        return build.lineage_event(
            body, job=JobRef("default", "report"), run=RunRef(str(UUID(int=run))), producer="test", event_time=time
        )

    store(clean_database, [batch(0, 0, 10, second=0), finished(1, SINK), finished(2), finished(3, SINK)])
    line = timeline(reader, dataset="/tests/out")
    assert line.job is None
    assert line.asset.name == "/tests/out"
    assert [each.batch_id for each in line.intervals] == [0]
    assert {run.run_id for run in line.runs} == {str(UUID(int=1)), str(UUID(int=3)), run_of(0).run_id}
    assert [run.state for run in line.runs if run.processing_type != "STREAMING"][:1] == ["COMPLETE"]
    assert len(timeline(reader, job="report", limit=2).runs) == 2


def test_what_is_asked_has_to_make_sense(clean_database: Driver, reader: Reader) -> None:
    store(clean_database, [batch(n, n, n + 1, second=n) for n in range(3)])
    with pytest.raises(NotFoundError):
        timeline(reader, job="nothing")
    for limit in (0, 1_001):
        with pytest.raises(QuestionError):
            timeline(reader, job="enrich", limit=limit)
    cursor = timeline(reader, job="enrich", limit=1).next_cursor
    with pytest.raises(QuestionError, match="another question"):
        timeline(reader, job="enrich", limit=1, cursor=cursor, begin=START)
    with pytest.raises(QuestionError, match="another question"):
        timeline(reader, dataset="orders", limit=1, cursor=cursor)
