"""Events on a terminal and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table

from headwater_consumers.kafka.records import FetchedRecord
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import DatasetUse, IntervalEvent, LineageEvent
from headwater_schemas.ranges import batches_text
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType


def document(read: Sequence[tuple[FetchedRecord, LineageEvent | DecodeError]]) -> dict[str, Any]:
    """`events --json`: each with its place on the topic, and the event, or why there is none."""
    return {
        "events": [
            {
                "at": f"{record.partition.number}@{record.offset}",
                "event": None if isinstance(event, DecodeError) else msgspec.to_builtins(event),
                "problem": str(event) if isinstance(event, DecodeError) else None,
            }
            for record, event in read
        ]
    }


def table(read: Sequence[tuple[FetchedRecord, LineageEvent | DecodeError]]) -> RenderableType:
    """A row for each, the newest last."""
    if not read:
        return "No events."
    rows = Table(box=None, pad_edge=False)
    for heading in ("time", "kind", "job", "what", "at"):
        rows.add_column(heading, overflow="fold")
    for record, event in read:
        at = f"{record.partition.number}@{record.offset}"
        if isinstance(event, DecodeError):
            rows.add_row("—", "—", "—", visible(str(event)), at)
        else:
            job = visible(event.job.name) if event.job is not None else "—"
            rows.add_row(f"{event.event_time:%Y-%m-%d %H:%M:%S}", visible(event.kind), job, visible(_what(event)), at)
    return rows


def _what(event: LineageEvent) -> str:
    if (run := event.run_event) is not None:
        error = f": {run.error.message.splitlines()[0]}" if run.error is not None and run.error.message else ""
        return f"{run.type}{error}{_uses(run.inputs, run.outputs)}"
    if (interval := event.interval_event) is not None:
        return _batches(interval)
    if (plan := event.plan_event) is not None:
        lineage = plan.lineage
        return f"{len(lineage.edges)} edges" + (
            "" if lineage.complete else f", incomplete: {lineage.incomplete_reason}"
        )
    if (dataset := event.dataset_event) is not None:
        fields = f", {len(dataset.schema.fields)} fields" if dataset.schema is not None else ""
        return " ".join(filter(None, (dataset.lifecycle, dataset.dataset.name))) + fields
    return ""


def _batches(interval: IntervalEvent) -> str:
    first, last = interval.entries[0], interval.entries[-1]
    return f"{batches_text(first.batch_id, last.batch_id)}, {interval.provenance}{_uses(last.inputs, last.outputs)}"


def _uses(inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse]) -> str:
    read, written = (", ".join(use.dataset.name for use in uses) for uses in (inputs, outputs))
    return f"  {read or '—'} → {written or '—'}" if read or written else ""
