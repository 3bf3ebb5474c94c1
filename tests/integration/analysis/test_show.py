"""All that is known of whatever is named: the worked examples of docs/analysis/show.md, names, and each part of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from headwater.cli import main
from headwater.commands import show
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.known import (
    ConsumerDetails,
    DatasetDetails,
    JobDetails,
    KnownKind,
    column_details,
    consumer_details,
    consumers,
    dataset_details,
    job_details,
    known,
)
from headwater_analysis.known.job import KnownRetention
from headwater_analysis.reader import Reader
from headwater_analysis.runs import last_good, run, versions
from headwater_graph.keys import job_key
from headwater_schemas.events import (
    ConsumerType,
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    JobEvent,
    JobRef,
    LifecycleChange,
    LineageEvent,
    Owner,
    RetentionEvent,
    RetentionMode,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    Tag,
    build,
)
from headwater_schemas.identity import declaration_digest
from support.analysis.history import History
from support.analysis.paging import all_items
from support.demo_graph import declare_demo
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

DAY = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2027, 1, 1, tzinfo=UTC)


def event(body: Any, day: int = 1, job: JobRef | None = None) -> LineageEvent:
    return build.lineage_event(body, job=job, producer="test", event_time=DAY.replace(day=day))


def test_a_column_that_is_not_there_names_those_that_are(demo_reader: Reader) -> None:
    with pytest.raises(NotFoundError) as caught:
        known(demo_reader, "flights.enriched#value.dep_dela")
    assert "value.dep_delay" in caught.value.nearest


def test_each_is_found_by_name_and_by_key(demo_reader: Reader) -> None:
    dataset, job = dataset_details(demo_reader, "flights.enriched"), job_details(demo_reader, "flights.enrich")
    column = column_details(demo_reader, "flights.enriched#value.dep_delay")
    ran = run(demo_reader, job.runs[0].run_id)
    for details, name, kind, key in (
        (dataset, "flights.enriched", KnownKind.DATASET, dataset.dataset.key),
        (job, "flights.enrich", KnownKind.JOB, job.job.key),
        (column, "flights.enriched#value.dep_delay", KnownKind.COLUMN, column.column.key),
        (ran, ran.run.run_id[:8], KnownKind.RUN, ran.run.key),
    ):
        assert known(demo_reader, name) == known(demo_reader, key, kind) == details


def test_a_column_has_its_schema_its_dataset_and_one_step(demo_reader: Reader) -> None:
    found = column_details(demo_reader, "flights.enriched#value.dep_delay")
    (listed,) = [
        each for each in dataset_details(demo_reader, "flights.enriched").columns if each.key == found.column.key
    ]
    assert found.details == listed
    assert found.dataset.name == "flights.enriched"
    assert {item.hops for item in (*found.origins.items, *found.uses.items)} == {1}
    assert "value.dep_delay" in [item.asset.column for item in found.origins.items]


def test_a_column_that_its_dataset_has_no_more_is_gone(clean_database: Driver, reader: Reader) -> None:
    ref = DatasetRef("file", "/lake/out")
    for day, names in ((1, ("id", "label")), (2, ("id",))):
        schema = SchemaDefinition(tuple(SchemaField(path=each, type="long") for each in names))
        store(clean_database, [event(DatasetEvent(dataset=ref, schema=schema), day)])
    shown = {}
    for name in ("id", "label"):
        out = StringIO()
        Console(file=out, width=200).print(show.view(column_details(reader, f"/lake/out#{name}")))
        shown[name] = "gone: its dataset's latest schema doesn't have it" in out.getvalue()
    assert shown == {"id": False, "label": True}


def test_versions_and_quality_are_those_of_runs(clean_database: Driver, reader: Reader) -> None:
    store(clean_database, History(2).events())
    some = False
    for record in clean_database.execute_query("MATCH (d:HwDataset) RETURN d.key AS key").records:
        found = dataset_details(reader, record["key"])
        assert found.versions == versions(reader, dataset=record["key"], limit=5).items
        assert found.versions_total == versions(reader, dataset=record["key"]).total
        assert found.quality == last_good(reader, dataset=record["key"]).quality
        some |= bool(found.versions and found.quality)
    assert some
    for record in clean_database.execute_query("MATCH (j:HwJob) RETURN j.key AS key").records:
        assert job_details(reader, record["key"]).quality == last_good(reader, job=record["key"]).quality


def test_a_dataset_goes_before_a_job_of_its_name_and_kind_tells_them_apart(
    clean_database: Driver, reader: Reader, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = event(DatasetEvent(dataset=DatasetRef("n", "orders"), tags=(Tag(key="pii"),)))
    store(clean_database, [dataset, event(JobEvent(), job=JobRef("f", "orders"))])
    with pytest.raises(AmbiguousError):
        known(reader, "orders")
    assert isinstance(known(reader, "orders", KnownKind.DATASET), DatasetDetails)
    assert isinstance(known(reader, "orders", KnownKind.JOB), JobDetails)
    assert main(["show", "orders"]) == 0
    shown = capsys.readouterr()
    assert "pii" in shown.out
    job = job_key("default", "f", "orders")
    assert "A job is called 'orders', too" in shown.err
    assert f"headwater show {job}` shows it." in shown.err
    assert main(["show", job, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["job"]["key"] == job
    assert main(["show", "orders", "--kind", "dataset"]) == 0
    assert "pii" in capsys.readouterr().out


def test_what_sets_declare_is_beside_what_events_report(clean_database: Driver, reader: Reader) -> None:
    ref = DatasetRef("kafka://k", "orders")
    of_team = DeclarationEvent(
        set="team",
        dataset=ref,
        criticality="tier-1",
        owners=(Owner("team:orders", "OWNER"),),
        columns=(DeclaredColumn(path="email", sensitivity=Sensitivity.PII),),
    )
    of_audit = DeclarationEvent(set="audit", dataset=ref, criticality="tier-2")
    board = DeclarationEvent(set="team", consumer="board", type=ConsumerType.DASHBOARD, reads=(DatasetRead(ref),))
    job = DeclarationEvent(set="team", job=JobRef("jobs", "clean"), inputs=(ref,), on_call="#orders")
    sets = [
        DeclarationSetEvent(set=name, revision=1, items=tuple(sorted(map(declaration_digest, bodies))))
        for name, bodies in (("team", (of_team, board, job)), ("audit", (of_audit,)))
    ]
    schema = SchemaDefinition(fields=(SchemaField(path="email", type="string"),))
    reported = DatasetEvent(dataset=ref, schema=schema, description="reported")
    store(clean_database, [event(body) for body in (reported, of_team, of_audit, board, job, *sets)])

    found = dataset_details(reader, "orders")
    assert (found.description, found.criticality, found.owners) == ("reported", None, ())
    assert found.declared is not None
    assert found.declared.sets == ["audit", "team"]
    assert (found.declared.values["criticality"], found.declared.values["owners"]) == ("tier-2", ["team:orders"])
    [contradiction] = found.declared.contradictions
    assert (contradiction.property, contradiction.values) == ("criticality", {"audit": "tier-2", "team": "tier-1"})
    assert [(one.name, one.type) for one in found.declared_consumers] == [("board", "DASHBOARD")]
    assert column_details(reader, "orders#email").declared == {"sensitivity": "PII"}
    declared = job_details(reader, "clean").declared
    assert declared is not None
    assert declared.values["on_call"] == "#orders"

    # The sets are withdrawn.
    gone = [DeclarationSetEvent(set=name, revision=2, items=()) for name in ("team", "audit")]
    store(clean_database, [event(body, day=2) for body in gone])
    found = dataset_details(reader, "orders")
    assert (found.declared, found.declared_consumers) == (None, ())
    assert column_details(reader, "orders#email").declared == {}


def test_a_consumer_has_what_is_declared_what_it_reads_and_who_writes_that(
    demo_graph: Driver, reader: Reader, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotFoundError, match="none is declared"):
        consumer_details(reader, "punctuality report")
    declare_demo(demo_graph)
    report = DeclarationEvent(
        set="audit", consumer="punctuality report", type=ConsumerType.REPORT, deadline="08:00 Europe/Berlin"
    )
    audit = DeclarationSetEvent(set="audit", revision=1, items=(declaration_digest(report),))
    store(demo_graph, [event(report), event(audit)])

    found = known(reader, "punctuality report")
    assert isinstance(found, ConsumerDetails)
    assert found == consumer_details(reader, found.consumer.key) == consumer_details(reader, found.consumer.key[:8])
    assert found == known(reader, "punctuality report", KnownKind.CONSUMER)
    assert (found.consumer.type, found.contact, found.withdrawn) == ("REPORT", "finance@example.com", False)
    assert [owner.name for owner in found.owners] == ["team:finance"]
    # The sets differ about when its data has to be there.
    assert found.declared is not None
    assert found.declared.sets == ["audit", "flights"]
    assert [each.property for each in found.declared.contradictions] == ["deadline"]
    assert found.deadline == "08:00 Europe/Berlin"
    [read] = found.reads
    assert (read.dataset.name, read.columns, found.reads_total) == ("/tmp/headwater/demo/flights/daily_report", (), 1)
    dataset = dataset_details(reader, read.dataset.key)
    assert (read.writers, read.writers_total) == (dataset.producers, 1)
    assert (read.last_written, read.checks) == (dataset.producers[0].last_seen, dataset.checks)

    model = consumer_details(reader, "delay model")
    assert [(read.columns, read.columns_total) for read in model.reads] == [(("delay_minutes", "departed"), 2)]
    with pytest.raises(NotFoundError) as caught:
        consumer_details(reader, "Punctuality-Report")
    assert caught.value.nearest[0] == "punctuality report"

    assert main(["show", "punctuality report"]) == 0
    shown = capsys.readouterr().out
    assert all(
        text in shown for text in ("team:finance", "08:00 Europe/Berlin", "contradiction", "flights.daily_report")
    )
    assert main(["show", "punctuality report", "--json"]) == 0
    assert next(iter(json.loads(capsys.readouterr().out))) == "consumer"

    listed = consumers(reader)
    assert (listed.total, len(listed.items)) == (3, 3)
    assert [each.consumer for each in consumers(reader, types=["REPORT"]).items] == [found.consumer]
    assert [each.consumer for each in consumers(reader, owner="team:finance").items] == [found.consumer]
    assert consumers(reader, owner="team:nobody").total == 0
    assert tuple(all_items(consumers, reader, limit=2)) == listed.items

    # The sets are withdrawn.
    gone = [DeclarationSetEvent(set=name, revision=2, items=()) for name in ("flights", "audit")]
    store(demo_graph, [build.lineage_event(body, producer="test", event_time=NOW) for body in gone])
    found = consumer_details(reader, "punctuality report")
    assert (found.withdrawn, found.declared, found.reads, found.owners) == (True, None, (), ())
    assert consumers(reader).total == 0


def test_a_consumer_reads_a_dataset_once_by_whichever_names(clean_database: Driver, reader: Reader) -> None:
    old, new = DatasetRef("n", "orders"), DatasetRef("n", "purchases")
    reads = (DatasetRead(old, columns=("id",)), DatasetRead(new, columns=("id", "total")))
    board = DeclarationEvent(set="team", consumer="orders", type=ConsumerType.DASHBOARD, reads=reads)
    renamed = DatasetEvent(dataset=new, lifecycle=LifecycleChange.RENAME, previous=old)
    listed = DeclarationSetEvent(set="team", revision=1, items=(declaration_digest(board),))
    store(clean_database, [event(body) for body in (renamed, board, listed)])

    found = consumer_details(reader, "orders")
    assert [(each.dataset.name, each.columns) for each in found.reads] == [("purchases", ("id", "total"))]
    assert found.reads_total == 1
    # A dataset's name goes before a consumer's.
    assert isinstance(known(reader, "orders"), DatasetDetails)
    assert isinstance(known(reader, "orders", KnownKind.CONSUMER), ConsumerDetails)


def test_a_job_has_the_latest_retention_of_its_scopes(clean_database: Driver, reader: Reader) -> None:
    def kept(day: int, mode: RetentionMode, *scope: str) -> LineageEvent:
        names: dict[str, str] = dict(zip(("namespace", "job"), scope, strict=False))
        return event(RetentionEvent(before=DAY.replace(day=day), mode=mode, **names), 31)

    store(clean_database, [event(JobEvent(), job=JobRef("f", "orders")), event(JobEvent(), job=JobRef("g", "orders"))])
    assert job_details(reader, "f/orders").retention is None
    store(clean_database, [kept(3, RetentionMode.SUMMARIZE, "f", "orders"), kept(5, RetentionMode.SUMMARIZE, "f")])
    assert job_details(reader, "g/orders").retention is None
    assert job_details(reader, "f/orders").retention == KnownRetention(DAY.replace(day=5), None)
    store(clean_database, [kept(2, RetentionMode.DROP)])
    assert job_details(reader, "g/orders").retention == KnownRetention(None, DAY.replace(day=2))
    assert job_details(reader, "f/orders").retention == KnownRetention(DAY.replace(day=5), DAY.replace(day=2))
