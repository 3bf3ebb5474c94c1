"""Estate: lineage graph of a made-up company in any size, equal for equal sizes and seed, kept as a Neo4j store.

The consumer's code folds and writes the events. The datasets of a domain have an order: most edges point forward, some
backward, so that there are cycles. In-degrees and out-degrees follow a power law. Domains don't feed each other, so a
domain's size limits the number of datasets that a question reaches. Streaming pipelines, all of one shape, feed the
first hundredth of the datasets:

    T0 ─q0─▶ T1 ─q1─▶ T2 ─q3─▶ T4 ─q5─▶ T6 ─q7─▶ table 8
              │                           └─q8─▶ table 9
              └─q2─▶ T3 ─q4─▶ T5 ─q6─▶ T7 ─q9─▶ table 10

A trace of a record of T0 has five hops and reaches three tables through ten queries.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import json
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.stack.embedded import locked_version
from headwater_analysis.trace import Offsets
from headwater_benchmarks.servers import DATABASE, Database, neo4j_up
from headwater_benchmarks.workload import EPOCH, PRODUCER, BatchJob, StreamingQuery, described_table, table
from headwater_graph.facts.model import PREFIX
from headwater_graph.fold import fold
from headwater_graph.keys import dataset_key
from headwater_graph.schema import GRAPH_VERSION
from headwater_graph.segments.segment import SIZE
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    IncidentScope,
    IncidentType,
    IntervalEvent,
    LineageEvent,
    OffsetRange,
)
from headwater_schemas.events.build import lineage_event

_GENERATOR = 6
"""Version of the generator. Increment it when equal sizes and seeds give another graph: old stores then aren't used."""
FEEDS_PER_DATASET = 3
"""Mean out-degree."""
_DATASETS_PER_DOMAIN = 20_000
"""Number of datasets in a domain. A dataset with many targets reaches over half of its domain."""
_BATCHES_PER_QUERY = 6_000
_EXPONENT, _MOST_OF_ONE = 1.3, 400
_REACH_FORWARD = 1 / 6
"""Longest forward distance of an edge, as a share of the domain."""
_BACKWARD = 0.04
"""Share of the edges that point backward."""

