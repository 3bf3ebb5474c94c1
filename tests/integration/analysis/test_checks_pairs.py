"""No rule without a pair: what breaks it, with its finding, and what nearly does. One graph has all of them.

A rule's cases are in a namespace of its name: what they are to other rules doesn't matter here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater_analysis.checks import RULES, CheckedRule, Finding, check
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    Approval,
    Certainty,
    ColumnLineage,
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclaredColumn,
    FileSet,
    IncidentAction,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    KafkaRanges,
    LifecycleChange,
    OffsetRange,
    Owner,
    ParentRun,
    Position,
    QualityResult,
    ReachedDataset,
    ReachedPart,
    RunEventType,
    Sensitivity,
    TransformationKind,
)
from support.graph.estate import DAY, NOW, Estate, lineage, schema, version

if TYPE_CHECKING:
    from neo4j import Driver

    from headwater_graph.connection import Neo4jTarget

pytestmark = pytest.mark.stack

OWNERS = (Owner("team:x"),)
PII = DeclaredColumn(path="a", sensitivity=Sensitivity.PII)


class Cases:
    """Datasets and jobs of one rule, and its declarations."""

    def __init__(self, estate: Estate, rule: str) -> None:
        self.estate = estate
        self.rule = rule
        self.declarations: list[DeclarationEvent] = []

    def dataset(self, name: str) -> DatasetRef:
        return DatasetRef(self.rule, name)

    def job(self, name: str) -> JobRef:
        return JobRef(self.rule, name)

    def declare(self, **declared: Any) -> None:
        self.declarations.append(DeclarationEvent(set=self.rule, **declared))

    def other_name(self, dataset: DatasetRef) -> DatasetRef:
        """Name of a dataset in a catalog, which makes them one dataset."""
        return self.estate.called(dataset, f"{self.rule}.{dataset.name}")

    def ran(self, job: JobRef, *, day: int = 0, run: str = "", **more: Any) -> None:
        """A run whose id no other rule's cases have."""
        self.estate.ran(job, day=day, run=run or f"{self.rule} {job.name} {day}", **more)

    def act(self, incident: str, action: IncidentAction, **stated: Any) -> None:
        """An action on an incident."""
        self.estate.add(IncidentEvent(incident=incident, action=action, by="test", **stated), DAY)

    def batches(
        self, name: str, *ranges: tuple[int, int, int], passed: tuple[bool, ...] = (), writes: DatasetRef | None = None
    ) -> None:
        """Micro-batches of a query of the job of that name: batch, start and end offset."""
        for place, (number, start, end) in enumerate(ranges):
            position = Position(kafka=KafkaRanges("topic", (OffsetRange(0, start, end),)))
            entry = IntervalEntry(
                batch_id=number,
                inputs=(DatasetUse(dataset=self.dataset("topic"), position=position, certainty=Certainty.EXACT),),
                outputs=() if writes is None else (DatasetUse(dataset=writes),),
                processing_time=DAY + timedelta(minutes=number),
                quality=(QualityResult(assertion="a", passed=passed[place]),) if passed else (),
            )
            query = f"{self.rule} {name}"
            body = IntervalEvent(query_id=query, query_name=query, entries=(entry,))
            self.estate.add(body, DAY, self.job(name), f"{query} 1")


def versions_without_run(cases: Cases) -> dict[str, str]:
    read = cases.job("read")
    for name in ("fires", "nearly: written by a run", "nearly: written only as declared"):
        table = cases.dataset(name)
        if "declared" in name:
            cases.declare(job=cases.job(name), outputs=(table,))
        else:
            cases.ran(cases.job(name), writes=[version(table, 1)])
        cases.ran(read, reads=[version(table, 2 if name == "fires" else 1)], run=f"{cases.rule} {name}")
    for name, number in (("fires: read by another name", 2), ("nearly: read by another name", 1)):
        table = cases.dataset(name)
        cases.ran(cases.job(name), writes=[version(table, 1)])
        cases.ran(read, reads=[version(cases.other_name(table), number)], run=f"{cases.rule} {name}")
    files = Position(files=FileSet(count=2, manifest_digest="d1"))
    several = DatasetUse(dataset=cases.dataset("nearly: files, which may be of several runs"), position=files)
    cases.ran(cases.job("files"), writes=[several.dataset])
    cases.ran(read, reads=[version(cases.dataset("nearly: no job writes it"), 7), several], run=f"{cases.rule} others")
    return dict.fromkeys(
        ("fires", "fires: read by another name"), "delta version 2 is read, and no run is known to have written it."
    )


