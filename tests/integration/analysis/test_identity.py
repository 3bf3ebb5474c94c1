"""One dataset under several names: every question starts from all of them, goes on through all, and shows one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from headwater.cli import main
from headwater_analysis.blast import BadRun, blast
from headwater_analysis.checks import check, rule_named
from headwater_analysis.diff import Point, diff
from headwater_analysis.drawing import draw
from headwater_analysis.errors import AmbiguousError
from headwater_analysis.identity import Identities
from headwater_analysis.impact import ChangeType, ImpactChange, SchemaChange, analyze
from headwater_analysis.known import dataset_details, job_details
from headwater_analysis.lineage import Lineage, LineageDirection, LineageQuestion, lineage
from headwater_analysis.privacy import PrivacyQuestion, privacy
from headwater_analysis.reader import Reader, statement
from headwater_analysis.resolve import resolve_column, resolve_dataset
from headwater_analysis.runs import intervals, runs
from headwater_analysis.search import search
from headwater_analysis.settings import DEFAULT_TENANT
from headwater_analysis.timeline import overview, timeline
from headwater_analysis.trace import Offsets, PartKind, Path, StepKind, TraceDirection, VersionOf, trace
from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.keys import dataset_key
from headwater_graph.oracle import oracle
from headwater_openlineage.incoming import events_of
from headwater_schemas.events import (
    Certainty,
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    JobRef,
    KafkaRanges,
    LifecycleChange,
    LineageEvent,
    OffsetRange,
    Position,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    Symlink,
    build,
)
from headwater_schemas.identity import declaration_digest
from support.analysis.chains import BEGIN, Entry, Stream, files_use, ran
from support.gate import first_in_gate
from support.graph.estate import lineage as column_lineage
from support.graph.estate import version
from support.graph.plans import operators, scans
from support.graph.writing import store
from support.openlineage_sequences import dataset as ol_dataset
from support.openlineage_sequences import facet as ol_facet
from support.openlineage_sequences import run as ol_run

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

CLUSTER = Symlink("kafka://MkU3OEVBNTcwNTJENDM2Qk", "orders", "TOPIC")
HERE, THERE = DatasetRef("kafka://b1:9092", "orders"), DatasetRef("kafka://b1:9092,b2:9092", "orders")
DECLARED = DatasetRef("kafka://shop", "orders")
Use: TypeAlias = "DatasetUse | DatasetRef"


def offsets(dataset: DatasetRef, start: int, end: int) -> DatasetUse:
    return DatasetUse(
        dataset=dataset,
        position=Position(kafka=KafkaRanges("orders", (OffsetRange(0, start, end),))),
        certainty=Certainty.EXACT,
    )


def one(job: str, source: Use, target: Use, at: int, plan: LineageEvent | None = None) -> LineageEvent:
    """A batch run that read one dataset and wrote another."""
    digest = plan.plan_event.digest if plan is not None and plan.plan_event is not None else None
    return ran(job, [source], [target], at, plan_digest=digest)


def dataset_event(body: DatasetEvent, at: int = 0) -> LineageEvent:
    return build.lineage_event(body, producer="test", event_time=BEGIN + timedelta(seconds=at))


def table(path: str, name: str | None = None, at: int = 0, change: LifecycleChange | None = None) -> LineageEvent:
    links = (Symlink("file:/w", name, "TABLE"),) if name else None
    return dataset_event(
        DatasetEvent(dataset=DatasetRef("file", path), type="TABLE", symlinks=links, lifecycle=change), at
    )


def renamed(before: str, after: str, at: int) -> LineageEvent:
    body = DatasetEvent(
        dataset=DatasetRef("file", after), lifecycle=LifecycleChange.RENAME, previous=DatasetRef("file", before)
    )
    return dataset_event(body, at)


def file(path: str) -> DatasetRef:
    return DatasetRef("file", path)


class Graph:
    """The graph of some events, and what it answers."""

    def __init__(self, driver: Driver, reader: Reader) -> None:
        self.driver = driver
        self.reader = reader

    def of(self, *events: LineageEvent) -> Graph:
        # One by one and the other way round, so that aliases come before what they are of.
        store(self.driver, reversed(events), at_once=1)
        assert list(dump(self.driver)) == list(oracle(fold(list(events))))
        return self

    def lineage(
        self, asset: str, direction: LineageDirection, column: str | None = None, *, depth: int | None = None
    ) -> Lineage:
        return lineage(self.reader, LineageQuestion(asset, direction, column=column, depth=depth, edges=True))

    def up(self, asset: str, column: str | None = None) -> set[str]:
        return {item.asset.name for item in self.lineage(asset, LineageDirection.UPSTREAM, column).items}

    def down(self, asset: str, column: str | None = None) -> set[str]:
        return {item.asset.name for item in self.lineage(asset, LineageDirection.DOWNSTREAM, column).items}

    def name(self, text: str) -> str:
        return self.reader.read(lambda tx: resolve_dataset(tx, text)).asset.spelling


@pytest.fixture
def graph(clean_database: Driver, reader: Reader) -> Graph:
    return Graph(clean_database, reader)


def topic(*refs: DatasetRef) -> list[LineageEvent]:
    return [dataset_event(DatasetEvent(dataset=ref, type="TOPIC", symlinks=(CLUSTER,))) for ref in refs]


def one_topic() -> list[LineageEvent]:
    return [
        *topic(HERE, THERE),
        one("make", file("/in"), offsets(THERE, 0, 10), 0),
        one("take", offsets(HERE, 0, 10), file("/out"), 10),
    ]


def test_a_topic_by_two_lists_of_brokers_is_one(graph: Graph) -> None:
    graph.of(*one_topic())
    for asked in ("orders", "kafka://b1:9092/orders", "kafka://b1:9092,b2:9092/orders", f"{CLUSTER.namespace}/orders"):
        assert graph.name(asked) == "kafka://b1:9092/orders"
        assert (graph.up(asked), graph.down(asked)) == ({"/in"}, {"/out"})
    assert graph.down("/in") == {"orders", "/out"}
    assert graph.up("/out") == {"orders", "/in"}
    answer = graph.lineage("/in", LineageDirection.DOWNSTREAM)
    assert [(item.asset.spelling, item.hops, item.via_total) for item in answer.items] == [
        ("kafka://b1:9092/orders", 1, 1),
        ("file:/out", 2, 1),
    ]
    assert len(answer.edges) == 2
    drawn = draw(graph.reader, "orders")
    assert sorted(node.asset.name for node in drawn.nodes) == ["/in", "/out", "orders"]
    assert len(drawn.edges) == 2


@pytest.mark.nightly
def test_a_job_reads_a_dataset_once_whatever_names_it_met_it_by(graph: Graph) -> None:
    out = file("/out")
    graph.of(
        *topic(HERE, THERE), one("take", offsets(HERE, 0, 10), out, 0), one("take", offsets(THERE, 10, 20), out, 10)
    )
    known = job_details(graph.reader, "take")
    (use,) = known.inputs
    assert (use.dataset.spelling, use.observed, known.inputs_total) == ("kafka://b1:9092/orders", True, 1)
    assert use.first_seen is not None
    assert use.last_seen is not None
    assert use.last_seen > use.first_seen
    assert ([use.dataset.name for use in known.outputs], known.outputs_total) == (["/out"], 1)


def test_a_trace_finds_what_was_read_under_another_name(graph: Graph) -> None:
    graph.of(*one_topic())
    for asked in ("kafka://b1:9092/orders", "kafka://b1:9092,b2:9092/orders"):
        forward = trace(graph.reader, Offsets(asked, 0, 2, 4), depth=None)
        assert [part.dataset.name for hop in forward.hops for part in hop.outputs] == ["/out"]
        back = trace(graph.reader, Offsets(asked, 0, 2, 4), direction=TraceDirection.BACKWARD, depth=None)
        assert [part.dataset.name for hop in back.hops for part in hop.inputs] == ["/in"]
        assert {part.dataset.spelling for part in (*forward.start, *back.start)} == {"kafka://b1:9092/orders"}
        assert "kafka://b1:9092,b2:9092/orders and kafka://b1:9092/orders are names of one dataset." in back.notes
    tainted = blast(graph.reader, BadRun("make 0"), depth=None).tainted
    assert [each.dataset.spelling for each in tainted] == ["kafka://b1:9092/orders", "file:/out"]


def respelled(again: int = 900) -> list[LineageEvent]:
    """A query that reads 300 records a micro-batch, three of them by one list of brokers, two more by another.

    Its second start also emits what its checkpoint has of the first one.
    """

    def read(dataset: DatasetRef, start: int, end: int) -> tuple[DatasetUse, ...]:
        ranges = KafkaRanges("orders", (OffsetRange(0, start, end),))
        return (DatasetUse(dataset=dataset, position=Position(kafka=ranges), certainty=Certainty.EXACT),)

    def written(batch: int) -> tuple[DatasetUse, ...]:
        return (files_use("/out", [f"part-{batch}"]),)

    first, second = Stream("copy"), Stream("copy")
    for batch in range(3):
        start, end = 300 * batch, 300 * batch + 300
        first.entries.append(Entry(batch, read(THERE, start, end), written(batch)))
        second.entries.append(Entry(batch, read(HERE, start, end), written(batch), reconciled=True, emitted=1))
    second.entries.append(Entry(3, read(HERE, again, 1_200), written(3), run=1, emitted=1))
    second.entries.append(Entry(4, read(HERE, 1_200, 1_500), written(4), run=1, emitted=1))
    return [*topic(HERE, THERE), *first.events(), *second.events()]


@pytest.mark.nightly
def test_micro_batches_that_a_restart_spells_otherwise_are_no_conflicts(graph: Graph) -> None:
    graph.of(*respelled())
    listed = intervals(graph.reader, job="copy").items
    assert [(each.batch_id, each.conflicts, each.gaps, each.overlaps) for each in listed] == [
        (batch, 0, (), ()) for batch in range(5)
    ]
    assert {use.dataset.spelling for each in listed for use in each.inputs} == {"kafka://b1:9092/orders"}
    assert {each.conflicts for each in timeline(graph.reader, job="copy").intervals} == {0}
    (bar,) = overview(graph.reader, job="copy", bars=1).bars
    assert (bar.batches, bar.conflicts, bar.broken) == (5, 0, 0)
    notice = "kafka://b1:9092,b2:9092/orders and kafka://b1:9092/orders are names of one dataset."
    for offset, batch in ((100, 0), (1_000, 3)):
        for asked in ("kafka://b1:9092/orders", "kafka://b1:9092,b2:9092/orders"):
            found = trace(graph.reader, Offsets(asked, 0, offset, offset + 1), depth=None)
            (hop,) = found.hops
            assert (hop.step.kind, hop.step.first_batch, hop.certainty) == (
                StepKind.MICRO_BATCHES,
                batch,
                Certainty.EXACT,
            )
            assert [part.files for part in hop.outputs] == [(f"file:/out/part-{batch}",)]
            assert found.notes == (notice,)
    beyond = trace(graph.reader, Offsets("orders", 0, 5_000, 5_001), depth=None)
    assert any("latest known micro-batch (4) ends at offset 1500" in note for note in beyond.notes)
    back = trace(graph.reader, Path("file:/out/part-0"), direction=TraceDirection.BACKWARD, depth=None)
    (made,) = back.hops
    assert (made.step.first_batch, [part.dataset.spelling for part in made.inputs]) == (0, ["kafka://b1:9092/orders"])
    (item,) = graph.lineage("orders", LineageDirection.DOWNSTREAM).items
    assert (item.asset.name, [via.job.name for via in item.via], item.via_total) == ("/out", ["copy"], 1)
    assert broken_chains(graph.reader) == []


def test_a_gap_between_two_spellings_of_a_topic_is_found(graph: Graph) -> None:
    graph.of(*respelled(again=1_000))
    (gap,) = [each for each in intervals(graph.reader, job="copy").items if each.gaps]
    assert (gap.batch_id, [(joint.start, joint.end) for joint in gap.gaps]) == (3, [(900, 1_000)])
    assert broken_chains(graph.reader) == ["Query copy is broken in 1 places: 1 partitions with a gap."]


@pytest.mark.nightly
def test_a_checkpoint_that_was_set_back_is_one_under_any_spelling(graph: Graph) -> None:
    again = Stream("copy", [Entry(2, (offsets(HERE, 600, 700),), (files_use("/out", ["part-2"]),), run=2, emitted=2)])
    graph.of(*respelled(), *again.events())
    found = {each.batch_id: each.conflicts for each in intervals(graph.reader, job="copy").items}
    assert found == {0: 0, 1: 0, 2: 1, 3: 0, 4: 0}
    steps = [hop.step.kind for hop in trace(graph.reader, Offsets("orders", 0, 650, 651), depth=None).hops]
    assert steps.count(StepKind.CONFLICT) == 1


def broken_chains(reader: Reader) -> list[str]:
    (rule,) = check(reader, BEGIN + timedelta(days=9), rules=[rule_named("broken-chains")]).rules
    return [finding.message for finding in rule.findings]


def test_runs_timeline_diff_and_search_are_of_all_names(graph: Graph) -> None:
    graph.of(*one_topic())
    assert runs(graph.reader, dataset="kafka://b1:9092/orders").total == 1
    assert {run.run_id for run in timeline(graph.reader, dataset="orders").runs} == {"make 0", "take 10"}
    compared = diff(graph.reader, Point(time=BEGIN), Point(time=BEGIN + timedelta(days=1)), dataset="orders")
    assert [job.name for job in compared.jobs] == ["make"]
    assert [hit.asset.spelling for hit in search(graph.reader, "orders").items] == ["kafka://b1:9092/orders"]


def test_a_declared_name_is_shown(graph: Graph) -> None:
    graph.of(*one_topic(), *topic(DECLARED))
    assert graph.name("kafka://b1:9092/orders") == "kafka://shop/orders"
    assert graph.down("/in") == {"orders", "/out"}
    assert graph.lineage("/out", LineageDirection.UPSTREAM).items[0].asset.spelling == "kafka://shop/orders"
    key = dataset_key("default", *("kafka://shop", "orders"))
    known = graph.reader.read(lambda tx: Identities.of(tx).known_as(key))
    assert known == (
        "kafka://MkU3OEVBNTcwNTJENDM2Qk/orders",
        "kafka://b1:9092,b2:9092/orders",
        "kafka://b1:9092/orders",
    )
    assert graph.lineage("/out", LineageDirection.UPSTREAM).known_as == ()
    assert graph.lineage("orders", LineageDirection.UPSTREAM).known_as == known


def column_plan(job: str, source: tuple[DatasetRef, str], target: tuple[DatasetRef, str]) -> LineageEvent:
    plan = column_lineage((source[1], target[1]), source=source[0], target=target[0])
    return build.lineage_event(plan, job=JobRef("jobs", job), producer="test", event_time=BEGIN)


@pytest.mark.parametrize("path", first_in_gate(1, ["value", "Value"]))
def test_columns_go_on_under_another_name(graph: Graph, path: str) -> None:
    """Columns keep their lineage under the dataset's other name, in whatever case the other engine writes them."""
    schema = SchemaDefinition((SchemaField(path="value", type="string"),))
    made = column_plan("make", (file("/in"), "a"), (THERE, "value"))
    taken = column_plan("take", (HERE, path), (file("/out"), "b"))
    graph.of(
        *topic(HERE, THERE),
        dataset_event(DatasetEvent(dataset=THERE, schema=schema), 1),
        made,
        taken,
        one("make", file("/in"), offsets(THERE, 0, 10), 0, made),
        one("take", offsets(HERE, 0, 10), file("/out"), 10, taken),
    )
    for asked in ("kafka://b1:9092/orders", "kafka://b1:9092,b2:9092/orders"):
        assert [item.asset.column for item in graph.lineage(asked, LineageDirection.DOWNSTREAM, "value").items] == ["b"]
        assert [item.asset.column for item in graph.lineage(asked, LineageDirection.UPSTREAM, "value").items] == ["a"]
    assert [item.asset.column for item in graph.lineage("/in#a", LineageDirection.DOWNSTREAM).items] == [path, "b"]
    assert graph.reader.read(lambda tx: resolve_column(tx, "orders", "value")).asset.namespace == "kafka://b1:9092"
    hit = analyze(graph.reader, ImpactChange("/in", column="a", schema=SchemaChange.REMOVED))
    found = {item.asset.spelling for item in hit.items}
    assert {f"kafka://b1:9092/orders#{path}", "file:/out#b"} <= found
    assert not any("b2:9092" in spelled for spelled in found)


