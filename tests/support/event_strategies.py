"""Hypothesis strategies: good events of every kind, and every value that a field of one may have."""

from __future__ import annotations

import string
import types
import typing
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any

import msgspec  # noqa: TC002 - read at run time by get_type_hints
from hypothesis import strategies as st

from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    Expression,
    IncidentAction,
    IncidentClock,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    NotificationChange,
    NotifiedRecipient,
    OffsetRange,
    Position,
    ReachedDataset,
    ReachedPart,
    RetentionEvent,
    RetentionMode,
    RunEvent,
    RunRef,
    build,
)

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_INT64 = st.integers(-(2**63), 2**63 - 1)
_TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 - Hypothesis wants naive bounds
_NATURAL = st.integers(0, 2**63 - 1)


@st.composite
def kafka_ranges(draw: st.DrawFn) -> KafkaRanges:
    """Ranges that the contract allows: ascending partitions, none that ends before it begins."""
    partitions = sorted(draw(st.sets(st.integers(0, 2**31 - 1), max_size=5)))
    pairs = [sorted((draw(_NATURAL), draw(_NATURAL))) for _ in partitions]
    ranges = tuple(OffsetRange(p, low, high) for p, (low, high) in zip(partitions, pairs, strict=True))
    return KafkaRanges(draw(_nonempty()), ranges, draw(st.none() | _TEXT))


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """A position of one sort, or of a sort that isn't known."""
    hints = typing.get_type_hints(Position, include_extras=True)
    chosen = draw(st.sampled_from([None, *hints]))
    return Position() if chosen is None else Position(**{chosen: draw(of_type(_not_none(hints[chosen])))})


@st.composite
def lineages(draw: st.DrawFn) -> ColumnLineage:
    """Edges that point at datasets that are there."""
    datasets = draw(st.lists(of_type(DatasetRef), min_size=1, max_size=4))
    index = st.integers(0, len(datasets) - 1)
    edges = draw(st.lists(_struct(ColumnEdge, output=index, input=st.none() | index), max_size=5))
    expressions = draw(st.lists(of_type(Expression), max_size=3))
    return ColumnLineage(
        datasets=tuple(datasets),
        edges=tuple(edges),
        expressions=tuple(expressions),
        complete=draw(st.booleans()),
        incomplete_reason=draw(st.none() | _TEXT),
    )


@st.composite
def interval_bodies(draw: st.DrawFn) -> IntervalEvent:
    """At least one micro-batch, with consecutive ids."""
    first, count = draw(st.integers(0, 2**62)), draw(st.integers(1, 3))
    entries = tuple(draw(_struct(IntervalEntry, batch_id=st.just(first + offset))) for offset in range(count))
    body: IntervalEvent = draw(_struct(IntervalEvent, entries=st.just(entries)))
    return body


_SPECIAL: dict[Any, st.SearchStrategy[Any]] = {
    KafkaRanges: kafka_ranges(),
    Position: positions(),
    ColumnLineage: lineages(),
    IntervalEvent: interval_bodies(),
    datetime: _TIMES,
    str: _TEXT,
    int: _INT64,
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
}