def written_from_outside(cases: Cases) -> dict[str, str]:
    for name, written in (
        ("fires", (5, 6, 8)),
        ("nearly: without a gap", (5, 6, 7)),
        ("nearly: before its first captured version", (8,)),
    ):
        for day, number in enumerate(written):
            cases.ran(cases.job(name), writes=[version(cases.dataset(name), number)], day=day)
    for name, by_turns in (
        ("fires: a gap between its names", (5, 7)),
        ("nearly: one version by another name", (5, 6, 7)),
    ):
        table = cases.dataset(name)
        names = (table, cases.other_name(table))
        for day, number in enumerate(by_turns):
            cases.ran(cases.job(name), writes=[version(names[day % 2], number)], day=day)
    for name, snapshots in (("fires: Iceberg", (5, 6, 8)), ("nearly: Iceberg without a gap", (5, 6, 7))):
        for day, number in enumerate(snapshots):
            use = version(cases.dataset(name), number, format_="iceberg")
            cases.ran(cases.job(name), writes=[use], day=day)
    late = cases.dataset("nearly: a run reports it late")
    for day, number in ((1, 6), (3, 8), (2, 7)):
        cases.ran(cases.job("late"), writes=[version(late, number)], day=day)
    upon = "version {} was written on top of version {}, which no known run wrote. (day {})"
    return {
        "fires": f"delta {upon.format(8, 7, 2)}",
        "fires: a gap between its names": f"delta {upon.format(7, 6, 1)}",
        "fires: Iceberg": f"iceberg {upon.format(8, 7, 2)}",
    }


def runs_without_code_version(cases: Cases) -> dict[str, str]:
    out = cases.dataset("out")
    cases.ran(cases.job("fires"), writes=[out], versions=None)
    cases.ran(cases.job("nearly: with a version"), writes=[out])
    cases.ran(cases.job("nearly: reads only"), reads=[out], versions=None)
    cases.ran(cases.job("nearly: failed"), writes=[out], versions=None, kind=RunEventType.FAIL)
    return {"fires": f"Run {cases.rule} fires 0 wrote something and reports no code version. (day 0)"}


def runs_open_too_long(cases: Cases) -> dict[str, str]:
    # An event of a run is a minute after its day: those of day 29 are 23 hours and 59 minutes old.
    running = RunEventType.RUNNING
    cases.ran(cases.job("fires"), day=28, kind=running)
    cases.ran(cases.job("nearly: seen within the day"), day=29, kind=running)
    cases.ran(cases.job("nearly: ended"), day=28)
    app = cases.job("nearly: an application whose child is seen")
    cases.ran(app, day=28, kind=running, run=f"{cases.rule} app")
    child = cases.job("nearly: the child")
    cases.ran(child, day=29, kind=running, parent=ParentRun(f"{cases.rule} app", app))
    return {"fires": f"Run {cases.rule} fires 28 reported no end, and no event or heartbeat since. (day 28)"}


def broken_chains(cases: Cases) -> dict[str, str]:
    cases.batches("fires: a gap", (0, 0, 10), (1, 11, 20))
    cases.batches("fires: an overlap", (0, 0, 10), (1, 9, 20))
    cases.batches("fires: one is missing", (0, 0, 10), (2, 10, 20))
    cases.batches("fires: several", (0, 0, 10), (1, 10, 20), (2, 25, 30), (5, 30, 40))
    cases.batches("nearly: each follows", (0, 0, 10), (1, 10, 20))
    cases.batches("nearly: an empty one between", (0, 0, 10), (1, 10, 10), (2, 10, 20))
    faults = {
        "fires: a gap": "1 places: 1 partitions with a gap",
        "fires: an overlap": "1 places: 1 partitions read twice",
        "fires: one is missing": "1 places: 1 micro-batches missing",
        "fires: several": "2 places: 2 micro-batches missing, 1 partitions with a gap",
    }
    return {name: f"Query {cases.rule} {name} is broken in {fault}. (day 0)" for name, fault in faults.items()}


