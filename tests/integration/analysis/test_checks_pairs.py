"""No rule without a pair: what breaks it, and what nearly does. One graph has all of them.

A rule's cases are in a namespace of its name: what they are to other rules doesn't matter here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.checks import RULES, check
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    Certainty,
    ColumnLineage,
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclaredColumn,
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
    RunEventType,
    Sensitivity,
    TransformationKind,
)
from support.graph.estate import DAY, NOW, Estate, lineage, schema, version

if TYPE_CHECKING:
    from neo4j import Driver

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
            body = IntervalEvent(query_id=f"{self.rule} {name}", entries=(entry,))
            self.estate.add(body, DAY, self.job(name), f"{self.rule} {name} 1")


def versions_without_run(cases: Cases) -> set[str]:
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
    return {"fires", "fires: read by another name"}


def written_from_outside(cases: Cases) -> set[str]:
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
    return {"fires", "fires: a gap between its names", "fires: Iceberg"}


def runs_without_code_version(cases: Cases) -> set[str]:
    out = cases.dataset("out")
    cases.ran(cases.job("fires"), writes=[out], versions=None)
    cases.ran(cases.job("nearly: with a version"), writes=[out])
    cases.ran(cases.job("nearly: reads only"), reads=[out], versions=None)
    cases.ran(cases.job("nearly: failed"), writes=[out], versions=None, kind=RunEventType.FAIL)
    return {"fires"}


def runs_open_too_long(cases: Cases) -> set[str]:
    # An event of a run is a minute after its day: those of day 29 are 23 hours and 59 minutes old.
    running = RunEventType.RUNNING
    cases.ran(cases.job("fires"), day=28, kind=running)
    cases.ran(cases.job("nearly: seen within the day"), day=29, kind=running)
    cases.ran(cases.job("nearly: ended"), day=28)
    app = cases.job("nearly: an application whose child is seen")
    cases.ran(app, day=28, kind=running, run=f"{cases.rule} app")
    child = cases.job("nearly: the child")
    cases.ran(child, day=29, kind=running, parent=ParentRun(f"{cases.rule} app", app))
    return {"fires"}


def broken_chains(cases: Cases) -> set[str]:
    cases.batches("fires: a gap", (0, 0, 10), (1, 11, 20))
    cases.batches("fires: an overlap", (0, 0, 10), (1, 9, 20))
    cases.batches("fires: one is missing", (0, 0, 10), (2, 10, 20))
    cases.batches("nearly: each follows", (0, 0, 10), (1, 10, 20))
    cases.batches("nearly: an empty one between", (0, 0, 10), (1, 10, 10), (2, 10, 20))
    return {"fires: a gap", "fires: an overlap", "fires: one is missing"}


def failed_quality(cases: Cases) -> set[str]:
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
    return {
        "fires: a job reads it",
        "fires: a consumer reads it",
        "fires: a job reads it by another name",
        "fires: a consumer reads it by another name",
        "fires: a batch write",
    }


def lineage_incomplete(cases: Cases) -> set[str]:
    source, out = cases.dataset("source"), cases.dataset("out")

    def of(*edges: tuple[str, str], complete: bool = True) -> ColumnLineage:
        return lineage(*edges, source=source, target=out, complete=complete)

    def ran(name: str, *plans: ColumnLineage | None) -> None:
        for day, plan in enumerate(plans):
            cases.ran(cases.job(name), reads=[source], writes=[out], day=day, plan=plan)

    ran("fires: the latest is incomplete", of(("a", "b")), of(("a", "c"), complete=False))
    ran("fires: none is known", None)
    ran("nearly: it was incomplete", of(("a", "d"), complete=False), of(("a", "e")))
    cases.ran(cases.job("nearly: it reads only"), reads=[source])
    cases.declare(job=cases.job("nearly: it never wrote what is declared"), outputs=(out,))
    return {"fires: the latest is incomplete", "fires: none is known"}


def drift_of_datasets(cases: Cases) -> set[str]:
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
    return {"fires: not declared", "fires: not observed", "fires: not declared by any name"}


def drift_of_columns(cases: Cases) -> set[str]:
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
    return {"fires: not declared", "fires: not observed", "fires: not declared by any name"}


def drift_of_schemas(cases: Cases) -> set[str]:
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
    types = {"fires: another type", "fires: another type by another name"}
    return {"fires: no such column", "fires: no such field", "fires: by another name", *types}


def orphan_datasets(cases: Cases) -> set[str]:
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
    return {"fires", "fires: by all its names"}


def orphan_jobs(cases: Cases) -> set[str]:
    table = cases.dataset("table")
    cases.estate.add(JobEvent(), job=cases.job("fires"))
    cases.ran(cases.job("fires: it ended"))
    cases.ran(cases.job("nearly: it still runs"), kind=RunEventType.RUNNING)
    cases.ran(cases.job("nearly: it reads"), reads=[table])
    app = cases.job("nearly: it starts others")
    cases.ran(app, run=f"{cases.rule} app")
    cases.ran(cases.job("nearly: it writes"), writes=[table], parent=ParentRun(f"{cases.rule} app", app))
    return {"fires", "fires: it ended"}


def certified_datasets(cases: Cases) -> set[str]:
    source, fires = cases.dataset("source"), set()
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
            fires.add(name)
    for name, lacks in (("nearly: it has all by two names", ""), ("fires: no owner by any name", "owners")):
        table = cases.dataset(name)
        declared = {field: value for field, value in everything.items() if field != lacks}
        cases.declare(dataset=cases.other_name(table), **declared)
        plan = lineage(("a", "x"), source=source, target=table)
        cases.ran(cases.job(name), reads=[source], writes=[table], plan=plan)
    return fires | {"fires: no owner by any name"}


def consumers_without_owner(cases: Cases) -> set[str]:
    for name, owners in (("fires", None), ("fires: an empty list", ()), ("nearly: one owner", OWNERS)):
        reads = (DatasetRead(cases.dataset("table")),)
        cases.declare(consumer=f"{cases.rule}/{name}", owners=owners, reads=reads)
    return {"fires", "fires: an empty list"}


def sensitive_downstream(cases: Cases) -> set[str]:
    fires = set()
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
            fires.add(name)
    return fires


PAIRS: dict[str, Callable[[Cases], set[str]]] = {
    build.__name__.replace("_", "-"): build
    for build in (
        versions_without_run,
        written_from_outside,
        runs_without_code_version,
        runs_open_too_long,
        broken_chains,
        failed_quality,
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


def test_each_rule_finds_what_breaks_it_and_nothing_that_nearly_does(clean_database: Driver, reader: Reader) -> None:
    assert list(PAIRS) == [rule.name for rule in RULES]
    estate = Estate(clean_database, reader)
    expected = {}
    for rule, build in PAIRS.items():
        cases = Cases(estate, rule)
        expected[rule] = {f"{rule}/{name}" for name in build(cases)}
        if cases.declarations:
            estate.declared(*cases.declarations)
    estate.check("orphan-jobs")
    found = {
        each.rule: {finding.subject.name for finding in each.findings if finding.subject.name.startswith(each.rule)}
        for each in check(reader, NOW, limit=1_000).rules
    }
    assert found == expected
    # What nearly breaks a rule is in the graph, and not merely absent.
    names = (
        "MATCH (n:HwDataset|HwJob) WHERE n.namespace = $rule AND n.name STARTS WITH 'nearly' RETURN count(*) AS count"
    )
    consumers = "MATCH (c:HwConsumer) WHERE c.name STARTS WITH $rule + '/nearly' RETURN count(*) AS count"
    with clean_database.session() as session:
        for rule in PAIRS:
            there = [session.run(query, rule=rule).single(strict=True)["count"] for query in (names, consumers)]
            assert sum(there), rule