QUERIES = ((0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (6, 9), (7, 10))
"""Numbers of the dataset that each query of a pipeline reads, and of the dataset that it writes."""
_TOPICS, _TABLES = 8, 3
_PARTITIONS = (8, 16, 24, 32, 48, 64)

_STARTS = 100
_TRIED = 400
"""Number of datasets whose reachable datasets are counted, to find datasets that reach many."""
_NEAR_MOST = 0.9
_LEFT_OUT = 10
"""Number of micro-batches at either end of a query that no trace starts from: later queries may lack their records."""
_INCIDENTS = 20
"""Number of incidents of each kind."""
_EVENTS_PER_TRANSACTION = 1_000
_TENANT = "default"

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EstateSize:
    """Size of the estate.

    Attributes:
        datasets: number of tables.
        columns: columns of all tables together, rounded to the same number for each.
        intervals: micro-batches of all streaming queries together, rounded to whole pipelines.
    """

    datasets: int
    columns: int
    intervals: int
    seed: int

    @property
    def pipelines(self) -> int:
        """Number of streaming pipelines; at least 1."""
        return max(1, round(self.intervals / (_BATCHES_PER_QUERY * len(QUERIES))))

    @property
    def batches(self) -> int:
        """Micro-batches of each query."""
        return max(2 * _LEFT_OUT + 1, round(self.intervals / (self.pipelines * len(QUERIES))))

    @property
    def digest(self) -> str:
        """Short digest, equal for equal estates; name of the kept store."""
        text = f"{_GENERATOR} {sorted(asdict(self).items())}"
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


FULL = {"datasets": 100_000, "columns": 1_000_000, "intervals": 180_000}
"""Sizes of the goals."""
QUICK = {"datasets": 5_000, "columns": 50_000, "intervals": 20_000}


@dataclass(frozen=True, slots=True)
class QuestionStarts:
    """Starting points of questions.

    Attributes:
        far: keys of datasets whose number of reachable datasets is at least nine tenths of the maximum.
        any: keys of datasets that feed at least one dataset.
        records: offsets of single records to trace.
        incidents: ids of incidents, each about one of `records`.
        wide_incidents: ids of incidents, each about one dataset of `far`.
    """

    far: list[str]
    any: list[str]
    records: list[Offsets]
    incidents: list[str]
    wide_incidents: list[str]


@dataclass(frozen=True, slots=True)
class ServedEstate:
    """Running store of an estate.

    Attributes:
        database: server of the store.
        manifest: numbers of nodes and relationships by kind, and the seconds that creating the store took.
        starts: starting points of questions.
    """

    database: Database
    manifest: dict[str, Any]
    starts: QuestionStarts


@contextlib.contextmanager
def estate_up(size: EstateSize, below: Path, report: Callable[[str], None]) -> Iterator[ServedEstate]:
    """Run the estate's store during the block; creates it first if missing.

    Args:
        below: folder of the kept stores. Each has `manifest.json`, written last, and Neo4j's home in `neo4j/`.
        report: called with the current step.

    Raises:
        HeadwaterError: the store could not be created or started.
    """
    folder = below / f"estate-{size.digest}-{GRAPH_VERSION}-{locked_version('neo4j', 'neo4j')}"
    manifest = folder / "manifest.json"
    with _alone(folder):
        if not manifest.exists():
            # A killed process leaves an incomplete store behind.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            with neo4j_up(folder / "neo4j") as database:
                made = json.dumps(_make(size, database, report), indent=1)
            partial = manifest.with_suffix(".partial")
            partial.write_text(made + "\n", encoding="utf-8")
            partial.replace(manifest)
        found = json.loads(manifest.read_text(encoding="utf-8"))
        starts = found.pop("starts")
        starts["records"] = [Offsets(**record) for record in starts["records"]]
        report("Starting Neo4j")
        with neo4j_up(folder / "neo4j") as database:
            yield ServedEstate(database, found, QuestionStarts(**starts))


def _make(size: EstateSize, database: Database, report: Callable[[str], None]) -> dict[str, Any]:
    """Write the estate to an empty database; return its manifest."""
    begun = time.monotonic()
    writer = GraphWriter(database.driver, DATABASE)
    writer.ensure_schema()
    edges = draw_feeds(size)
    report(f"Writing {size.datasets:,} datasets and their jobs")
    events = asset_events(size, edges)
    while part := list(itertools.islice(events, _EVENTS_PER_TRANSACTION)):
        writer.apply(fold(part))
    written = time.monotonic()
    report(f"Writing {size.batches * size.pipelines * len(QUERIES):,} micro-batches")
    records: list[Offsets] = []
    for event in pipeline_events(size, records):
        writer.apply(fold([event]))
    starts, openings = draw_starts(size, edges, records)
    writer.apply(fold(openings))
    counts = {
        name: {row["kind"].removeprefix(PREFIX): row["many"] for row in database.run(f"counts/{name}")}
        for name in ("nodes", "relationships")
    }
    seconds = {"assets": round(written - begun, 1), "micro_batches": round(time.monotonic() - written, 1)}
    return {"size": asdict(size), **counts, "seconds": seconds, "starts": asdict(starts)}


def draw_feeds(size: EstateSize) -> Ints:
    """Draw the edges between tables: a row (source, target) for each edge, ordered by target."""
    rng = np.random.default_rng([size.seed, 1])
    domains = max(1, round(size.datasets / _DATASETS_PER_DOMAIN))
    bounds = np.linspace(0, size.datasets, domains + 1).astype(np.int64)
    edges = np.concatenate([_domain(rng, int(low), int(high)) for low, high in itertools.pairwise(bounds)])
    return edges[np.lexsort((edges[:, 0], edges[:, 1]))]


def _domain(rng: np.random.Generator, low: int, high: int) -> Ints:
    """Draw edges among the tables from `low` (inclusive) to `high` (exclusive)."""
    size = high - low
    wanted = size * FEEDS_PER_DATASET
    gives = np.minimum(rng.pareto(_EXPONENT, size) + 0.1, _MOST_OF_ONE)
    attracts = np.minimum(rng.pareto(_EXPONENT, size) + 0.1, _MOST_OF_ONE)
    total = np.concatenate([[0.0], np.cumsum(attracts)])
    edges = np.empty((0, 2), dtype=np.int64)
    while len(edges) < wanted:
        sources = rng.choice(size, wanted, p=gives / gives.sum())
        ahead = np.minimum(sources + 1 + int(size * _REACH_FORWARD), size)
        drawn = total[sources + 1] + rng.random(wanted) * (total[ahead] - total[sources + 1])
        targets = np.minimum(np.searchsorted(total, drawn, side="right") - 1, size - 1)
        back = rng.random(wanted) < _BACKWARD
        pairs = np.stack([np.where(back, targets, sources), np.where(back, sources, targets)], axis=1)
        edges = np.unique(np.concatenate([edges, pairs[pairs[:, 0] != pairs[:, 1]]]), axis=0)
    return rng.permutation(edges)[:wanted] + low


def asset_events(size: EstateSize, edges: Ints) -> Iterator[LineageEvent]:
    """Events of all tables and of the jobs that write them: a description, a plan, and a run that has ended."""
    dice = random.Random(size.seed)  # noqa: S311  no secret
    columns = max(1, size.columns // size.datasets)
    inputs: dict[int, list[DatasetRef]] = defaultdict(list)
    for source, target in edges.tolist():
        inputs[target].append(table(source))
    for pipeline in range(size.pipelines):
        for number in range(_TABLES):
            inputs[dice.randrange(max(1, size.datasets // 100))].append(_pipeline_dataset(pipeline, _TOPICS + number))
    for number in range(size.datasets):
        yield described_table(number, columns=columns)
        if number in inputs:
            job = BatchJob(number, dice, inputs[number], [table(number)], columns=columns, failing=0.0)
            plan, _, end = (job.next() for _ in range(3))
            yield from (plan, end)


def pipeline_events(size: EstateSize, records: list[Offsets]) -> Iterator[LineageEvent]:
    """Events of the pipelines, each with up to `SIZE` micro-batches; records to trace are added to `records`."""
    dice = random.Random(size.seed + 1)  # noqa: S311  no secret
    wanted = [
        (dice.randrange(size.pipelines), dice.randrange(_LEFT_OUT, size.batches - _LEFT_OUT)) for _ in range(_STARTS)
    ]
    for pipeline in range(size.pipelines):
        writers: dict[int, StreamingQuery] = {}
        queries = []
        for number, (reads, writes) in enumerate(QUERIES):
            query = StreamingQuery(
                pipeline * len(QUERIES) + number,
                dice,
                reads=_pipeline_dataset(pipeline, reads),
                writes=_pipeline_dataset(pipeline, writes),
                upstream=writers.get(reads),
                partitions=_PARTITIONS[pipeline % len(_PARTITIONS)],
                to_table=writes >= _TOPICS,
            )
            writers[writes] = query
            queries.append(query)
        for first in range(0, size.batches, SIZE):
            events = [query.next(min(SIZE, size.batches - first)) for query in queries]
            body = events[0].interval_event
            assert body is not None  # noqa: S101  for the type checker
            places = [batch - first for one, batch in wanted if one == pipeline]
            records += [record_read(body, place, dice) for place in places if 0 <= place < len(body.entries)]
            yield from events


def record_read(body: IntervalEvent, place: int, dice: random.Random) -> Offsets:
    """Draw a record that a micro-batch read from Kafka."""
    [use] = body.entries[place].inputs
    assert use.position is not None and use.position.kafka is not None  # noqa: S101, PT018  for the type checker
    part = dice.choice(use.position.kafka.ranges)
    offset = dice.randrange(part.from_, part.to_exclusive)
    return Offsets(_key(use.dataset), part.partition, offset, offset + 1)


def _pipeline_dataset(pipeline: int, number: int) -> DatasetRef:
    if number < _TOPICS:
        return DatasetRef("kafka://estate", f"line-{pipeline:03}.step-{number}")
    return DatasetRef("s3://workload", f"lines/line-{pipeline:03}-table-{number}")


def draw_starts(size: EstateSize, edges: Ints, records: list[Offsets]) -> tuple[QuestionStarts, list[LineageEvent]]:
    """Draw the starting points of questions, by seed, and make the events that open the incidents among them."""
    feeding = np.random.default_rng([size.seed, 5]).permutation(np.unique(edges[:, 0])).tolist()
    feeds: dict[int, list[int]] = defaultdict(list)
    for source, target in edges.tolist():
        feeds[source].append(target)
    reached = {start: _reached(feeds, start) for start in feeding[:_TRIED]}
    least = max(reached.values()) * _NEAR_MOST
    far = [start for start, count in reached.items() if count >= least]
    far_keys, any_keys = ([_key(table(start)) for start in starts[:_STARTS]] for starts in (far, feeding[::-1]))
    topics = {_key(topic): topic for topic in (_pipeline_dataset(each, 0) for each in range(size.pipelines))}
    bad_records = [
        IncidentScope(
            dataset=topics[record.topic],
            offsets=(OffsetRange(partition=record.partition or 0, from_=record.start, to_exclusive=record.end),),
        )
        for record in records[:_INCIDENTS]
    ]
    bad_tables = [IncidentScope(dataset=table(start)) for start in far[:_INCIDENTS]]
    opened = [_opened(f"record-{number}", part) for number, part in enumerate(bad_records)]
    opened_wide = [_opened(f"table-{number}", part) for number, part in enumerate(bad_tables)]
    starts = QuestionStarts(
        far_keys, any_keys, records, *([name for name, _ in each] for each in (opened, opened_wide))
    )
    return starts, [event for _, event in (*opened, *opened_wide)]


def _opened(incident: str, part: IncidentScope) -> tuple[str, LineageEvent]:
    """Id of an incident, and the event that opens it."""
    body = IncidentEvent(
        incident=incident,
        action=IncidentAction.OPENED,
        by="workload",
        title="Bad data",
        type=IncidentType.BAD_RECORDS,
        scope=(part,),
    )
    return incident, lineage_event(body, producer=PRODUCER, event_time=EPOCH)


def _reached(feeds: dict[int, list[int]], start: int) -> int:
    """Number of tables reachable from a table, without the table itself."""
    seen, frontier = {start}, [start]
    while frontier:
        frontier = list({target for node in frontier for target in feeds[node]} - seen)
        seen.update(frontier)
    return len(seen) - 1


def _key(dataset: DatasetRef) -> str:
    return dataset_key(_TENANT, dataset.namespace, dataset.name)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock a store: a second benchmark with the same store waits."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