def failed_quality(cases: Cases) -> dict[str, str]:
    for name, passed in (
        ("fires: a job reads it", (True, False)),
        ("fires: a consumer reads it", (True, False)),
        ("nearly: passed since", (False, True)),
        ("nearly: nobody reads it", (True, False)),
        ("nearly: its own job reads it", (True, False)),
        ("fires: a job reads it by another name", (True, False)),
        ("fires: a consumer reads it by another name", (True, False)),
    ):
        table = cases.dataset(name)
        cases.batches(f"of {name}", (0, 0, 10), (1, 10, 20), passed=passed, writes=table)
        if "another name" in name:
            table = cases.other_name(table)
        if "consumer" in name:
            cases.declare(consumer=f"{cases.rule} {name}", owners=OWNERS, reads=(DatasetRead(table),))
        elif "its own" in name:
            cases.estate.add(JobEvent(inputs=(table,)), DAY, cases.job(f"of {name}"))
        elif "nobody" not in name:
            cases.ran(cases.job("read"), reads=[table], run=f"{cases.rule} {name}")
    for name, passed in (
        ("fires: a batch write", (True, False)),
        ("nearly: a batch write passed since", (False, True)),
    ):
        table = cases.dataset(name)
        for day, held in enumerate(passed):
            quality = (QualityResult(assertion="a", passed=held),)
            cases.ran(cases.job(f"of {name}"), writes=[table], day=day, quality=quality)
        cases.ran(cases.job("read"), reads=[table], run=f"{cases.rule} {name}")
    where = {
        name: f"batch 1 of query {cases.rule} of {name}"
        for name in (
            "fires: a job reads it",
            "fires: a consumer reads it",
            "fires: a job reads it by another name",
            "fires: a consumer reads it by another name",
        )
    }
    batch_write = f"{cases.rule} of fires: a batch write"
    where["fires: a batch write"] = f"run {batch_write} 1 of job {cases.rule}/of fires: a batch write"
    text = "An assertion failed in {}, and none passed since; 1 jobs and consumers read it."
    found = {name: text.format(each) for name, each in where.items()}
    found["fires: a batch write"] += " (day 1)"
    return found


def tainted_datasets(cases: Cases) -> dict[str, str]:
    message = "It holds bad data of incident {} (SEV2), which is open, and 1 consumer reads it."
    fires = {}
    for name in (
        "fires: the scope names it",
        "fires: the record names it",
        "fires: a consumer reads it by another name",
        "nearly: nobody reads it",
        "nearly: resolved",
        "nearly: cleared",
        "nearly: the scope names it, and the record says that it is cleared",
    ):
        table, incident = cases.dataset(name), f"{cases.rule} {name}"
        if "nobody" not in name:
            read = cases.other_name(table) if "another" in name else table
            cases.declare(consumer=f"{cases.rule} {name}", owners=OWNERS, reads=(DatasetRead(read),))
        named = IncidentScope(dataset=table) if "scope" in name or "another" in name else IncidentScope(run="r")
        cases.act(incident, IncidentAction.OPENED, title="t", severity=IncidentSeverity.SEV2, scope=(named,))
        if "record" in name or "cleared" in name:
            cleared = "cleared" in name
            held = ReachedDataset(
                dataset=table,
                depth=0,
                certainty=Certainty.EXACT,
                since=DAY,
                cleared=cleared,
                parts=() if cleared else (ReachedPart(certainty=Certainty.EXACT),),
                part_count=0 if cleared else 1,
                digest="0" * 64,
            )
            cases.act(incident, IncidentAction.REACHED, reached=(held,), as_of=DAY, complete=True)
        if "resolved" in name:
            cases.act(incident, IncidentAction.RESOLVED, reason="r", resolution=IncidentResolution.REPAIRED)
        if name.startswith("fires"):
            fires[name] = message.format(incident) + (" (day 0)" if "record" in name else "")
    return fires


def lineage_incomplete(cases: Cases) -> dict[str, str]:
    source, out = cases.dataset("source"), cases.dataset("out")

    def of(*edges: tuple[str, str], complete: bool = True) -> ColumnLineage:
        return lineage(*edges, source=source, target=out, complete=complete, reason="a Python function")

    def ran(name: str, *plans: ColumnLineage | None) -> None:
        for day, plan in enumerate(plans):
            cases.ran(cases.job(name), reads=[source], writes=[out], day=day, plan=plan)

    ran("fires: the latest is incomplete", of(("a", "b")), of(("a", "c"), complete=False))
    ran("fires: none is known", None)
    ran("nearly: it was incomplete", of(("a", "d"), complete=False), of(("a", "e")))
    cases.ran(cases.job("nearly: it reads only"), reads=[source])
    cases.declare(job=cases.job("nearly: it never wrote what is declared"), outputs=(out,))
    return {
        "fires: the latest is incomplete": "Its latest column lineage is incomplete: a Python function. (day 1)",
        "fires: none is known": "It writes datasets, and its column lineage is unknown. (day 0)",
    }


