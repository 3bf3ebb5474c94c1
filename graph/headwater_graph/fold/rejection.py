"""Rejection of well-formed events that can't become part of the graph. Each check names the field at fault.

- Rejected, because the fold has no place for the event: no job, no run, an id or digest that doesn't match the content,
  batches that aren't consecutive, a repeated partition, a range that ends before it begins, an edge to a dataset that
  the lineage doesn't list.
- Rejected, because Neo4j can't store the value: integers over 64 bits, lone surrogates, NaN and infinite numbers.
- Tolerated, because the graph only lacks something: an unknown kind of position, UNKNOWN for a newer symbol, an
  expression id without its text, times in any order, a run and job that don't match earlier events.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    EventKind,
    IncidentEvent,
    IncidentScope,
    IntervalEvent,
    JobEvent,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    PlanEvent,
    Position,
    ReachedPart,
    RetentionEvent,
    RetentionMode,
    RunEvent,
)
from headwater_schemas.identity import event_id, plan_digest
from headwater_schemas.lru_cache import IdentityCache
from headwater_schemas.rules import first_violation


class RejectionReason(StrEnum):
    """Reasons for rejecting an event, as dead letters name them."""

    INVALID_EVENT = "INVALID_EVENT"
    """The event breaks a rule of the contract: a required field is missing, or fields contradict each other."""

    UNSTORABLE_VALUE = "UNSTORABLE_VALUE"
    """The graph can't store a value: an integer over 64 bits, a lone surrogate, NaN or an infinite number."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Permanent reason why an event can't become part of the graph.

    Attributes:
        reason: member of the closed list.
        field: path of the field at fault, e.g. `interval_event.entries[2].batch_id`.
        detail: description of the fault; quotes only numbers of the payload.
    """

    reason: RejectionReason
    field: str
    detail: str

    @property
    def message(self) -> str:
        """Field and detail in one line."""
        return f"{self.field}: {self.detail}"


class Rejected(Exception):  # noqa: N818 - never leaves this package; it carries a verdict, not an error
    """Ends the checks of one event."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.message)
        self.rejection = rejection


def need(condition: object, field: str, detail: str) -> None:
    """Reject as INVALID_EVENT unless `condition` holds."""
    if not condition:
        raise invalid(field, detail)


def invalid(field: str, detail: str) -> Rejected:
    """Make the rejection of a value that the contract doesn't allow."""
    return Rejected(Rejection(RejectionReason.INVALID_EVENT, field, detail))


def unstorable(field: str, detail: str) -> Rejected:
    """Make the rejection of a value that the graph can't hold."""
    return Rejected(Rejection(RejectionReason.UNSTORABLE_VALUE, field, detail))


_INTEGERS = range(-(1 << 63), 1 << 63)
# Header 0xcf and first byte of an unsigned 64-bit integer over 2^63 - 1. Bytes of times may match by chance.
_LARGE = re.compile(rb"\xcf[\x80-\xff]")
_encoder = msgspec.msgpack.Encoder()


def check_storable(event: LineageEvent) -> None:
    """Reject an event with an integer over 64 bits or a lone surrogate, naming the first such field.

    MessagePack can't encode these values either, and encoding takes a hundredth of the time of a walk over all fields.
    So the walk is only for events that can't be encoded, or that contain an integer from 2^63 to 2^64.
    """
    try:
        encoded = _encoder.encode(event)
    except (UnicodeEncodeError, OverflowError):
        _walk("", msgspec.structs.asdict(event))
        raise
    if _LARGE.search(encoded):
        _walk("", msgspec.structs.asdict(event))


def check_finite(value: float | None, field: str) -> None:
    """Reject NaN and infinite numbers: JSON has neither, and a NaN doesn't even equal itself."""
    if value is not None and not math.isfinite(value):
        raise unstorable(field, "not a finite number")


