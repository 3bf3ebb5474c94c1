"""What is declared of the estate: of a tenth of its datasets and jobs, and a consumer for each hundred datasets."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.declared import set_state
from headwater_consumers.analysis.reader import Reader
from headwater_consumers.cypher import load
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.write import GraphWriter
from headwater_consumers.materializer.write.writer import prepare_delta
from headwater_schemas.events import (
    ConsumerType,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    JobRef,
    LineageEvent,
    Owner,
    Sensitivity,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import declaration_digest

if TYPE_CHECKING:
    from neo4j import Driver

SET = "bench"
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_EVERY = 10
_DATASETS_PER_CONSUMER = 100
_IN_A_BATCH = 500
"""Events of one transaction, as many as the materializer's default."""


@dataclass(frozen=True, slots=True)
class Declaring:
    """What writing the declarations took.

    Attributes:
        declarations: how many there are.
        fold_seconds: of Python, from events to rows.
        write_seconds: of the driver and Neo4j.
    """

    declarations: int
    fold_seconds: float
    write_seconds: float


def declare(driver: Driver, reader: Reader) -> Declaring | None:
    """Write them; None where the store has them already."""
    if set_state(reader, SET).revision:
        return None
    bodies = [*_datasets(_rows(driver, "datasets")), *_jobs(_rows(driver, "jobs"))]
    items = tuple(sorted(map(declaration_digest, bodies)))
    listed = DeclarationSetEvent(set=SET, revision=1, items=items)
    writer = GraphWriter(driver, "neo4j")
    folded = written = 0.0
    events = [*map(_event, bodies), _event(listed)]
    for first in range(0, len(events), _IN_A_BATCH):
        began = time.monotonic()
        prepared = prepare_delta(fold(events[first : first + _IN_A_BATCH]))
        between = time.monotonic()
        writer.apply(prepared)
        folded, written = folded + between - began, written + time.monotonic() - between
    return Declaring(len(bodies), folded, written)


def _datasets(rows: Sequence[Any]) -> Iterator[DeclarationEvent]:
    """A third without owner, a tenth certified, a fifth with a column that is PII; one consumer in 20 without owner."""
    for number, row in enumerate(rows[::_EVERY]):
        columns = row["columns"] or ()
        yield DeclarationEvent(
            set=SET,
            dataset=DatasetRef(row["namespace"], row["name"]),
            owners=(Owner(f"team:{number % 40}", "OWNER"),) if number % 3 else None,
            certified=True if number % 10 == 0 else None,
            freshness_seconds=86_400 if number % 2 else None,
            columns=(DeclaredColumn(path=columns[0], sensitivity=Sensitivity.PII),)
            if columns and number % 5 == 0
            else None,
        )
    for number, first in enumerate(range(0, len(rows), _DATASETS_PER_CONSUMER)):
        yield DeclarationEvent(
            set=SET,
            consumer=f"board {number}",
            type=ConsumerType.DASHBOARD,
            owners=(Owner(f"team:{number % 40}", "OWNER"),) if number % 20 else None,
            reads=tuple(DatasetRead(DatasetRef(row["namespace"], row["name"])) for row in rows[first : first + 3]),
        )


def _jobs(rows: Sequence[Any]) -> Iterator[DeclarationEvent]:
    """Each declares one of its inputs."""
    for row in rows[::_EVERY]:
        yield DeclarationEvent(
            set=SET,
            job=JobRef(row["namespace"], row["name"]),
            inputs=(DatasetRef(row["input_namespace"], row["input_name"]),),
        )


def _event(body: DeclarationEvent | DeclarationSetEvent) -> LineageEvent:
    return lineage_event(body, producer="bench", event_time=_AT)


def _rows(driver: Driver, name: str) -> list[Any]:
    with driver.session(default_access_mode="READ") as session:
        return list(session.run(load("headwater_benchmarks.checks", name)))