def drift_of_datasets(cases: Cases) -> dict[str, str]:
    a, b = cases.dataset("a"), cases.dataset("b")
    for name, declared, observed in (
        ("fires: not declared", (a,), (a, b)),
        ("fires: not observed", (a, b), (a,)),
        ("nearly: the same", (a, b), (a, b)),
        ("nearly: nothing is declared", (), (a, b)),
        ("nearly: it never ran", (a, b), ()),
    ):
        if declared:
            cases.declare(job=cases.job(name), inputs=declared)
        if observed:
            cases.ran(cases.job(name), reads=observed)
    for name, observed in (("fires: not declared by any name", (a, b)), ("nearly: declared by another name", (a,))):
        cases.declare(job=cases.job(name), inputs=(cases.other_name(a),))
        cases.ran(cases.job(name), reads=observed)
    not_declared = f"It was observed to read {cases.rule}/b, but this isn't declared. (day 0)"
    return {
        "fires: not declared": not_declared,
        "fires: not observed": f"It is declared to read {cases.rule}/b, but this was never observed. (day 0)",
        "fires: not declared by any name": not_declared,
    }


def drift_of_columns(cases: Cases) -> dict[str, str]:
    source = cases.dataset("source")
    for name, declared, observed, complete in (
        ("fires: not declared", (("a", "x"),), (("a", "x"), ("b", "x")), True),
        ("fires: not observed", (("a", "x"), ("b", "x")), (("a", "x"),), True),
        ("nearly: the same", (("a", "x"), ("b", "x")), (("a", "x"), ("b", "x")), True),
        ("nearly: nothing is declared of the column", (("a", "x"),), (("a", "x"), ("b", "y")), True),
        ("nearly: what was observed is incomplete", (("a", "x"), ("b", "x")), (("a", "x"),), False),
    ):
        out, job = cases.dataset(name), cases.job(name)
        cases.declare(job=job, inputs=(source,), outputs=(out,), lineage=lineage(*declared, source=source, target=out))
        plan = lineage(*observed, source=source, target=out, complete=complete)
        cases.ran(job, reads=[source], writes=[out], plan=plan)
    called = cases.other_name(source)
    for name, more in (("fires: not declared by any name", (("b", "x"),)), ("nearly: declared by other names", ())):
        out, job = cases.dataset(name), cases.job(name)
        other = cases.other_name(out)
        stated = lineage(("a", "x"), source=called, target=other)
        cases.declare(job=job, inputs=(called,), outputs=(other,), lineage=stated)
        cases.ran(job, reads=[source], writes=[out], plan=lineage(("a", "x"), *more, source=source, target=out))
    text = "{} is made from other columns than declared ({}: {}). (day 0)"
    by_any = "fires: not declared by any name"
    called_b = f"{cases.rule}/source ({called.name})#b"
    return {
        "fires: not declared": text.format(
            f"{cases.rule}/fires: not declared#x", "observed and not declared", called_b
        ),
        "fires: not observed": text.format(
            f"{cases.rule}/fires: not observed#x", "declared and never observed", called_b
        ),
        by_any: text.format(f"{cases.rule}/{by_any} ({cases.rule}.{by_any})#x", "observed and not declared", called_b),
    }


