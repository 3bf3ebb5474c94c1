"""Segments of micro-batches with which offsets they read and wrote, and the versions of tables that they made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from headwater_benchmarks.estate import batches
from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.lines import Query, partitions
from headwater_benchmarks.estate.names import JOBS_NAMESPACE, TENANT, Dataset, query_id
from headwater_benchmarks.estate.segments import Columns, Ints, Made, Template, Values
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.times import BEGIN
from headwater_consumers.facts.model import RelType
from headwater_consumers.graph.keys import use_key, version_key
from headwater_consumers.graph.segments.lists import COLUMNS, TAIL
from headwater_consumers.graph.segments.segment import BLOCKS, SIZE, block_property
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    EmissionReason,
    EngineRef,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunRef,
    TableSnapshot,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import micros

_SECONDS = 60
"""From one micro-batch to the next."""
_TABLE_ROWS = 1_000
_FORMAT, _OPERATION = "iceberg", "append"
_DURATION_MS = 900

_PARTS = (*map(str, range(BLOCKS)), TAIL)
NODE = {
    **dict.fromkeys(("key", "name", "tenant", "query", "query_id"), ""),
    **dict.fromkeys(("start", "batches", "first_batch", "last_batch", "timed"), ":long"),
    **dict.fromkeys(("first_time", "last_time"), ":datetime"),
    "_open": ":long",
    **dict.fromkeys(("_head", "_tail", "_last", *map(block_property, range(BLOCKS))), ":byte[]"),
    **dict.fromkeys((f"{name}_{part}" for name in COLUMNS for part in _PARTS), ":long[]"),
}
"""Properties of a segment whose micro-batches follow on one another without a fault, with their types."""
USE = {
    "key": "",
    "batches": ":long",
    "positions": ":string[]",
    **dict.fromkeys(("partitions", "from", "to_exclusive"), ":long[]"),
    **dict.fromkeys((f"{name}_{part}" for name in ("from", "ends") for part in _PARTS), ":long[]"),
}
"""Properties of CONSUMED and PRODUCED of segments that have no paths, with their types."""
_SIGNED = [str(byte if byte < 128 else byte - 256) for byte in range(256)]


class SegmentSheets:
    """Sheets `Segment`, and what leaves segments but for versions.

    Args:
        sheets: those of the import.
    """

    def __init__(self, sheets: Sheets) -> None:
        self._nodes = sheets.node("Segment", *(f"{name}{type_}" for name, type_ in NODE.items()))
        self._in_query = sheets.relationship("IN_QUERY")
        self._in_run = sheets.relationship("IN_RUN", "batches:long")
        self._next = sheets.relationship("NEXT")
        uses = [f"{name}{type_}" for name, type_ in USE.items()]
        self._uses = {type_: sheets.relationship(type_.value, *uses) for type_ in (RelType.CONSUMED, RelType.PRODUCED)}

    def add(self, made: Made, node: int, *, query: int, run: int, datasets: Mapping[str, int]) -> None:
        """One segment; the one before it in its query has the id before.

        Args:
            made: the segment.
            node: its id.
            query: id of its query.
            run: id of the run that all of it is of.
            datasets: ids of what it used, by key.
        """
        place, summary = made.place, made.summary
        self._nodes.add(node, *_cells(NODE, made.properties))
        self._in_query.add(node, query)
        for count in summary.runs.values():
            self._in_run.add(node, run, count)
        if place.number:
            self._next.add(node - 1, node)
        for use, range_ in summary.ranges.items():
            key = use_key(place.tenant, use.type, place.key, use.dataset, use.ordinal)
            properties = {"key": key, **range_.properties()}
            self._uses[use.type].add(node, datasets[use.dataset], *_cells(USE, properties))


def _cells(types: Mapping[str, str], properties: Mapping[str, Any]) -> list[str]:
    there = {name: value for name, value in properties.items() if value is not None}
    if unknown := there.keys() - types.keys():
        raise ValueError(f"the import has no column for {sorted(unknown)}")
    return [_cell(there.get(name)) for name in types]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return LIST.join([_SIGNED[byte] for byte in value])
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return LIST.join(map(str, value))
    return str(value)


class write_segments:  # noqa: N801  a step, as the others are
    """Sheets `Segment` and `Version`, and what leaves them."""

    def __init__(self, estate: Estate, sheets: Sheets) -> None:
        self._estate = estate
        self._segments = SegmentSheets(sheets)
        self._versions = sheets.node(
            "Version", "key", "name", "tenant", "dataset", "format", "version", "parent_id", "operation"
        )
        self._of = sheets.relationship("OF", of="-version")
        self._wrote = sheets.relationship("WROTE", "batches:long[]", "first_time:datetime")
        for query in estate.lines.queries:
            self._query(query)

    def _query(self, query: Query) -> None:
        estate = self._estate
        datasets = {estate.datasets[at].key: at for at in (query.reads, query.writes)}
        columns = columns_of(estate, query)
        first = estate.first_segment + query.number * estate.segments_per_query

        def some(begin: int, end: int) -> Columns:
            return Columns(
                {name: numbers[begin:end] for name, numbers in columns.numbers.items()},
                {name: texts[begin:end] for name, texts in columns.texts.items()},
            )

        for made in Template(partial(event_of, estate, query)).segments(some, estate.lines.batches):
            self._segments.add(
                made,
                first + made.place.number,
                query=estate.first_query + query.number,
                run=estate.first_run + query.number,
                datasets=datasets,
            )
        if query.to_table:
            self._table(query, first, columns.numbers["time"])

    def _table(self, query: Query, first: int, times: Ints) -> None:
        dataset = self._estate.datasets[query.writes]
        texts = _snapshots(query, len(times))
        for batch, (version, parent) in enumerate(zip(texts[1:], texts, strict=False)):
            node = self._estate.first_version + self._versions.rows
            self._versions.add(
                node, version_key(TENANT, dataset.key, _FORMAT, version), version, TENANT, dataset.key, _FORMAT,
                version, parent, _OPERATION,
            )  # fmt: skip
            self._of.add(node, query.writes)
            time = np.datetime64(int(times[batch]), "us")
            self._wrote.add(first + batch // SIZE, node, batch, f"{time}Z")


def event_of(estate: Estate, query: Query, values: Values, batch_id: int) -> LineageEvent:
    """The event of one micro-batch with these values; `columns_of` has those of all."""
    job = estate.jobs[query.number]
    read, wrote = estate.datasets[query.reads], estate.datasets[query.writes]
    time = values.time("time")
    entry = IntervalEntry(
        batch_id=batch_id,
        processing_time=time,
        watermark_after=time,
        duration_ms=_DURATION_MS,
        rows_in=values.number("rows"),
        rows_out=values.number("rows"),
        plan_digest=job.digest,
        inputs=(_kafka(values, "read", read, query.reads),),
        outputs=(_snapshot(values, wrote) if query.to_table else _kafka(values, "written", wrote, query.writes),),
    )
    body = IntervalEvent(
        query_id=query_id(query.number),
        entries=(entry,),
        query_name=job.name,
        versions=Versions(code="v1", engine=EngineRef("spark", "4.0.0")),
        reason=EmissionReason.CHECKPOINT,
        provenance=Provenance.OBSERVED,
    )
    return lineage_event(
        body, job=JobRef(JOBS_NAMESPACE, job.name), run=RunRef(job.run_id), producer="estate", event_time=time
    )


def _kafka(values: Values, name: str, dataset: Dataset, topic: int) -> DatasetUse:
    ranges = tuple(
        OffsetRange(
            partition=partition,
            from_=values.number(f"{name} from", partition),
            to_exclusive=values.number(f"{name} to", partition),
        )
        for partition in range(partitions(topic))
    )
    position = Position(kafka=KafkaRanges(topic=dataset.name, ranges=ranges))
    ref = DatasetRef(dataset.namespace, dataset.name)
    return DatasetUse(dataset=ref, position=position, certainty=Certainty.EXACT, rows=values.number(f"{name} rows"))


def _snapshot(values: Values, dataset: Dataset) -> DatasetUse:
    snapshot = TableSnapshot(
        format=_FORMAT, snapshot_id=values.text("snapshot"), parent_id=values.text("parent"), operation=_OPERATION
    )
    ref = DatasetRef(dataset.namespace, dataset.name)
    return DatasetUse(
        dataset=ref, position=Position(table_snapshot=snapshot), certainty=Certainty.EXACT, rows=_TABLE_ROWS
    )


def columns_of(estate: Estate, query: Query) -> Columns:
    """All micro-batches of a query."""
    count = estate.lines.batches
    reads = batches.read(estate.sizes, estate.lines, query)
    rows = (reads[1:] - reads[:-1]).sum(axis=1)
    time = micros(BEGIN) + np.arange(count, dtype=np.int64) * (_SECONDS * 1_000_000)
    numbers: dict[str, Ints] = {
        "time": time,
        "rows": rows,
        "read from": reads[:-1],
        "read to": reads[1:],
        "read rows": rows,
    }
    if query.to_table:
        snapshots = _snapshots(query, count)
        return Columns(numbers, {"snapshot": snapshots[1:], "parent": snapshots[:-1]})
    wrote = batches.written(estate.sizes, estate.lines, query.writes)
    numbers |= {
        "written from": wrote[:-1],
        "written to": wrote[1:],
        "written rows": (wrote[1:] - wrote[:-1]).sum(axis=1),
    }
    return Columns(numbers)


def _snapshots(query: Query, count: int) -> list[str]:
    """Ids of the snapshot before the first micro-batch, and of that which each made."""
    return [str(query.number * 1_000_000 + batch) for batch in range(count + 1)]
