"""Random events that make dense lineage: a few jobs whose plans change, over a few datasets with a few columns.

Names are as awkward as names may be: backquotes, quotes, slashes, line ends, other scripts, 10 KB.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Tag,
    TransformationKind,
    TransformationType,
    build,
)
from headwater_schemas.identity import plan_digest
from support.analysis.naive_lineage import NaiveGraph
from support.graph.colliding import PRODUCER, START
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver

SECONDS = 30
LONG = "long " + "x" * 10_240
DATASETS = tuple(
    DatasetRef(namespace, name)
    for namespace, name in (
        ("kafka://b:9092", "orders"),
        ("kafka://b:9092", "or`ders` '\"\\ $nodes"),
        ("file", "/data/отчёт/日報"),
        ("s3://bucket", "a/b/c/"),
        ("warehouse", LONG),
        ("ware/house", "line\nend\t{name}"),
        ("", "no namespace"),
    )
)
FIELDS = ("id", "address.`str eet`", "größe", f"c{LONG}")
JOBS = tuple(JobRef("flights", name) for name in ("load", "clean `it`", "répartir", f"job {LONG}"))


def dense_events(random: random.Random) -> list[LineageEvent]:
    """About a hundred events."""
    events = [*_datasets(random)]
    for number, job in enumerate(JOBS):
        plans = [_lineage(random) for _ in range(3)]
        for plan in plans:
            events.append(build.lineage_event(plan, job=job, producer=PRODUCER, event_time=_time(random)))
            events += _runs(random, job, number, plan)
    declared = JobEvent(lineage=_lineage(random))
    events.append(build.lineage_event(declared, job=JOBS[0], producer=PRODUCER, event_time=_time(random)))
    random.shuffle(events)
    return events


def _time(random: random.Random) -> datetime:
    return START + timedelta(seconds=random.randrange(SECONDS))


def _datasets(random: random.Random) -> Iterator[LineageEvent]:
    for dataset in DATASETS[:5]:
        for _ in range(2):
            fields = random.sample(FIELDS, random.randint(1, len(FIELDS)))
            tags = [Tag(key="pii"), Tag(key="pii", value="email"), Tag(key="gold", source="ui", field="id")]
            body = DatasetEvent(
                dataset=dataset,
                type=random.choice(["TABLE", "TOPIC"]),
                schema=SchemaDefinition(tuple(SchemaField(path=path) for path in fields)),
                tags=tuple(random.sample(tags, random.randint(0, 3))),
            )
            yield build.lineage_event(body, producer=PRODUCER, event_time=_time(random))


def _runs(random: random.Random, job: JobRef, number: int, plan: ColumnLineage) -> Iterator[LineageEvent]:
    inputs = sorted({plan.datasets[edge.input] for edge in plan.edges if edge.input is not None})
    outputs = sorted({plan.datasets[edge.output] for edge in plan.edges})
    for _ in range(random.randrange(3)):
        run = RunRef(f"0197c1de-0000-7bd1-9d55-{number:04}{random.randrange(10**8):08}")
        for kind in (RunEventType.START, RunEventType.COMPLETE):
            body = RunEvent(
                type=kind,
                inputs=tuple(DatasetUse(dataset=each) for each in inputs),
                outputs=tuple(DatasetUse(dataset=each) for each in outputs),
                plan_digest=plan_digest(plan),
            )
            yield build.lineage_event(body, job=job, run=run, producer=PRODUCER, event_time=_time(random))


def _lineage(random: random.Random) -> ColumnLineage:
    datasets = tuple(sorted(random.sample(DATASETS, 4)))
    edges = []
    for _ in range(8):
        source = None if random.random() < 0.08 else random.randrange(len(datasets))
        edges.append(
            ColumnEdge(
                output=random.randrange(len(datasets)),
                output_field=None if random.random() < 0.15 else random.choice(FIELDS),
                input=source,
                input_field=None if source is None or random.random() < 0.1 else random.choice(FIELDS),
                type=random.choices(list(TransformationType), weights=(1, 12, 5))[0],
                kind=random.choice(list(TransformationKind)),
                masking=random.random() < 0.5,
            )
        )
    return ColumnLineage(datasets=datasets, edges=tuple(edges), complete=random.random() < 0.8)


def hold_dense(driver: Driver, seed: int) -> NaiveGraph:
    """Have the graph of a seed's events in the database, to be read; the same by definition."""
    events = dense_events(random.Random(seed))
    hold(driver, f"dense events {seed}", events)
    return NaiveGraph.of(oracle(fold(events)), "default")