def drift_of_schemas(cases: Cases) -> dict[str, str]:
    for name, columns, declared in (
        ("fires: no such column", ("a",), "b"),
        ("fires: no such field", ("a", "value", "value.x"), "value.y"),
        ("nearly: it is there", ("a", "b"), "b"),
        ("nearly: in other letters", ("a", "B"), "b"),
        ("nearly: no schema is known", (), "b"),
        ("nearly: within what is opaque", ("a", "value"), "value.b"),
    ):
        if columns:
            schema(cases.estate, cases.dataset(name), *columns)
        else:
            cases.ran(cases.job(name), writes=[cases.dataset(name)])
        cases.declare(dataset=cases.dataset(name), columns=(DeclaredColumn(path=declared),))
    for name, type_ in (
        ("fires: another type", "int"),
        ("nearly: a type of another system", "varchar(9)"),
        ("nearly: a type that nobody knows", "geography"),
    ):
        schema(cases.estate, cases.dataset(name), "a")
        cases.declare(dataset=cases.dataset(name), columns=(DeclaredColumn(path="a", type=type_),))
    for name, type_ in (("fires: another type by another name", "int"), ("nearly: its type by another name", "string")):
        schema(cases.estate, cases.dataset(name), "a")
        cases.declare(dataset=cases.other_name(cases.dataset(name)), columns=(DeclaredColumn(path="A", type=type_),))
    for name, declared in (("fires: by another name", "b"), ("nearly: by another name", "a")):
        schema(cases.estate, cases.dataset(name), "a")
        cases.declare(dataset=cases.other_name(cases.dataset(name)), columns=(DeclaredColumn(path=declared),))
    text = f"Its column {{}} is declared by {cases.rule}{{}}. (day 0)"
    return {
        "fires: no such column": text.format("b", ", but the schema has no column of this name"),
        "fires: no such field": text.format("value.y", ", but the schema has no column of this name"),
        "fires: by another name": text.format("b", ", but the schema has no column of this name"),
        "fires: another type": text.format("a", " as int, but its type is string"),
        "fires: another type by another name": text.format("A", " as int, but its type is string"),
    }


def orphan_datasets(cases: Cases) -> dict[str, str]:
    names = "fires", "nearly: read", "nearly: written", "nearly: of a consumer", "nearly: reference data"
    for name in names:
        schema(cases.estate, cases.dataset(name), "a")
    schema(cases.estate, cases.dataset("nearly: dropped"), "a", lifecycle=LifecycleChange.DROP)
    cases.ran(cases.job("job"), reads=[cases.dataset("nearly: read")], writes=[cases.dataset("nearly: written")])
    of_consumer = (DatasetRead(cases.dataset("nearly: of a consumer")),)
    cases.declare(consumer=f"{cases.rule} reader", owners=OWNERS, reads=of_consumer)
    cases.declare(dataset=cases.dataset("nearly: reference data"), reference=True)
    for name in ("nearly: read by another name", "nearly: of a consumer by another name", "fires: by all its names"):
        schema(cases.estate, cases.dataset(name), "a")
        other = cases.other_name(cases.dataset(name))
        if "consumer" in name:
            cases.declare(consumer=f"{cases.rule} {name}", owners=OWNERS, reads=(DatasetRead(other),))
        elif "read by" in name:
            cases.ran(cases.job(name), reads=[other])
        else:
            cases.declare(dataset=other, owners=OWNERS)
    return dict.fromkeys(("fires", "fires: by all its names"), "No job and no consumer uses it.")


def orphan_jobs(cases: Cases) -> dict[str, str]:
    table = cases.dataset("table")
    cases.estate.add(JobEvent(), job=cases.job("fires"))
    cases.ran(cases.job("fires: it ended"))
    cases.ran(cases.job("nearly: it still runs"), kind=RunEventType.RUNNING)
    cases.ran(cases.job("nearly: it reads"), reads=[table])
    app = cases.job("nearly: it starts others")
    cases.ran(app, run=f"{cases.rule} app")
    cases.ran(cases.job("nearly: it writes"), writes=[table], parent=ParentRun(f"{cases.rule} app", app))
    nothing = "No dataset that it reads or writes is known."
    return {"fires": nothing, "fires: it ended": f"{nothing} (day 0)"}


