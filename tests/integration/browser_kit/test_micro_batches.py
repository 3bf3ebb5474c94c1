"""The Browser's questions unpack segments into the micro-batches that were reported."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from neo4j import RoutingControl
from neo4j_browser_kit import load_favorites

from headwater_graph.fold import fold
from headwater_graph.words import dataset_title
from headwater_graph.write import GraphWriter
from headwater_schemas.events import KafkaRanges, OffsetRange
from support.demo_graph import demo_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j import Driver

    from headwater_schemas.events import DatasetUse, IntervalEntry, LineageEvent

    Ranges = dict[tuple[str, int], tuple[int, int]]
    """First offset and the one behind the last, by title of the dataset and partition."""

FAVORITES = {one.path.name: one.cypher for one in load_favorites()}
UNPACK, READ, ON, CHAIN, SLOW = (
    "05-unpack-a-segment.cypher",
    "01-who-read-an-offset.cypher",
    "02-on-from-an-offset.cypher",
    "04-a-chain.cypher",
    "03-slow-batches.cypher",
)
BATCHES = 1_100

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(300)]


def ask(driver: Driver, name: str, **first_line: str) -> list[dict[str, Any]]:
    """The rows of a question, with other values than the demo's in its `WITH`."""
    cypher = FAVORITES[name]
    if first_line:
        line = next(line for line in cypher.splitlines() if line.startswith("WITH "))
        values = ", ".join(f"{value} AS {name}" for name, value in first_line.items())
        cypher = cypher.replace(line, f"WITH {values}")
    return [dict(row) for row in driver.execute_query(cypher, routing_=RoutingControl.READ, database_="neo4j").records]


def entries(events: Iterable[LineageEvent], job: str) -> list[IntervalEntry]:
    """Reports of a job's micro-batches, in batch order."""
    found = [
        entry
        for event in events
        if event.interval_event is not None and event.job is not None and event.job.name == job
        for entry in event.interval_event.entries
    ]
    return sorted(found, key=lambda entry: entry.batch_id)


def ranges(uses: Iterable[DatasetUse]) -> Ranges:
    """The offsets that a micro-batch used, without empty ranges."""
    return {
        (dataset_title(use.dataset.name), part.partition): (part.from_, part.to_exclusive)
        for use in uses
        if use.position is not None and use.position.kafka is not None
        for part in use.position.kafka.ranges
        if part.from_ != part.to_exclusive
    }


def written_out(found: Ranges) -> list[str]:
    return sorted(f"{title} {partition}:{first}..{last}" for (title, partition), (first, last) in found.items())


def unpacked(entry: IntervalEntry) -> dict[str, Any]:
    """The row that a segment should have for a micro-batch."""
    time = entry.processing_time
    return {
        "batch": entry.batch_id,
        "at": None if time is None else time.replace(microsecond=time.microsecond // 1000 * 1000),
        "ms": entry.duration_ms,
        "rows_in": entry.rows_in,
        "read": written_out(ranges(entry.inputs)),
        "wrote": written_out(ranges(entry.outputs)),
    }


def rows_of_segment(driver: Driver, job: str, batch_id: int) -> list[dict[str, Any]]:
    rows = ask(driver, UNPACK, wanted=f"'{job}'", batch_id=str(batch_id))
    return [{**row, "at": None if row["at"] is None else row["at"].to_native()} for row in rows]


@pytest.mark.parametrize("job", ["flights.enrich", "flights.routes", "flights.delays"])
def test_the_demo_s_segments_unpack_into_what_was_reported(demo_graph: Driver, job: str) -> None:
    expected = [unpacked(entry) for entry in entries(demo_events(), job)]
    assert len(expected) >= 24
    assert rows_of_segment(demo_graph, job, 3) == expected


def test_an_offset_of_the_demo_is_followed_to_the_batches_that_read_what_was_made_of_it(demo_graph: Driver) -> None:
    enrich, routes = entries(demo_events(), "flights.enrich"), entries(demo_events(), "flights.routes")
    for entry in enrich[1::7]:
        first, last = ranges(entry.inputs)["flights.departed", 2]
        given = {"topic": "'flights.departed'", "partition": "2", "offset": str(last - 1)}
        (found,) = ask(demo_graph, READ, **given)
        assert (found["batch"], found["from"], found["to_exclusive"]) == (entry.batch_id, first, last)
        assert found["run"] is not None
        wrote = ranges(entry.outputs)
        expected = [
            later.batch_id
            for later in routes
            if any(
                key in wrote and begin < wrote[key][1] and wrote[key][0] < end
                for key, (begin, end) in ranges(later.inputs).items()
            )
        ]
        on = {row["read_on_by"]: row for row in ask(demo_graph, ON, **given)}
        if wrote:
            assert on["routes"]["batches"] == expected, entry.batch_id
            assert on["routes"]["certainty"] == "these"
        else:
            assert {reader: row["batches"] for reader, row in on.items()} == {None: []}


def test_what_was_made_without_offsets_is_read_by_no_batch_that_began_before(clean_database: Driver) -> None:
    events = [without_offsets_written(event) for event in demo_events()]
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(events))
    (entry,) = [entry for entry in entries(events, "flights.enrich") if entry.batch_id == 15]
    given = {
        "topic": "'flights.departed'",
        "partition": "1",
        "offset": str(ranges(entry.inputs)["flights.departed", 1][0]),
    }
    rows = {row["read_on_by"]: row for row in ask(clean_database, ON, **given)}
    assert entry.processing_time is not None
    for job in ("routes", "delays"):
        later = [
            other.batch_id
            for other in entries(events, f"flights.{job}")
            if other.processing_time is not None and other.processing_time >= entry.processing_time
        ]
        assert (rows[job]["certainty"], rows[job]["batches"]) == ("not before", later[:1])


