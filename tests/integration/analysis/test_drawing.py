"""Graph around a dataset: at a time, with columns of some datasets, of a hub, and with the status of each dataset."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.dataset_status import CheckOutcome, DatasetStatus
from headwater_analysis.drawing import ColumnScope, Drawing, DrawnNode, Reach, draw
from headwater_analysis.errors import QuestionError
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    JobRef,
    LifecycleChange,
    QualityResult,
    RunEventType,
    SchemaDefinition,
    SchemaField,
    TransformationKind,
    TransformationType,
)
from support.graph.estate import DAY, LOAD, ORDERS, OTHER, READ, REPORT, Estate, lineage
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


@pytest.fixture
def estate(clean_database: Driver, reader: Reader) -> Estate:
    return Estate(clean_database, reader)


def written(estate: Estate) -> Reader:
    store(estate.driver, estate.events)
    return estate.reader


def names(drawn: Drawing) -> list[str]:
    return [node.asset.name for node in drawn.nodes]


def node_of(drawn: Drawing, dataset: DatasetRef) -> DrawnNode:
    return next(node for node in drawn.nodes if node.asset.name == dataset.name)


def schema_of(estate: Estate, dataset: DatasetRef, day: int, *columns: str) -> None:
    fields = tuple(SchemaField(path=name, type="string") for name in columns)
    estate.add(DatasetEvent(dataset=dataset, schema=SchemaDefinition(fields=fields)), DAY + timedelta(days=day))


def test_as_of_a_time(estate: Estate) -> None:
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS], day=1)
    estate.ran(READ, reads=[ORDERS], writes=[REPORT], day=5)
    schema_of(estate, ORDERS, 2, "id", "total")
    schema_of(estate, ORDERS, 6, "id", "amount")
    reader = written(estate)
    now = draw(reader, "orders", columns=ColumnScope.START)
    assert names(now)[0] == "orders"
    assert sorted(names(now)) == ["orders", "other", "report"]
    assert [column.name for column in now.nodes[0].columns] == ["id", "amount"]
    then = draw(reader, "orders", as_of=DAY + timedelta(days=3), columns=ColumnScope.START)
    assert names(then) == ["orders", "other"]
    (edge,) = then.edges
    assert [via.job.name for via in edge.via] == ["load"]
    assert [column.name for column in then.nodes[0].columns] == ["id", "total"]
    assert then.nodes[0].columns[0] == now.nodes[0].columns[0]
    assert (then.nodes[0].upstream_total, then.nodes[0].downstream_total, then.nodes[0].more_downstream) == (1, 0, 0)
    assert (now.nodes[0].upstream_total, now.nodes[0].downstream_total) == (1, 1)
    assert (then.metadata.as_of, then.metadata.columns) == (DAY + timedelta(days=3), ColumnScope.START)
    assert {node.status for node in then.nodes} == {None}
    before = draw(reader, "orders", as_of=DAY)
    assert (names(before), before.edges) == (["orders"], ())
    early = draw(reader, "orders", as_of=DAY + timedelta(days=1, hours=1), columns=ColumnScope.ALL)
    assert [node.columns_total for node in early.nodes] == [0, 0]
    with pytest.raises(QuestionError):
        draw(reader, "orders", as_of=DAY.replace(tzinfo=None))


def test_columns_of_no_dataset_of_the_start_or_of_all(estate: Estate) -> None:
    estate.ran(READ, reads=[ORDERS], writes=[REPORT], plan=lineage(("id", "key")))
    schema_of(estate, ORDERS, 0, "id")
    schema_of(estate, REPORT, 0, "key")
    reader = written(estate)
    totals = {
        scope: (
            [node.columns_total for node in drawn.nodes],
            [(edge.columns_total, len(edge.columns)) for edge in drawn.edges],
        )
        for scope in ColumnScope
        for drawn in [draw(reader, "orders", columns=scope)]
    }
    assert totals == {
        ColumnScope.NONE: ([None, None], [(None, 0)]),
        ColumnScope.START: ([1, None], [(None, 0)]),
        ColumnScope.ALL: ([1, 1], [(1, 1)]),
    }


def test_of_a_hub_the_most_critical_and_most_used_readers_are_drawn(estate: Estate) -> None:
    readers = [DatasetRef("n", f"reader_{n:02}") for n in range(20)]
    for n, each in enumerate(readers):
        estate.ran(JobRef("f", f"job_{n:02}"), reads=[ORDERS], writes=[each])
    for n in range(3):
        estate.ran(JobRef("f", f"more_{n}"), reads=[readers[7]], writes=[DatasetRef("n", f"leaf_{n}")])
    estate.ran(JobRef("f", "one"), reads=[readers[9]], writes=[REPORT])
    estate.add(DatasetEvent(dataset=readers[3], criticality="tier-2"))
    estate.add(DatasetEvent(dataset=readers[5], criticality="Critical"))
    reader = written(estate)
    drawn = {limit: draw(reader, "orders", limit=limit, depth=2) for limit in (1, 2, 3, 4, 5)}
    expected = ["reader_05", "reader_03", "reader_07", "reader_09"]
    for limit, found in drawn.items():
        assert set(names(found)) == {"orders", *expected[: limit - 1]}
        assert found.metadata.truncated
        assert found.metadata.nodes_total == 25
        hub = found.nodes[0]
        assert (hub.downstream_total, hub.more_downstream) == (20, 20 - (limit - 1))
    whole = draw(reader, "orders", limit=22, depth=2)
    assert {node.hops for node in whole.nodes} == {0, 1, 2}
    assert names(whole) == names(draw(reader, "orders", limit=22, depth=2))


def test_the_status_of_each_dataset(estate: Estate) -> None:
    passed, failed = (QualityResult(assertion="not_null", passed=passed) for passed in (True, False))
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS], day=1, quality=[failed])
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS], day=2, quality=[passed])
    estate.ran(READ, reads=[ORDERS], writes=[REPORT], day=3, quality=[failed])
    estate.ran(READ, reads=[ORDERS], writes=[REPORT], day=4, kind=RunEventType.FAIL)
    estate.batch(0, start=0, end=5, writes=DatasetRef("n", "stream"), job=JobRef("f", "streaming"))
    reader = written(estate)
    drawn = draw(reader, "other", depth=None)
    assert node_of(drawn, OTHER).status == DatasetStatus(None, None)
    orders, report = (node_of(drawn, each).status for each in (ORDERS, REPORT))
    stream = node_of(drawn, DatasetRef("n", "stream")).status
    assert orders is not None
    assert orders.last_run is not None
    assert (orders.last_run.run_id, orders.last_run.state, orders.quality) == (
        "load-2",
        RunEventType.COMPLETE,
        CheckOutcome.PASSED,
    )
    assert orders.last_run.at == DAY + timedelta(days=2, minutes=1)
    assert report is not None
    assert report.last_run is not None
    assert (report.last_run.run_id, report.last_run.state, report.quality) == (
        "read-4",
        RunEventType.FAIL,
        CheckOutcome.FAILED,
    )
    assert stream is not None
    assert stream.last_run is not None
    assert stream.last_run.run_id == "stream-1"


def test_a_former_name_that_another_dataset_has_now(estate: Estate) -> None:
    """Writes under the name until the RENAME are the renamed dataset's; later ones aren't drawn for it."""
    plan = ColumnLineage(
        datasets=(OTHER, ORDERS),
        edges=(
            ColumnEdge(
                output=1,
                output_field="id",
                input=0,
                input_field="id",
                type=TransformationType.DIRECT,
                kind=TransformationKind.COPY,
            ),
        ),
    )
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS], day=1, plan=plan)
    moved = DatasetEvent(dataset=REPORT, lifecycle=LifecycleChange.RENAME, previous=ORDERS)
    estate.add(moved, DAY + timedelta(days=2))
    estate.ran(JobRef("f", "again"), reads=[OTHER], writes=[ORDERS], day=3)
    estate.ran(JobRef("f", "copy"), reads=[REPORT], writes=[ORDERS], day=4)
    reader = written(estate)
    for columns in ColumnScope:
        up = draw(reader, "report", direction=Reach.UPSTREAM, columns=columns)
        assert sorted(names(up)) == ["other", "report"]
        assert [(edge.via_total, edge.via[0].job.name) for edge in up.edges] == [(1, "load")]
    both = draw(reader, "report", depth=None)
    assert sorted(names(both)) == ["orders", "other", "report"]
    assert {node.asset.name: (node.upstream_total, node.downstream_total) for node in both.nodes} == {
        "other": (0, 2),
        "orders": (2, 0),
        "report": (1, 1),
    }