@pytest.mark.nightly
@pytest.mark.parametrize("first", [HERE, THERE])
def test_what_a_job_does_under_another_name_it_still_does(graph: Graph, first: DatasetRef) -> None:
    second = THERE if first is HERE else HERE
    before = column_plan("take", (first, "value"), (file("/out"), "b"))
    now = column_plan("take", (second, "value"), (file("/out"), "b"))
    graph.of(
        *topic(HERE, THERE),
        before,
        now,
        one("take", offsets(first, 0, 10), file("/out"), 0, before),
        one("take", offsets(second, 10, 20), file("/out"), 10, now),
    )
    question = PrivacyQuestion("orders", column="value", as_=Sensitivity.PII)
    (item,) = privacy(graph.reader, question, BEGIN.date()).items
    assert (item.asset.column, item.former) == ("b", False)


def test_names_of_catalogs_and_paths_find_the_table(graph: Graph) -> None:
    graph.of(table("/w/t", "db.t"), one("make", file("/in"), file("/w/t"), 0))
    for asked in ("db.t", "spark_catalog.db.t", "lake.db.t", "file:/w/db.t", "/w/t", "file:/w/t", "file:///w/t", "t"):
        assert graph.name(asked) == "file:/w/t"
        assert graph.up(asked) == {"/in"}
    assert [hit.asset.spelling for hit in search(graph.reader, "db.t").items] == ["file:/w/t"]


