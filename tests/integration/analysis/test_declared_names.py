"""What declarations name, as people read it; and what sets declare of one dataset by several names."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from headwater.show import known as show
from headwater.show.names import via_text
from headwater_consumers.analysis.known import job_details
from headwater_consumers.analysis.lineage import LineageDirection, LineageQuestion, lineage
from headwater_consumers.analysis.lineage.answer import DeclaredPartitions
from headwater_consumers.analysis.reader import Reader
from headwater_consumers.declaring.difference import ChangedValue, SetResult
from headwater_consumers.declaring.reading import read_set
from headwater_consumers.declaring.revising import next_revision, result
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.write import GraphWriter
from headwater_schemas.events import DatasetRead, DatasetRef, DeclarationEvent, JobRef, Owner, PartitionMapping
from support.graph.estate import LOAD, NOW, ORDERS, OTHER, REPORT, Estate

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


@pytest.fixture
def estate(clean_database: Driver, reader: Reader) -> Estate:
    return Estate(clean_database, reader)


def write(estate: Estate) -> None:
    writer = GraphWriter(estate.driver, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(estate.events))
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


def test_sets_that_contradict_each_other_by_two_names_of_a_dataset(estate: Estate) -> None:
    estate.called(ORDERS, "shop.orders")
    estate.declared(DeclarationEvent(set="a", dataset=ORDERS, owners=(Owner("x"),)))
    write(estate)
    text = "set: b\nnamespace: hive://metastore:9083\ndatasets: [{{name: shop.orders, owners: [{}]}}]"
    assert declared(estate, text.format("x")).contradictions == []
    (found,) = declared(estate, text.format("y")).contradictions
    assert (found.property, found.values) == ("owners", {"a": ["x"], "b": ["y"]})


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