def _walk(field: str, value: Any) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise unstorable(field, f"a lone surrogate at character {error.start}") from None
    elif isinstance(value, int) and value not in _INTEGERS:
        raise unstorable(field, "an integer over 64 bits")
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _walk(f"{field}.{name}", getattr(value, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            _walk(f"{field} (a name)", name)
            _walk(f"{field}.{name}" if field else name, item)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            _walk(f"{field}[{index}]", item)


def check_dataset(dataset: DatasetRef, field: str) -> None:
    """Check that a dataset has a name. The namespace may be empty: some catalogs have none."""
    need(dataset.name, f"{field}.name", "empty")


def check_uses(uses: Iterable[DatasetUse], field: str) -> None:
    """Check that each use names a dataset, and has at most one kind of position."""
    for index, use in enumerate(uses):
        if use.dataset.name and use.position is None and not use.inputs:
            continue  # most uses in run events; building their paths would take longer
        at = f"{field}[{index}]"
        check_dataset(use.dataset, f"{at}.dataset")
        for position, source in enumerate(use.inputs or ()):
            check_dataset(source, f"{at}.inputs[{position}]")
        if use.position is not None:
            _check_position(use.position, f"{at}.position")


def _check_position(position: Position, field: str) -> None:
    is_set = [name for name in position.__struct_fields__ if getattr(position, name) is not None]
    # A position without any of these kinds has a kind that a newer version added.
    need(len(is_set) <= 1, field, f"{len(is_set)} kinds of position at once")
    if position.kafka is not None:
        _check_ranges(position.kafka, f"{field}.kafka")
    elif (table := position.table_snapshot) is not None:
        need(table.snapshot_id, f"{field}.table_snapshot.snapshot_id", "empty")
    elif (files := position.files) is not None:
        need(files.count >= 0, f"{field}.files.count", "negative")
        need(files.manifest_digest != "", f"{field}.files.manifest_digest", "empty")
    elif (times := position.time_range) is not None:
        need(times.from_ <= times.to_exclusive, f"{field}.time_range", "ends before it begins")


def _check_ranges(kafka: KafkaRanges, field: str) -> None:
    seen: set[int] = set()
    for index, part in enumerate(kafka.ranges):
        # Nearly all partitions are valid, and there may be a thousand: messages are only built for faults.
        if not (0 <= part.partition not in seen and 0 <= part.from_ <= part.to_exclusive):
            _reject_range(part, seen, f"{field}.ranges[{index}]")
        seen.add(part.partition)


def _reject_range(part: OffsetRange, seen: set[int], at: str) -> None:
    need(part.partition >= 0, f"{at}.partition", "negative")
    need(part.partition not in seen, f"{at}.partition", f"{part.partition} occurs twice")
    need(part.from_ >= 0, f"{at}.from", "negative")
    need(part.from_ <= part.to_exclusive, at, f"ends at {part.to_exclusive}, before it begins at {part.from_}")


def _run(event: LineageEvent, body: RunEvent) -> None:
    need(event.job, "job", "missing")
    need(event.run, "run", "missing")
    for name, above in (("parent", body.parent), ("root", body.root)):
        if above is not None:
            need(above.run_id, f"run_event.{name}.run_id", "empty")
            need(above.job.name, f"run_event.{name}.job.name", "empty")
    need(body.query_id != "", "run_event.query_id", "empty")
    need(body.plan_digest != "", "run_event.plan_digest", "empty")
    check_uses(body.inputs, "run_event.inputs")
    check_uses(body.outputs, "run_event.outputs")
    for result in body.quality:
        check_finite(result.value, "run_event.quality.value")


def _interval(event: LineageEvent, body: IntervalEvent) -> None:
    need(event.job, "job", "missing")
    need(body.query_id, "interval_event.query_id", "empty")
    need(body.entries, "interval_event.entries", "empty")
    expected = body.entries[0].batch_id
    need(expected >= 0, "interval_event.entries[0].batch_id", "negative")
    for index, entry in enumerate(body.entries):
        at = f"interval_event.entries[{index}]"
        need(entry.batch_id == expected, f"{at}.batch_id", f"{entry.batch_id}, not {expected}: not consecutive")
        expected += 1
        need(entry.plan_digest != "", f"{at}.plan_digest", "empty")
        check_uses(entry.inputs, f"{at}.inputs")
        check_uses(entry.outputs, f"{at}.outputs")
        for result in entry.quality:
            check_finite(result.value, f"{at}.quality.value")


def _plan(event: LineageEvent, body: PlanEvent) -> None:
    need(event.job, "job", "missing")
    if _good_plans.get(body):
        return
    _check_lineage(body.lineage, "plan_event.lineage")
    need(body.digest == plan_digest(body.lineage), "plan_event.digest", "not the digest of this lineage")
    _good_plans.put(body, value=True, size=len(body.lineage.edges) + 1)


_good_plans: IdentityCache[bool] = IdentityCache(20_000)
"""Cache of checked plans by identity: a decoder returns one object for equal bytes. Sizes are numbers of edges."""


def _dataset(_: LineageEvent, body: DatasetEvent) -> None:
    check_dataset(body.dataset, "dataset_event.dataset")
    if body.previous is not None:
        check_dataset(body.previous, "dataset_event.previous")
    if body.schema is not None:
        paths = [field.path for field in body.schema.fields]
        need(len(set(paths)) == len(paths), "dataset_event.schema.fields", "a path occurs twice")


def _job(event: LineageEvent, body: JobEvent) -> None:
    need(event.job, "job", "missing")
    _check_datasets(body.inputs or (), "job_event.inputs")
    _check_datasets(body.outputs or (), "job_event.outputs")
    if body.lineage is not None:
        _check_lineage(body.lineage, "job_event.lineage")


def _retention(_: LineageEvent, body: RetentionEvent) -> None:
    need(body.mode is not RetentionMode.UNKNOWN, "retention_event.mode", "unknown in this version")
    need(body.job is None or body.namespace is not None, "retention_event.namespace", "missing: required with a job")
    need(body.job != "", "retention_event.job", "empty")


def _declaration(event: LineageEvent, body: DeclarationEvent) -> None:
    need(body.set, "declaration_event.set", "empty")
    _follow_rules(event)
    need(body.consumer != "", "declaration_event.consumer", "empty")
    need(body.job is None or body.job.name, "declaration_event.job.name", "empty")
    if body.dataset is not None:
        check_dataset(body.dataset, "declaration_event.dataset")
    _check_datasets(body.inputs or (), "declaration_event.inputs")
    _check_datasets(body.outputs or (), "declaration_event.outputs")
    _check_datasets((read.dataset for read in body.reads or ()), "declaration_event.reads")
    for mapping in body.partitions or ():
        _check_datasets((mapping.input, mapping.output), "declaration_event.partitions")
    if body.lineage is not None:
        _check_lineage(body.lineage, "declaration_event.lineage")


def _declaration_set(event: LineageEvent, body: DeclarationSetEvent) -> None:
    need(body.set, "declaration_set_event.set", "empty")
    _follow_rules(event)


def _incident(event: LineageEvent, body: IncidentEvent) -> None:
    for name in ("incident", "by"):
        need(getattr(body, name), f"incident_event.{name}", "empty")
    for name in ("title", "cause", "assignee", "into"):
        need(getattr(body, name) != "", f"incident_event.{name}", "empty")
    for name in ("scope", "removed"):
        for index, part in enumerate(getattr(body, name) or ()):
            _check_part(part, f"incident_event.{name}[{index}]")
    for index, reached in enumerate(body.reached or ()):
        at = f"incident_event.reached[{index}]"
        check_dataset(reached.dataset, f"{at}.dataset")
        for name in ("depth", "part_count"):
            need(getattr(reached, name) >= 0, f"{at}.{name}", "negative")
        for number, part in enumerate(reached.parts):
            _check_reached(part, f"{at}.parts[{number}]")
    _follow_rules(event)


def _check_part(part: IncidentScope, at: str) -> None:
    if part.dataset is not None:
        check_dataset(part.dataset, f"{at}.dataset")
    need(part.job is None or part.job.name, f"{at}.job.name", "empty")
    for name in ("run", "query", "consumer", "column", "partition", "version", "code_version"):
        need(getattr(part, name) != "", f"{at}.{name}", "empty")
    _check_offsets(part.offsets or (), at)
    for name in ("from_batch", "to_batch"):
        need((getattr(part, name) or 0) >= 0, f"{at}.{name}", "negative")


def _check_reached(part: ReachedPart, at: str) -> None:
    for name in ("topic_id", "format", "version", "from_version", "position"):
        need(getattr(part, name) != "", f"{at}.{name}", "empty")
    for index, path in enumerate(part.partitions or ()):
        need(path, f"{at}.partitions[{index}]", "empty")
    _check_offsets(part.offsets or (), at)
    need((part.file_count or 0) >= 0, f"{at}.file_count", "negative")


def _check_offsets(ranges: Iterable[OffsetRange], at: str) -> None:
    for index, range_ in enumerate(ranges):
        need(range_.partition >= 0, f"{at}.offsets[{index}].partition", "negative")
        need(range_.from_ >= 0, f"{at}.offsets[{index}].from", "negative")


def _follow_rules(event: LineageEvent) -> None:
    broken = first_violation(event)
    if broken is not None:
        raise invalid(broken.field, broken.message)


def _check_datasets(datasets: Iterable[DatasetRef], field: str) -> None:
    for index, dataset in enumerate(datasets):
        check_dataset(dataset, f"{field}[{index}]")


def _check_lineage(lineage: ColumnLineage, field: str) -> None:
    _check_datasets(lineage.datasets, f"{field}.datasets")
    known = range(len(lineage.datasets))
    for index, edge in enumerate(lineage.edges):
        at = f"{field}.edges[{index}]"
        need(edge.output in known, f"{at}.output", f"{edge.output} is no index into the {len(known)} datasets")
        if edge.input is None:
            need(edge.input_field is None, f"{at}.input_field", "set without an input")
        else:
            need(edge.input in known, f"{at}.input", f"{edge.input} is no index into the {len(known)} datasets")


_CHECKS: Mapping[str, tuple[str, Callable[[LineageEvent, Any], None]]] = {
    EventKind.RUN.value: ("run_event", _run),
    EventKind.INTERVAL.value: ("interval_event", _interval),
    EventKind.PLAN.value: ("plan_event", _plan),
    EventKind.DATASET.value: ("dataset_event", _dataset),
    EventKind.JOB.value: ("job_event", _job),
    EventKind.RETENTION.value: ("retention_event", _retention),
    EventKind.DECLARATION.value: ("declaration_event", _declaration),
    EventKind.DECLARATION_SET.value: ("declaration_set_event", _declaration_set),
    EventKind.INCIDENT.value: ("incident_event", _incident),
}
"""Kind to the field of its body and the body's check."""


def reject(event: LineageEvent) -> Rejection | None:
    """Check that `event` can be folded and stored; return the reason for rejection, or None.

    If this returns None, `fold` doesn't raise for the event, and the database accepts its values.
    """
    try:
        check_storable(event)
        _check(event)
    except Rejected as rejected:
        return rejected.rejection
    return None


def reject_decoded(event: LineageEvent) -> Rejection | None:
    """Check an event that `Decoder` decoded, as `reject` does, in half of the time.

    Avro has no integers over 64 bits and no lone surrogates. Its only unstorable values are NaN and infinite numbers,
    which both functions check.
    """
    try:
        _check(event)
    except Rejected as rejected:
        return rejected.rejection
    return None


def _check(event: LineageEvent) -> None:
    need(event.tenant, "tenant", "empty")
    need(event.kind in _CHECKS, "kind", "unknown in this version")
    for kind, (name, _) in _CHECKS.items():
        if (getattr(event, name) is None) == (kind == event.kind):
            raise invalid(name, "missing" if kind == event.kind else f"set in a {event.kind} event")
    if event.job is not None:
        need(event.job.name, "job.name", "empty")
    if event.run is not None:
        need(event.run.run_id, "run.run_id", "empty")
    name, check = _CHECKS[event.kind]
    check(event, getattr(event, name))
    need(event.event_id == event_id(event), "event_id", "not the id of this content (identity.event_id)")