@pytest.mark.nightly
def test_what_a_catalog_calls_a_table_is_shown_beside_its_path(
    graph: Graph, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    graph.of(
        table("/w/t", "db.t"),
        one("make", file("/in"), file("/w/t"), 0),
        one("take", file("/w/t"), file("/out"), 10),
    )
    (item,) = graph.lineage("/in", LineageDirection.DOWNSTREAM, depth=1).items
    assert item.asset == graph.reader.read(lambda tx: resolve_dataset(tx, "db.t")).asset
    assert item.asset.table == "db.t"
    assert [hit.asset.table for hit in search(graph.reader, "db.t").items] == ["db.t"]
    assert [use.dataset.table for use in job_details(graph.reader, "take").inputs] == ["db.t"]
    assert {node.asset.table for node in draw(graph.reader, "/in", depth=2).nodes} == {"db.t", None}
    hit = analyze(graph.reader, ImpactChange("/in", type=ChangeType.DATA_INCORRECT))
    assert {each.asset.table for each in hit.items} == {"db.t", None}
    for command in (
        ["downstream", "/in"],
        ["upstream", "/out"],
        ["show", "db.t"],
        ["search", "db.t"],
        ["show", "take"],
    ):
        assert main(command) == 0
        assert "file:/w/t (db.t)" in capsys.readouterr().out, command


def test_the_name_of_the_only_table_that_has_it_is_found_from_either_side(graph: Graph) -> None:
    named, called = DatasetRef("file", "/w/flights"), DatasetRef("file:/w", "db.flights")
    graph.of(
        table("/w/flights", "db.flights"),
        one("load", file("/in"), called, 0),
        one("use", named, file("/out"), 10),
        table("/w/alone", "db.alone"),
    )
    for asked in ("/w/flights", "db.flights"):
        known = dataset_details(graph.reader, asked)
        assert [use.job.name for use in known.producers] == ["load"]
        assert [use.job.name for use in known.consumers] == ["use"]
        assert len({known.dataset.spelling, *known.known_as}) == 2
    assert dataset_details(graph.reader, "db.alone").known_as == ("file:/w/db.alone",)


def test_openlineage_events_about_a_path_and_about_its_catalogs_name_are_about_one_table(graph: Graph) -> None:
    path, called = ol_dataset("/w/flights", "file"), ol_dataset("db.flights", "file:/w")
    symlinks = ol_facet(identifiers=[{**called, "type": "TABLE"}])
    documents = [
        ol_run("COMPLETE", "05:10:00", outputs=[called], job="load"),
        ol_run("COMPLETE", "05:20:00", inputs=[path], outputs=[ol_dataset("/out", "file")], job="use", number=2),
        # The link comes last.
        ol_run("COMPLETE", "05:30:00", inputs=[{**path, "facets": {"symlinks": symlinks}}], job="look", number=3),
    ]
    graph.of(*(event for document in documents for event in events_of(document, tenant=DEFAULT_TENANT)))
    for asked in ("/w/flights", "db.flights"):
        known = dataset_details(graph.reader, asked)
        assert [use.job.name for use in known.producers] == ["load"]
        assert sorted(use.job.name for use in known.consumers) == ["look", "use"]


def test_a_dataset_that_is_there_goes_before_one_that_was_dropped(graph: Graph) -> None:
    gone = LifecycleChange.DROP
    graph.of(
        table("/w/t", "db.t", 5, LifecycleChange.CREATE),
        dataset_event(DatasetEvent(dataset=DatasetRef("file:/w", "db.t"), type="TABLE", lifecycle=gone), 1),
        table("/old/other", "db.other", 0),
        table("/old/other", "db.other", 1, gone),
        table("/new/other", "db.other", 2, LifecycleChange.CREATE),
        dataset_event(DatasetEvent(dataset=file("/a/same"), lifecycle=gone)),
        dataset_event(DatasetEvent(dataset=file("/b/same"))),
        dataset_event(DatasetEvent(dataset=file("/a/both"))),
        dataset_event(DatasetEvent(dataset=file("/b/both"))),
    )
    for asked, found in (("db.t", "file:/w/t"), ("db.other", "file:/new/other"), ("same", "file:/b/same")):
        assert graph.name(asked) == found
    assert graph.name("file:/w/db.t") == "file:/w/t"
    assert graph.name("/old/other") == "file:/old/other", "another table, of the same name before"
    with pytest.raises(AmbiguousError):
        graph.name("both")


def test_a_rename_cuts_nothing(graph: Graph) -> None:
    graph.of(
        one("make", file("/in"), file("/w/a"), 0),
        renamed("/w/a", "/w/b", 20),
        one("take", file("/w/b"), file("/out"), 30),
    )
    for asked in ("/w/a", "/w/b"):
        assert graph.name(asked) == "file:/w/b"
        assert (graph.up(asked), graph.down(asked)) == ({"/in"}, {"/out"})
    assert graph.up("/out") == {"/w/b", "/in"}
    assert graph.down("/in") == {"/w/b", "/out"}
    hit = analyze(graph.reader, ImpactChange("/in", type=ChangeType.DATA_INCORRECT))
    assert {item.asset.name for item in hit.items} == {"/w/b", "/out"}
    tainted = blast(graph.reader, BadRun("make 0"), depth=None).tainted
    assert [(each.dataset.name, bool(each.parts)) for each in tainted] == [("/w/b", True), ("/out", True)]
    assert [part.kind for each in tainted for part in each.parts] == [PartKind.UNKNOWN] * 2


@pytest.mark.parametrize("asked", first_in_gate(1, ["/w/a", "/w/b"]))
def test_a_trace_goes_on_across_a_rename(graph: Graph, asked: str) -> None:
    graph.of(
        one("make", file("/in"), version(file("/w/a"), 1), 0),
        renamed("/w/a", "/w/b", 20),
        one("take", version(file("/w/b"), 1), version(file("/mid"), 3), 30),
        renamed("/mid", "/middle", 35),
        one("last", version(file("/middle"), 3), file("/out"), 40),
    )
    forward = trace(graph.reader, VersionOf(asked, "1"), depth=None)
    assert [part.dataset.name for hop in forward.hops for part in hop.outputs] == ["/middle", "/out"]
    back = trace(graph.reader, VersionOf("/middle", "3"), direction=TraceDirection.BACKWARD, depth=None)
    assert [part.dataset.name for hop in back.hops for part in hop.inputs] == ["/w/b", "/in"]


def reading(**consumers: str) -> list[LineageEvent]:
    """A set that declares which path each consumer reads."""
    bodies: list[Any] = [
        DeclarationEvent(set="s", consumer=name, reads=(DatasetRead(file(path)),)) for name, path in consumers.items()
    ]
    items = tuple(sorted(declaration_digest(body) for body in bodies))
    bodies.append(DeclarationSetEvent(set="s", revision=1, items=items))
    return [build.lineage_event(body, producer="test", event_time=BEGIN) for body in bodies]


@pytest.mark.nightly
def test_consumers_of_an_older_name_are_notified(graph: Graph) -> None:
    graph.of(
        one("make", file("/in"), file("/w/a"), 0),
        renamed("/w/a", "/w/b", 20),
        one("take", file("/w/b"), file("/out"), 30),
        *reading(old="/w/a", new="/w/b", last="/out", other="/elsewhere"),
    )
    notified = ["last", "new", "old"]
    for asked in ("/in", "/w/a", "/w/b"):
        impact = analyze(graph.reader, ImpactChange(asked, type=ChangeType.DATA_INCORRECT))
        assert [each.name for each in impact.consumers] == notified
        assert [each.name for each in graph.lineage(asked, LineageDirection.DOWNSTREAM).consumers] == notified
    assert [each.name for each in blast(graph.reader, BadRun("make 0"), depth=None).consumers] == notified


@pytest.mark.nightly
def test_a_name_that_is_used_again_is_another_dataset(graph: Graph) -> None:
    graph.of(
        one("make", file("/in"), file("/w/a"), 0),
        renamed("/w/a", "/w/b", 20),
        table("/w/a", at=25, change=LifecycleChange.CREATE),
        one("anew", file("/new"), file("/w/a"), 30),
        one("take", file("/w/b"), file("/out"), 40),
        one("use", file("/w/a"), file("/use"), 50),
    )
    assert (graph.name("/w/a"), graph.name("/w/b")) == ("file:/w/a", "file:/w/b")
    assert graph.up("/w/b") == {"/in"}
    assert graph.down("/w/b") == {"/out"}
    assert graph.down("/w/a") == {"/use"}
    assert graph.up("/out") == {"/w/b", "/in"}
    assert graph.down("/new") == {"/w/a", "/use"}


def test_renamed_there_and_back(graph: Graph) -> None:
    graph.of(
        one("make", file("/in"), file("/w/a"), 0),
        renamed("/w/a", "/w/b", 20),
        one("take", file("/w/b"), file("/out"), 30),
        renamed("/w/b", "/w/a", 40),
    )
    for asked in ("/w/a", "/w/b"):
        assert graph.name(asked) == "file:/w/a"
        assert (graph.up(asked), graph.down(asked)) == ({"/in"}, {"/out"})


def test_where_there_are_no_other_names_that_is_known_without_a_look_at_the_graph(graph: Graph) -> None:
    graph.of(one("make", file("/in"), file("/w/a"), 0))
    found = operators(graph.driver, statement("service/graph"))
    assert {"NodeCountFromCountStore", "RelationshipCountFromCountStore"} <= set(found)
    assert not scans(found)