@cache
def of_type(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type that the contract allows."""
    if kind in _SPECIAL:
        return _SPECIAL[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _constrained(arguments[0], arguments[1])
    if origin in {typing.Union, types.UnionType}:
        return st.one_of([st.none() if part is types.NoneType else of_type(part) for part in arguments])
    if origin is tuple:
        return st.lists(of_type(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(_TEXT, _TEXT, max_size=2)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return _struct(kind)


def _struct(kind: type[msgspec.Struct], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {name: of_type(hint) for name, hint in hints.items() if name not in given}
    return st.builds(kind, **fields, **given)


def _constrained(kind: Any, meta: msgspec.Meta) -> st.SearchStrategy[Any]:
    if kind is int:
        low = -(2**63) if meta.ge is None else int(meta.ge)
        return st.integers(low, 2**63 - 1 if meta.le is None else int(meta.le))
    if kind is str:
        return _nonempty()
    return of_type(kind)


def _nonempty() -> st.SearchStrategy[str]:
    return st.text(string.ascii_letters + "é.🛫/ ", min_size=1, max_size=12)


def _not_none(kind: Any) -> Any:
    return next(part for part in typing.get_args(kind) if part is not types.NoneType)


def _common() -> dict[str, Any]:
    return {"producer": _TEXT, "event_time": _TIMES, "tenant": _nonempty(), "document": st.none() | _TEXT}


def interval_events() -> st.SearchStrategy[LineageEvent]:
    """Good events of micro-batches."""
    run = st.none() | of_type(RunRef)
    return st.builds(build.lineage_event, interval_bodies(), job=of_type(JobRef), run=run, **_common())


def retentions() -> st.SearchStrategy[RetentionEvent]:
    """Good bodies of retention."""
    scope = st.just((None, None)) | st.tuples(_TEXT, st.none() | _nonempty())
    mode = st.sampled_from([RetentionMode.SUMMARIZE, RetentionMode.DROP])
    return st.builds(
        lambda before, mode, scope: RetentionEvent(before=before, mode=mode, namespace=scope[0], job=scope[1]),
        _TIMES,
        mode,
        scope,
    )


def declarations() -> st.SearchStrategy[DeclarationEvent]:
    """Good bodies of declarations."""
    nothing = dict.fromkeys(("dataset", "job", "consumer", *OF_A_DATASET, *OF_A_JOB, *OF_A_CONSUMER), st.none())
    common = nothing | {"set": st.sampled_from(["a", "b"])}
    columns = st.lists(of_type(DeclaredColumn), max_size=3, unique_by=lambda column: column.path).map(tuple)
    return st.one_of(
        _struct(
            DeclarationEvent,
            **common
            | {name: of_type(hint) for name, hint in _hints(DeclarationEvent, OF_A_DATASET)}
            | {"dataset": of_type(DatasetRef), "columns": st.none() | columns},
        ),
        _struct(
            DeclarationEvent,
            **common
            | {name: of_type(hint) for name, hint in _hints(DeclarationEvent, OF_A_JOB)}
            | {"job": of_type(JobRef), "lineage": st.none() | lineages()},
        ),
        _struct(
            DeclarationEvent,
            **common
            | {name: of_type(hint) for name, hint in _hints(DeclarationEvent, OF_A_CONSUMER)}
            | {"consumer": _nonempty()},
        ),
    )


OF_A_DATASET = ("keep_days", "reference", "columns", "marks")
OF_A_JOB = ("inputs", "outputs", "lineage", "partitions")
OF_A_CONSUMER = ("type", "reads")


def _hints(kind: type, names: tuple[str, ...]) -> list[tuple[str, Any]]:
    return [(name, hint) for name, hint in typing.get_type_hints(kind, include_extras=True).items() if name in names]


def revisions() -> st.SearchStrategy[DeclarationSetEvent]:
    """Good bodies of revisions, most of declarations that are nowhere."""
    return st.builds(
        lambda set_, number, items, more: DeclarationSetEvent(
            set=set_, revision=number, items=tuple(sorted(items)), source=more, document=more
        ),
        st.sampled_from(["a", "b"]),
        st.integers(1, 5),
        st.sets(st.binary(min_size=16, max_size=16).map(bytes.hex), max_size=3),
        st.none() | _TEXT,
    )


@st.composite
def scope_parts(draw: st.DrawFn) -> IncidentScope:
    """A part of a scope that the contract allows."""
    since, until = sorted(draw(st.lists(_TIMES, min_size=2, max_size=2, unique=True)))
    spans: list[dict[str, Any]] = [{}, {"since": since}, {"until": until}, {"since": since, "until": until}]
    span = draw(st.sampled_from(spans))
    if span:
        span |= {"clock": draw(st.sampled_from([IncidentClock.EVENT, IncidentClock.PROCESSING]))}
    last_good: dict[str, Any] = {} if "since" in span else {"since_last_good": draw(st.sampled_from([None, True]))}
    match draw(st.sampled_from(["topic", "files", "table", "job", "run", "query", "consumer"])):
        case "topic":
            cuts = sorted(draw(st.sets(_NATURAL, min_size=2, max_size=6)))
            offsets = tuple(OffsetRange(3, low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=False))
            return IncidentScope(dataset=draw(of_type(DatasetRef)), offsets=offsets, **span)
        case "files":
            files = tuple(draw(st.lists(_nonempty(), min_size=1, max_size=3)))
            return IncidentScope(dataset=draw(of_type(DatasetRef)), files=files, version=draw(_maybe_text()), **span)
        case "table":
            column, partition = draw(_maybe_text()), draw(st.sampled_from([None, "a=1", "a=é/b=", "a=1=2"]))
            dataset = draw(of_type(DatasetRef))
            return IncidentScope(dataset=dataset, column=column, partition=partition, **span, **last_good)
        case "job":
            code = draw(_maybe_text())
            return IncidentScope(job=draw(of_type(JobRef)), code_version=code, **span, **last_good)
        case "run":
            return IncidentScope(run=draw(_nonempty()), **span)
        case "query":
            first, last = draw(st.sampled_from([(None, None), (5, None), (None, 5), (5, 5), (0, 2**63 - 1)]))
            return IncidentScope(query=draw(_nonempty()), from_batch=first, to_batch=last, **span)
        case _:
            return IncidentScope(consumer=draw(_nonempty()))


def _maybe_text() -> st.SearchStrategy[str | None]:
    return st.none() | _nonempty()


@st.composite
def reached_parts(draw: st.DrawFn) -> ReachedPart:
    """A part of a reached dataset that the contract allows."""
    cuts = sorted(draw(st.sets(_NATURAL, min_size=2, max_size=6)))
    offsets = tuple(OffsetRange(3, low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=False))
    files = st.lists(_nonempty(), min_size=1, max_size=3).map(tuple)
    part: ReachedPart = draw(_struct(ReachedPart, offsets=st.sampled_from([None, offsets]), files=st.none() | files))
    return part


@st.composite
def reached_datasets(draw: st.DrawFn) -> tuple[ReachedDataset, ...]:
    """Datasets that an action on an incident may name as reached."""
    found = []
    for dataset in sorted(draw(st.sets(of_type(DatasetRef), max_size=3))):
        parts = tuple(draw(st.lists(reached_parts(), max_size=3)))
        count = len(parts) + (draw(st.sampled_from([0, 1, 2**62])) if parts else 0)
        given = {"dataset": dataset, "cleared": not parts, "parts": parts, "part_count": count}
        digest = st.binary(min_size=32, max_size=32).map(bytes.hex)
        kept = {name: st.just(value) for name, value in given.items()}
        found.append(draw(_struct(ReachedDataset, **kept, digest=digest)))
    return tuple(found)


@st.composite
def notified_recipients(draw: st.DrawFn) -> tuple[NotifiedRecipient, ...]:
    """Recipients that a NOTIFIED may name."""
    digest = st.binary(min_size=32, max_size=32).map(bytes.hex)
    change = st.sampled_from([each for each in NotificationChange if each is not NotificationChange.UNKNOWN])
    names = sorted(draw(st.sets(_nonempty(), min_size=1, max_size=3)))
    return tuple(
        NotifiedRecipient(recipient=name, channel=draw(_nonempty()), digest=draw(digest), change=draw(change))
        for name in names
    )


@st.composite
def incidents(draw: st.DrawFn) -> IncidentEvent:
    """Good bodies of actions on incidents."""
    action = draw(st.sampled_from([action for action in IncidentAction if action is not IncidentAction.UNKNOWN]))
    given: dict[str, Any] = {
        "incident": draw(st.sampled_from(["a", "b", "é" * 200])),
        "by": draw(_nonempty()),
        "reason": draw(_nonempty() if action in {IncidentAction.RESOLVED, IncidentAction.NOTED} else st.none() | _TEXT),
        "title": draw(_nonempty() if action is IncidentAction.OPENED else _maybe_text()),
        "description": draw(st.none() | _TEXT),
        "severity": draw(st.none() | st.sampled_from(list(IncidentSeverity))),
        "type": draw(st.none() | st.sampled_from(list(IncidentType))),
        "cause": draw(_maybe_text()),
    }
    some = st.lists(scope_parts(), min_size=1, max_size=3).map(tuple)
    match action:
        case IncidentAction.OPENED:
            given |= {"scope": draw(st.none() | some)}
        case IncidentAction.REPAIRED | IncidentAction.SCOPE_CHANGED:
            given |= {"scope": draw(some)}
        case IncidentAction.ASSIGNED:
            given |= {"assignee": draw(_nonempty())}
        case IncidentAction.MERGED | IncidentAction.SUPERSEDED:
            given |= {"into": "another one"}
        case IncidentAction.REACHED:
            given |= {"reached": draw(reached_datasets()), "as_of": draw(_TIMES), "complete": draw(st.booleans())}
        case IncidentAction.NOTIFIED:
            given |= {"notified": draw(notified_recipients())}
        case IncidentAction.RESOLVED:
            given |= {"resolution": draw(st.sampled_from(list(IncidentResolution)[1:]))}
    return IncidentEvent(action=action, **given)


def events() -> st.SearchStrategy[LineageEvent]:
    """Good events of every kind."""
    common = _common()
    job, run, no_run = of_type(JobRef), of_type(RunRef), st.none()
    return st.one_of(
        st.builds(build.lineage_event, of_type(RunEvent), job=job, run=run, **common),
        interval_events(),
        st.builds(build.lineage_event, lineages(), job=job, run=no_run | run, **common),
        st.builds(build.lineage_event, of_type(DatasetEvent), job=st.none() | job, run=no_run | run, **common),
        st.builds(build.lineage_event, of_type(JobEvent), job=job, **common),
        st.builds(build.lineage_event, retentions(), **common),
        st.builds(build.lineage_event, declarations(), **common),
        st.builds(build.lineage_event, revisions(), **common),
        st.builds(build.lineage_event, incidents(), **common),
    )