def certified_datasets(cases: Cases) -> dict[str, str]:
    source, fires = cases.dataset("source"), dict[str, str]()
    everything = {"owners": OWNERS, "freshness_seconds": 60, "certified": True}
    for name, lacks in (
        ("fires: no owner", "owners"),
        ("fires: no SLO", "freshness_seconds"),
        ("fires: no column lineage", "lineage"),
        ("fires: no run", "run"),
        ("nearly: it has all", ""),
        ("nearly: a deadline is an SLO", "freshness_seconds"),
        ("nearly: its owner was observed", "owners"),
        ("nearly: it isn't certified", "certified"),
    ):
        table = cases.dataset(name)
        declared = {field: value for field, value in everything.items() if field != lacks}
        if "deadline" in name:
            declared["deadline"] = "06:00 UTC"
        if "observed" in name:
            cases.estate.add(DatasetEvent(dataset=table, owners=OWNERS))
        if lacks == "certified":
            declared = {"certified": False}
        cases.declare(dataset=table, **declared)
        made = lineage(("a", "x"), source=source, target=table)
        if lacks == "run":
            cases.declare(job=cases.job(name), inputs=(source,), outputs=(table,), lineage=made)
        else:
            plan = None if lacks == "lineage" else made
            cases.ran(cases.job(name), reads=[source], writes=[table], plan=plan)
        if name.startswith("fires"):
            fires[name] = f"It is certified, and has {name.partition(': ')[2]}."
    cases.declare(dataset=cases.dataset("fires: nothing"), certified=True)
    fires["fires: nothing"] = "It is certified, and has no owner, no SLO, no column lineage, no run."
    for name, lacks in (("nearly: it has all by two names", ""), ("fires: no owner by any name", "owners")):
        table = cases.dataset(name)
        declared = {field: value for field, value in everything.items() if field != lacks}
        cases.declare(dataset=cases.other_name(table), **declared)
        plan = lineage(("a", "x"), source=source, target=table)
        cases.ran(cases.job(name), reads=[source], writes=[table], plan=plan)
    return fires | {"fires: no owner by any name": "It is certified, and has no owner."}


def consumers_without_owner(cases: Cases) -> dict[str, str]:
    for name, owners in (("fires", None), ("fires: an empty list", ()), ("nearly: one owner", OWNERS)):
        reads = (DatasetRead(cases.dataset("table")),)
        cases.declare(consumer=f"{cases.rule}/{name}", owners=owners, reads=reads)
    shared = f"{cases.rule}/nearly: of another set"
    cases.declare(consumer=shared, reads=(DatasetRead(cases.dataset("table")),))
    cases.estate.declared(DeclarationEvent(set=f"{cases.rule} again", consumer=shared, owners=OWNERS))
    return dict.fromkeys(("fires", "fires: an empty list"), "Nobody is declared as its owner.")


def sensitive_downstream(cases: Cases) -> dict[str, str]:
    fires = {}
    for name, sensitivity in (
        ("fires: PII", Sensitivity.PII),
        ("fires: confidential", Sensitivity.CONFIDENTIAL),
        ("fires: restricted", Sensitivity.RESTRICTED),
        ("nearly: internal", Sensitivity.INTERNAL),
        ("nearly: masked", Sensitivity.PII),
        ("nearly: used as a filter", Sensitivity.PII),
        ("nearly: dropped", Sensitivity.PII),
        ("nearly: the column is classified", Sensitivity.PII),
        ("nearly: the dataset is declared classified", Sensitivity.PII),
        ("nearly: the dataset was observed classified", Sensitivity.PII),
        ("nearly: the column left the schema", Sensitivity.PII),
        ("fires: declared by another name", Sensitivity.PII),
        ("nearly: declared and classified by other names", Sensitivity.PII),
    ):
        source, out = cases.dataset(f"source of {name}"), cases.dataset(name)
        stated, called = (cases.other_name(each) if "other" in name else each for each in (source, out))
        cases.declare(dataset=stated, columns=(DeclaredColumn(path="a", sensitivity=sensitivity),))
        schema(
            cases.estate,
            out,
            "y" if "left" in name else "x",
            lifecycle=LifecycleChange.DROP if "dropped" in name else None,
            classification="secret" if "observed" in name else None,
        )
        kind = TransformationKind.COPY
        plan = lineage(("a", "x"), source=source, target=out, kind=kind, masking="masked" in name)
        if "filter" in name:
            plan = lineage(("b", "x"), source=source, target=out)
        cases.ran(cases.job(name), reads=[source], writes=[out], plan=plan)
        if "classified by" in name:
            cases.declare(dataset=called, columns=(DeclaredColumn(path="x", classification="secret"),))
        if "column is" in name:
            cases.declare(dataset=out, columns=(DeclaredColumn(path="x", classification="secret"),))
        if "is declared" in name:
            cases.declare(dataset=out, sensitivity=Sensitivity.PII)
        if name.startswith("fires"):
            table = f" ({stated.name})" if stated != source else ""
            fires[name] = _made(f"x is made from {source.namespace}/{source.name}{table}#a", sensitivity)
    for name, reviewed in REVIEWED.items():
        source, out = cases.dataset(f"source of {name}"), cases.dataset(name)
        cases.declare(dataset=source, columns=(PII,))
        cases.declare(dataset=out, columns=(DeclaredColumn(path="x", **reviewed),))
        schema(cases.estate, out, "x", "y")
        summed = lineage(("a", "x"), source=source, target=out, kind=TransformationKind.AGGREGATE, expression="sum(a)")
        cases.ran(cases.job(name), reads=[source], writes=[out], plan=summed)
        if name.startswith("fires"):
            fires[name] = _made(f"x is made from {source.namespace}/{source.name}#a", Sensitivity.PII)
    return fires


