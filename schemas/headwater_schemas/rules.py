"""Rules of an event beyond the types of its fields; checked on writing and on reading.

Types, ranges of numbers, time zones and names that mustn't be empty are in the event types themselves and are checked
there by msgspec. These rules relate fields to each other. They cost about a microsecond an event: nothing is hashed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from headwater_schemas.events import (
    ColumnLineage,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    IntervalEvent,
    LineageEvent,
    RetentionEvent,
    RetentionMode,
)
from headwater_schemas.incident_rules import broken_rule

_DIGEST = re.compile("[0-9a-f]{32}")
# Body of each kind. A kind that isn't here belongs to a newer version.
BODY_OF_KIND = {
    "RUN": "run_event",
    "INTERVAL": "interval_event",
    "PLAN": "plan_event",
    "DATASET": "dataset_event",
    "JOB": "job_event",
    "RETENTION": "retention_event",
    "DECLARATION": "declaration_event",
    "DECLARATION_SET": "declaration_set_event",
    "INCIDENT": "incident_event",
}
_BODIES = tuple(BODY_OF_KIND.values())
_KINDS_WITHOUT_JOB = frozenset({"RETENTION", "DECLARATION", "DECLARATION_SET", "INCIDENT"})
_OF_ONE_SUBJECT = {
    "dataset": ("keep_days", "reference", "columns", "marks"),
    "job": ("inputs", "outputs", "lineage", "partitions"),
    "consumer": ("type", "reads"),
}
"""Fields of a declaration that only one kind of subject has."""


class Violation(NamedTuple):
    """Broken rule: path and description of the fault, without any of the event's values."""

    field: str
    message: str


def first_violation(event: LineageEvent) -> Violation | None:
    """Return the first rule that `event` (of a known kind) breaks; None for a valid event."""
    body = BODY_OF_KIND[event.kind]
    present = [name for name in _BODIES if getattr(event, name) is not None]
    if present != [body]:
        return _body_violation(body, present)
    if event.kind in _KINDS_WITHOUT_JOB:
        return _without_job(event)
    if event.job is None and event.dataset_event is None:
        return Violation("job", f"an event of kind {event.kind} needs its job")
    if event.run_event is not None:
        if event.run is None:
            return Violation("run", "an event of kind RUN needs its run")
        run = event.run_event
        return _uses("run_event.inputs", run.inputs) or _uses("run_event.outputs", run.outputs)
    if event.interval_event is not None:
        return _interval(event.interval_event)
    if event.plan_event is not None:
        return _lineage("plan_event.lineage", event.plan_event.lineage)
    if event.job_event is not None and event.job_event.lineage is not None:
        return _lineage("job_event.lineage", event.job_event.lineage)
    return None


def _without_job(event: LineageEvent) -> Violation | None:
    if event.retention_event is not None:
        return _retention(event.retention_event)
    if event.declaration_event is not None:
        return _declaration(event.declaration_event)
    if event.declaration_set_event is not None:
        return _declaration_set(event.declaration_set_event)
    assert event.incident_event is not None  # noqa: S101 - checked before; for the type checker
    if (broken := broken_rule(event.incident_event)) is not None:
        return Violation(*broken)
    return None


def _body_violation(wanted: str, present: list[str]) -> Violation:
    if not present:
        return Violation(wanted, "the body that `kind` names is missing")
    if wanted not in present:
        return Violation("kind", f"needs the body {wanted}, but the body is {present[0]}")
    other = next(name for name in present if name != wanted)
    return Violation(other, f"a second body, besides {wanted}")


def _interval(interval: IntervalEvent) -> Violation | None:
    if not interval.entries:
        return Violation("interval_event.entries", "an interval has at least one micro-batch")
    expected = interval.entries[0].batch_id
    for index, entry in enumerate(interval.entries):
        if entry.batch_id != expected:
            return Violation(f"interval_event.entries[{index}].batch_id", "batch ids must be consecutive and ascending")
        expected += 1
        # Paths are only put together for the rare violation.
        if found := _uses("inputs", entry.inputs) or _uses("outputs", entry.outputs):
            return Violation(f"interval_event.entries[{index}].{found.field}", found.message)
    return None


def _retention(retention: RetentionEvent) -> Violation | None:
    if retention.mode is RetentionMode.UNKNOWN:
        return Violation("retention_event.mode", "not a mode that this version knows")
    if retention.job is not None and retention.namespace is None:
        return Violation("retention_event.namespace", "a job needs its namespace")
    return None


def _declaration(declaration: DeclarationEvent) -> Violation | None:
    subjects = [name for name in _OF_ONE_SUBJECT if getattr(declaration, name) is not None]
    if len(subjects) != 1:
        return Violation("declaration_event", "declares exactly one of dataset, job and consumer")
    for subject, fields in _OF_ONE_SUBJECT.items():
        for field in fields:
            if subject not in subjects and getattr(declaration, field) is not None:
                return Violation(f"declaration_event.{field}", f"only a {subject} has it")
    paths = [column.path for column in declaration.columns or ()]
    if len(set(paths)) < len(paths):
        return Violation("declaration_event.columns", "a path occurs twice")
    return None if declaration.lineage is None else _lineage("declaration_event.lineage", declaration.lineage)


def _declaration_set(revision: DeclarationSetEvent) -> Violation | None:
    if revision.revision == 0:
        return Violation("declaration_set_event.revision", "revisions begin with 1")
    before = ""
    for index, item in enumerate(revision.items):
        if not _DIGEST.fullmatch(item):
            return Violation(f"declaration_set_event.items[{index}]", "not the digest of a declaration")
        if item <= before:
            return Violation(f"declaration_set_event.items[{index}]", "digests must be ascending, each once")
        before = item
    return None


def _uses(path: str, uses: Iterable[DatasetUse]) -> Violation | None:
    for index, use in enumerate(uses):
        position = use.position
        if position is None:
            continue
        if (ranges := position.kafka) is not None:
            last = -1
            for number, part in enumerate(ranges.ranges):
                if part.partition <= last:
                    where = f"{path}[{index}].position.kafka.ranges[{number}].partition"
                    return Violation(where, "partitions must be in ascending order, each once")
                if part.to_exclusive < part.from_:
                    where = f"{path}[{index}].position.kafka.ranges[{number}].to_exclusive"
                    return Violation(where, "the range ends before it begins")
                last = part.partition
        count = (
            (ranges is not None)
            + (position.table_snapshot is not None)
            + (position.table_range is not None)
            + (position.files is not None)
            + (position.cdc is not None)
            + (position.api_cursor is not None)
            + (position.time_range is not None)
            + (position.opaque is not None)
        )
        # A position without any field is valid: a newer version has written a field that this version doesn't know.
        if count > 1:
            return Violation(f"{path}[{index}].position", "a position can have only one of its fields")
    return None


def _lineage(path: str, lineage: ColumnLineage) -> Violation | None:
    size = len(lineage.datasets)
    for index, edge in enumerate(lineage.edges):
        if edge.output >= size:
            return Violation(f"{path}.edges[{index}].output", "points behind the last dataset")
        if edge.input is not None and edge.input >= size:
            return Violation(f"{path}.edges[{index}].input", "points behind the last dataset")
    return None
