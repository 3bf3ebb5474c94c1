"""Names in declarations, as people read them; and declarations of one dataset by several names."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from headwater.commands import show
from headwater.show.names import via_text
from headwater_analysis.declaring.difference import ChangedValue, SetResult
from headwater_analysis.declaring.reading import read_set
from headwater_analysis.declaring.revising import next_revision, result
from headwater_analysis.known import datasets, job_details
from headwater_analysis.lineage import LineageDirection, LineageQuestion, lineage
from headwater_analysis.lineage.hops import DeclaredPartitions
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    JobRef,
    Owner,
    PartitionMapping,
    Tag,
)
from support.graph.estate import LOAD, NOW, ORDERS, OTHER, REPORT, Estate
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


@pytest.fixture
def estate(clean_database: Driver, reader: Reader) -> Estate:
    return Estate(clean_database, reader)


def write(estate: Estate) -> None:
    store(estate.driver, estate.events)
    estate.events.clear()


def declared(estate: Estate, text: str) -> SetResult:
    revision = next_revision(estate.reader, read_set("f.yaml", text), now=NOW)
    return result(estate.reader, revision, published=False, in_graph=False)


def test_what_a_job_and_a_consumer_name(estate: Estate) -> None:
    mapping = PartitionMapping(
        input=ORDERS, output=REPORT, input_field="day", output_field="month", transform="month of"
    )
    estate.declared(
        DeclarationEvent(set="s", job=LOAD, inputs=(ORDERS, OTHER), outputs=(REPORT,), partitions=(mapping,)),
        DeclarationEvent(set="s", consumer="board", reads=(DatasetRead(ORDERS), DatasetRead(REPORT, ("a", "b")))),
    )
    write(estate)
    text = "set: s\nnamespace: n\njobs: [{name: load, namespace: f, inputs: [orders], outputs: [report, other]}]\n"
    board, load = declared(estate, f"{text}consumers: [{{name: board, reads: [report]}}]").changes
    assert board.values == [ChangedValue(None, "reads", ["n/orders", "n/report#a", "n/report#b"], ["n/report"])]
    assert load.values == [
        ChangedValue(None, "inputs", ["n/orders", "n/other"], ["n/orders"]),
        ChangedValue(None, "outputs", ["n/report"], ["n/other", "n/report"]),
        ChangedValue(None, "partitions", ["n/orders#day → n/report#month (month of)"], None),
    ]
    (item,) = lineage(estate.reader, LineageQuestion("n/orders", LineageDirection.DOWNSTREAM)).items
    assert item.via[0].partitions == (DeclaredPartitions("day", "month", "month of"),)
    assert via_text(item.via[0]) == "load (declared, day → month: month of)"
    out = io.StringIO()
    Console(file=out, width=200).print(show.view(job_details(estate.reader, "load")))
    assert "n/orders#day → n/report#month (month of)" in out.getvalue()


def test_edges_of_column_lineage_that_come_and_go(estate: Estate) -> None:
    text = (
        "set: s\nnamespace: n\njobs: [{name: load, namespace: f, columns: [{dataset: report, column: x, inputs: [%s]},"
    )
    text += "{dataset: report, inputs: [{dataset: orders, column: k, kind: FILTER_DEPENDENCY}]}]}]"
    before = read_set("f.yaml", text % "{dataset: orders, column: a}, {dataset: orders, kind: COPY}")
    for event in before.events(1, tenant="default", event_time=NOW):
        estate.events.append(event)
    write(estate)
    (load,) = declared(
        estate, text % "{dataset: orders, column: a, masking: true}, {dataset: orders, kind: COPY}"
    ).changes
    assert load.values == [
        ChangedValue(
            None,
            "column_lineage",
            ["n/report#x ← n/orders#a (DERIVE)"],
            ["n/report#x ← n/orders#a (DERIVE, masked)"],
        )
    ]
    (load,) = declared(estate, "set: s\njobs: [{name: load, namespace: f}]").changes
    gone = ["n/report ← n/orders#k (FILTER_DEPENDENCY)", "n/report#x ← n/orders (COPY)"]
    assert load.values[-1] == ChangedValue(None, "column_lineage", [*gone, "n/report#x ← n/orders#a (DERIVE)"], [])


def test_names_that_others_spell_otherwise(estate: Estate) -> None:
    lake, own = DatasetRef("s3://lake", "shop/orders"), DatasetRef("postgres://db", "shop.orders")
    estate.ran(LOAD, reads=[own], writes=[lake])
    write(estate)
    text = "set: s\nnamespace: s3a://lake\ndatasets: [{name: /shop/orders, owners: [x]}]\n"
    text += "jobs: [{name: j, namespace: f, inputs: [shop/orders, {namespace: 'postgres://db', name: shop.orders}],"
    text += " columns: [{dataset: {namespace: 'postgresql://DB', name: a.b}, inputs: [{dataset: shop/orders}]}]}]\n"
    text += "consumers: [{name: board, reads: [shop/orders]}]"
    revision = next_revision(estate.reader, read_set("f.yaml", text), now=NOW)
    named = {body.consumer or body.job or body.dataset: body for body in revision.declared.declarations.values()}
    assert named[lake].owners == (Owner("x"),)
    job = named[JobRef("f", "j")]
    # What the graph has stays as it is.
    assert job.inputs == (own, lake)
    assert job.lineage is not None
    assert job.lineage.datasets == (DatasetRef("postgres://db:5432", "a.b"), lake)
    assert named["board"].reads == (DatasetRead(lake),)
    assert revision.unknown == ["postgres://db:5432 a.b"]
    lines = revision.declared.lines or {}
    assert sorted(lines) == sorted(revision.declared.declarations)
    # Two names that would become one dataset are two, and reported.
    twice = "set: s\ndatasets: [{name: o, namespace: s3a://lake}, {name: o, namespace: s3://lake}]"
    assert next_revision(estate.reader, read_set("f.yaml", twice), now=NOW).unknown == ["s3://lake o", "s3a://lake o"]


def test_lists_have_what_is_declared_by_any_name(estate: Estate) -> None:
    table = estate.called(ORDERS, "shop.orders")
    columns = (DeclaredColumn(path="a", tags=(Tag(key="pii", value="yes"),)),)
    tier: dict[str, Any] = {"criticality": "tier-1", "classification": "sales"}
    estate.declared(DeclarationEvent(set="s", dataset=table, owners=(Owner("team:x"),), columns=columns, **tier))
    estate.add(DatasetEvent(dataset=OTHER, owners=(Owner("team:y"),), tags=(Tag(key="gold"),)))
    write(estate)
    wanted: list[dict[str, Any]] = [
        {"owner": "team:x"},
        {"tag": "pii"},
        {"tag": "pii=yes"},
        {"owner": "team:x", "tag": "pii"},
    ]
    for filters in wanted:
        found = datasets(estate.reader, **filters)
        assert (found.total, {each.asset.spelling for each in found.items}) == (
            2,
            {"n/orders", "hive://metastore:9083/shop.orders"},
        ), filters
        for each in found.items:
            assert [owner.name for owner in each.owners] == ["team:x"]
            assert [(tag.key, tag.value, tag.column) for tag in each.tags] == [("pii", "yes", "a")]
            assert (each.criticality, each.classification) == ("tier-1", "sales")
    assert datasets(estate.reader, owner="team:x", tag="gold").total == 0
    # What events report of one name is of the other, too.
    estate.add(DatasetEvent(dataset=ORDERS, owners=(Owner("ann"),)))
    write(estate)
    (first,) = datasets(estate.reader, owner="ann", limit=1).items
    page = datasets(estate.reader, owner="ann", limit=1)
    (second,) = datasets(estate.reader, owner="ann", limit=1, cursor=page.next_cursor).items
    assert {owner.name for each in (first, second) for owner in each.owners} == {"ann", "team:x"}
    assert (page.total, first.asset != second.asset) == (2, True)


def test_sets_that_contradict_each_other_by_two_names_of_a_dataset(estate: Estate) -> None:
    estate.called(ORDERS, "shop.orders")
    estate.declared(DeclarationEvent(set="a", dataset=ORDERS, owners=(Owner("x"),)))
    write(estate)
    text = "set: b\nnamespace: hive://metastore:9083\ndatasets: [{{name: shop.orders, owners: [{}]}}]"
    assert declared(estate, text.format("x")).contradictions == []
    (found,) = declared(estate, text.format("y")).contradictions
    assert (found.property, found.values) == ("owners", {"a": ["x"], "b": ["y"]})
    # One set may contradict itself, by two names.
    twice = "set: b\ndatasets: [{{name: orders, namespace: n, owners: [x]}},"
    twice += "{{name: shop.orders, namespace: 'hive://metastore:9083', owners: [{}]}}]"
    assert declared(estate, twice.format("x")).contradictions == []
    (found,) = declared(estate, twice.format("y")).contradictions
    assert (found.name, found.property, found.values) == (
        "orders",
        "owners",
        {"a": ["x"], "b (hive://metastore:9083/shop.orders)": ["y"], "b (n/orders)": ["x"]},
    )


def test_a_job_and_a_consumer_that_two_sets_declare_by_two_names_of_a_dataset(estate: Estate) -> None:
    table = estate.called(ORDERS, "shop.orders")
    mapping = PartitionMapping(input=table, output=REPORT, input_field="day", output_field="month", transform="month")
    estate.declared(
        DeclarationEvent(set="a", job=LOAD, inputs=(table,), outputs=(REPORT,), partitions=(mapping,)),
        DeclarationEvent(set="a", consumer="board", reads=(DatasetRead(table, ("x",)),)),
    )
    write(estate)
    text = "set: b\nnamespace: n\njobs:\n- {{name: load, namespace: f, inputs: [{}], outputs: [report],"
    text += (
        " partitions: [{{input: orders, input_field: day, output: report, output_field: month, transform: month}}]}}"
    )
    assert declared(estate, text.format("orders")).contradictions == []
    (found,) = declared(estate, text.format("orders, other")).contradictions
    assert (found.property, found.values) == ("inputs", {"a": ["n/orders"], "b": ["n/orders", "n/other"]})
    write(estate)
    (declared_job,) = [job_details(estate.reader, "load").declared]
    assert declared_job is not None
    assert declared_job.values["inputs"] == ["n/orders"]


def test_a_cycle_by_way_of_another_set_and_another_name(estate: Estate) -> None:
    table = estate.called(ORDERS, "shop.orders")
    lake = DatasetRef("n", "lake")
    estate.declared(
        DeclarationEvent(set="a", job=LOAD, inputs=(ORDERS,), outputs=(lake,)),
        DeclarationEvent(set="a", job=JobRef("f", "on"), inputs=(lake,), outputs=(REPORT,)),
    )
    write(estate)

    def cycles(source: str) -> list[list[str]]:
        job = f"{{name: k, namespace: f, inputs: [{{namespace: n, name: {source}}}], outputs: [shop.orders]}}"
        return declared(estate, f"set: b\nnamespace: {table.namespace}\njobs: [{job}]").cycles

    assert cycles("report") == [["n report", "n orders", "n lake", "n report"]]
    assert cycles("other") == []
