"""Report of capture about a few statements, as lines of text.

read dt version 1 rows=2
wrote ice/db/t append of a snapshot partitions=id=1 rows=2 files=1 +bytes
FAIL, read …
dataset dt4 RENAME of dt3
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater_producers.spark import Capture
from headwater_schemas.events import DatasetEvent, DatasetUse, LineageEvent, Position, RunEvent, RunEventType
from headwater_schemas.ranges import range_text
from spark.plan.goldens import edge_lines
from spark.sources.cases import Case, Family
from support.capture import FLUSH_SECONDS, RecordingSink
from support.spark_versions import where_spark_can


@dataclass
class Watched:
    """A session that is being captured, and what was emitted of it so far."""

    spark: SparkSession
    sink: RecordingSink
    capture: Capture
    seen: int = 0
    prepared: dict[str, bool] = field(default_factory=dict)

    def new_events(self) -> list[LineageEvent]:
        """Events that have been emitted since the last question."""
        assert self.capture.flush(FLUSH_SECONDS)
        status = self.capture.status()
        assert (status.failed, status.dropped, status.publish_failed) == (0, 0, 0), status.last_error
        events = self.sink.events
        new_events, self.seen = events[self.seen :], len(events)
        return new_events


def run_lines(events: list[LineageEvent]) -> list[str]:
    """Lines for each run's end (its reads and writes) and for each change of a dataset by DDL."""
    found: list[str] = []
    # A table that a query makes is known as such when its rows were emitted: their end is emitted again, and holds.
    last = {e.run.run_id: e for e in events if e.run and e.run_event and e.run_event.type.is_terminal}
    for event in events:
        if event.job is not None and event.job.name == "job.collect":
            continue  # what functions may use: of what earlier cases read as well
        if event.run_event is not None and event.run_event.type.is_terminal:
            found += _run(event.run_event) if event in last.values() else []
        # Each write emits again what becomes of its dataset; DDL is emitted by the application's own job.
        elif event.dataset_event is not None and event.job is not None and event.job.name == "job":
            found.append(_change(event.dataset_event))
    return found


def emitted(watched: Watched, folder: Path, family: Family, case: Case) -> list[str]:
    """Emitted lines of one case; the first of a family prepares it."""
    if family.name not in watched.prepared:
        watched.prepared[family.name] = False
        with where_spark_can():
            family.setup(watched.spark, folder)
        watched.new_events()
        watched.prepared[family.name] = True
    elif not watched.prepared[family.name]:
        pytest.skip(f"{family.name} couldn't be prepared")
    with where_spark_can():
        try:
            case.run(watched.spark, folder)
        except Exception:
            # What was emitted of it is no concern of the next.
            watched.new_events()
            raise
    new_events = watched.new_events()
    return [*run_lines(new_events), *(column_lines(new_events) if family.columns or case.columns else [])]


def column_lines(events: list[LineageEvent]) -> list[str]:
    return [line for event in events if event.plan_event for line in edge_lines(event.plan_event.lineage)]


def _run(run: RunEvent) -> list[str]:
    # What the rows of a view may be made of is all that earlier cases read.
    views = [use for use in run.inputs if use.dataset.namespace.startswith("memory://")]
    lines = [f"read {_use(use)}" for use in views or run.inputs] + [f"wrote {_use(use)}" for use in run.outputs]
    if "headwater_unknownOutputs" in run.run_facets:
        lines.append("wrote UNKNOWN")
    if "headwater_rdd" in run.run_facets:
        facet = json.loads(run.run_facets["headwater_rdd"])
        debug = " +toDebugString" if "RDD[" in facet.get("toDebugString", "") else ""
        lines.append(f"by {facet['action']}{debug}")
    failed = run.type is RunEventType.FAIL
    return [f"FAIL: {line}" if failed else line for line in lines]


def _use(use: DatasetUse) -> str:
    counts = [f"{name}={value}" for name, value in (("rows", use.rows), ("files", use.files)) if value is not None]
    size = ["+bytes"] if use.bytes is not None else []
    return " ".join([short(use.dataset.name), *_position(use.position), *_partitions(use), *counts, *size])


def _partitions(use: DatasetUse) -> list[str]:
    """`by day,city`, `by day,city:3` where it is known that three got rows, `over day=1` overwritten, `in day=1`."""
    found = []
    if (text := use.facets.get("headwater_partitions")) is not None:
        facet = json.loads(text)
        count = f":{facet['count']}" if "count" in facet else ""
        found += [f"by {','.join(facet['columns'])}{count}"] if facet["columns"] else []
        if "overwritten" in facet:
            found.append("over ?" if facet["overwritten"] is None else f"over {','.join(facet['overwritten'])}")
    if (text := use.facets.get("subset")) is not None:
        [condition] = json.loads(text).values()
        found.append(f"in {','.join(each['identifier'] for each in condition['partitions'])}")
    return found


def _position(position: Position | None) -> list[str]:
    if position is None:
        return []
    if position.table_snapshot is not None:
        snapshot = position.table_snapshot
        # Iceberg's ids are drawn by lot.
        number = snapshot.snapshot_id if snapshot.format == "delta" else "…"
        partitions = [f"partitions={','.join(snapshot.partitions)}"] if snapshot.partitions else []
        return [f"{snapshot.format}@{number}", *([snapshot.operation] if snapshot.operation else []), *partitions]
    if position.files is not None:
        return [f"files@{position.files.count}"]
    if position.table_range is not None:
        changes = position.table_range
        return [
            f"{changes.format} after {changes.from_} to {changes.to}" if changes.from_ else f"delta to {changes.to}"
        ]
    if position.kafka is not None:
        return [range_text(r.from_, r.to_exclusive) for r in position.kafka.ranges]
    return ["position"]


def _change(body: DatasetEvent) -> str:
    of = f" of {short(body.previous.name)}" if body.previous is not None else ""
    columns = f" ({', '.join(f.path for f in body.schema.fields)})" if body.schema is not None else ""
    return f"{body.lifecycle} {short(body.dataset.name)}{of}{_changed(body)}{columns}"


def _changed(body: DatasetEvent) -> str:
    """` DROP day=2024-01-01,city=Oslo`: which partitions."""
    if "headwater_partitions" not in body.facets:
        return ""
    facet = json.loads(body.facets["headwater_partitions"])
    each = [",".join(f"{name}={value}" for name, value in one.items()) for one in facet.get("partitions", ())]
    assert facet.get("count", 0) == len(each)
    of = (
        [f"of {','.join(f'{name}={value}' for name, value in facet['previous'].items())}"]
        if "previous" in facet
        else []
    )
    return " " + " ".join([facet["change"], *each, *of])


def short(name: str) -> str:
    """Without the folder of the test run."""
    return name.rstrip("/").rsplit("/", 1)[-1]
