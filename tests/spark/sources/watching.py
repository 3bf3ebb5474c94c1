"""What capture says of a few statements, as lines of text.

read dt version 1 rows=2
wrote ice/db/t append of a snapshot partitions=id=1 rows=2 files=1 +bytes
FAIL, read …
dataset dt4 RENAME of dt3
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from headwater_producers.spark import Capture
from headwater_schemas.events import RunEventType
from spark.plan.goldens import edge_lines
from support.capture import FLUSH_SECONDS, RecordingSink

if TYPE_CHECKING:
    from headwater_schemas.events import DatasetEvent, DatasetUse, LineageEvent, Position, RunEvent


@dataclass
class Watched:
    """A session that is being captured, and what was said of it so far."""

    spark: SparkSession
    sink: RecordingSink
    capture: Capture
    seen: int = 0
    prepared: set[str] = field(default_factory=set)

    def news(self) -> list[LineageEvent]:
        """What has been said since the last question."""
        assert self.capture.flush(FLUSH_SECONDS)
        status = self.capture.status()
        assert (status.failed, status.dropped, status.publish_failed) == (0, 0, 0), status.last_error
        events = self.sink.events
        news, self.seen = events[self.seen :], len(events)
        return news


def run_lines(events: list[LineageEvent]) -> list[str]:
    """Of each run's end: what it read and wrote. Of each change of a dataset by DDL: the change."""
    found: list[str] = []
    for event in events:
        if event.run_event is not None and event.run_event.type.is_terminal:
            found += _run(event.run_event)
        # Each write says again what becomes of its dataset; DDL is said by the application's own job.
        elif event.dataset_event is not None and event.job is not None and event.job.name == "job":
            found.append(_change(event.dataset_event))
    return found


def column_lines(events: list[LineageEvent]) -> list[str]:
    return [line for event in events if event.plan_event for line in edge_lines(event.plan_event.lineage)]


def _run(run: RunEvent) -> list[str]:
    lines = [f"read {_use(use)}" for use in run.inputs] + [f"wrote {_use(use)}" for use in run.outputs]
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
    return " ".join([short(use.dataset.name), *_position(use.position), *counts, *size])


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
    if position.kafka is not None:
        return [f"[{r.from_},{r.to_exclusive})" for r in position.kafka.ranges]
    return ["position"]


def _change(body: DatasetEvent) -> str:
    of = f" of {short(body.previous.name)}" if body.previous is not None else ""
    columns = f" ({', '.join(f.path for f in body.schema.fields)})" if body.schema is not None else ""
    return f"{body.lifecycle} {short(body.dataset.name)}{of}{columns}"


def short(name: str) -> str:
    """Without the folder of the test run."""
    return name.rstrip("/").rsplit("/", 1)[-1]