def without_offsets_written(event: LineageEvent) -> LineageEvent:
    """The event as of a sink of which no positions are known."""
    body = event.interval_event
    if body is None:
        return event
    entries = tuple(
        replace(entry, outputs=tuple(replace(use, position=None) for use in entry.outputs)) for entry in body.entries
    )
    return replace(event, interval_event=replace(body, entries=entries))


def uneven_events() -> list[LineageEvent]:
    """A query of three segments: batches that are missing, offsets that are skipped, read again or not there."""
    chance = random.Random(7)
    event = next(
        event
        for event in demo_events()
        if event.interval_event is not None and event.job is not None and event.job.name == "flights.enrich"
    )
    assert event.interval_event is not None
    entry = next(one for one in entries(demo_events(), "flights.enrich") if one.batch_id == 3)
    ends = dict.fromkeys(range(4), 1_000)
    out = []
    for batch_id in range(BATCHES):
        if chance.random() < 0.02:
            continue
        parts = []
        for partition in range(3 if batch_id < 700 else 4):
            start = ends[partition] + chance.choice((0,) * 60 + (5, -3))
            ends[partition] = start + chance.choice((0, 3, 40))
            if chance.random() < 0.98:
                parts.append(OffsetRange(partition=partition, from_=start, to_exclusive=ends[partition]))
        assert entry.inputs[0].position is not None
        position = replace(entry.inputs[0].position, kafka=KafkaRanges(topic="flights.departed", ranges=tuple(parts)))
        out.append(
            replace(
                entry,
                batch_id=batch_id,
                processing_time=None if chance.random() < 0.02 else entry.processing_time,
                duration_ms=chance.choice((None, 10, 12, 500)),
                inputs=(replace(entry.inputs[0], position=position),),
                outputs=(),
            )
        )
    return [replace(event, interval_event=replace(event.interval_event, entries=(one,))) for one in out]


def test_an_uneven_chain_of_three_segments_unpacks_too(clean_database: Driver) -> None:
    events = uneven_events()
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    for at in range(0, len(events), 90):
        writer.apply(fold(events[at : at + 90]))
    expected = [unpacked(entry) for entry in entries(events, "flights.enrich")]
    found = [row for start in (0, 512, 1024) for row in rows_of_segment(clean_database, "flights.enrich", start)]
    assert found == expected
    reads = {
        entry.batch_id: ranges(entry.inputs)["flights.departed", 1]
        for entry in entries(events, "flights.enrich")
        if ("flights.departed", 1) in ranges(entry.inputs)
    }
    for batch_id in (min(reads), *random.Random(8).sample(sorted(reads), 4), max(reads)):
        offset = reads[batch_id][0]
        by = [
            row["batch"]
            for row in ask(clean_database, READ, topic="'flights.departed'", partition="1", offset=str(offset))
        ]
        assert by == [other for other, (first, last) in reads.items() if first <= offset < last]
    assert len([row for row in ask(clean_database, CHAIN) if row["link"] is not None]) == 2
    assert {row["ms"] for row in ask(clean_database, SLOW)} == {500}