APPROVED = Approval(
    covers=Sensitivity.PII,
    sensitivity=Sensitivity.INTERNAL,
    by="jo",
    reason="reviewed",
    until=NOW.date().isoformat(),
)
REVIEWED: dict[str, dict[str, Any]] = {
    "nearly: groups of ten": {"smallest_group": 10},
    "fires: groups of nine": {"smallest_group": 9},
    "nearly: approved": {"approval": APPROVED},
    "fires: approved until it was over": {"approval": msgspec.structs.replace(APPROVED, until="2020-01-01")},
    "fires: approved for less": {"approval": msgspec.structs.replace(APPROVED, covers=Sensitivity.CONFIDENTIAL)},
}


def _made(what: str, sensitivity: Sensitivity) -> str:
    return f"{what}, which is {sensitivity.value}, and has no sensitivity or classification."


PAIRS: dict[str, Callable[[Cases], dict[str, str]]] = {
    build.__name__.replace("_", "-"): build
    for build in (
        versions_without_run,
        written_from_outside,
        runs_without_code_version,
        runs_open_too_long,
        broken_chains,
        failed_quality,
        tainted_datasets,
        lineage_incomplete,
        drift_of_datasets,
        drift_of_columns,
        drift_of_schemas,
        orphan_datasets,
        orphan_jobs,
        certified_datasets,
        consumers_without_owner,
        sensitive_downstream,
    )
}


def of_its_namespace(rule: CheckedRule) -> list[Finding]:
    return [finding for finding in rule.findings if finding.subject.name.startswith(rule.rule)]


def described(finding: Finding) -> str:
    """Message, and the day since when it is so."""
    return finding.message if finding.since is None else f"{finding.message} (day {(finding.since - DAY).days})"


@pytest.mark.usefixtures("layout")
def test_each_rule_finds_what_breaks_it_and_nothing_that_nearly_does(
    subtests: pytest.Subtests, clean_database: Driver, reader: Reader, target: Neo4jTarget
) -> None:
    assert list(PAIRS) == [rule.name for rule in RULES]
    estate = Estate(clean_database, reader)
    expected = {}
    for rule, build in PAIRS.items():
        cases = Cases(estate, rule)
        expected[rule] = {f"{rule}/{name}": text for name, text in build(cases).items()}
        if cases.declarations:
            estate.declared(*cases.declarations)
    estate.check("orphan-jobs")
    for each in check(reader, NOW, limit=1_000).rules:
        with subtests.test(each.rule):
            found = {finding.subject.name: described(finding) for finding in of_its_namespace(each)}
            assert found == expected.pop(each.rule)
            named = [finding.incident in finding.message for finding in each.findings if finding.incident is not None]
            assert named == [True] * (len(each.findings) if each.rule == "tainted-datasets" else 0)
    assert not expected
    elsewhere = check(Reader(clean_database, target, tenant="elsewhere"), NOW)
    assert {rule.rule: rule.findings for rule in elsewhere.rules if rule.findings} == {}
    # What nearly breaks a rule is in the graph, and not merely absent.
    names = (
        "MATCH (n:HwDataset|HwJob) WHERE n.namespace = $rule AND n.name STARTS WITH 'nearly' RETURN count(*) AS count"
    )
    consumers = "MATCH (c:HwConsumer) WHERE c.name STARTS WITH $rule + '/nearly' RETURN count(*) AS count"
    with clean_database.session() as session:
        for rule in PAIRS:
            there = [session.run(query, rule=rule).single(strict=True)["count"] for query in (names, consumers)]
            assert sum(there), rule
