"""Graph around a dataset: at a time, with columns of some datasets, of a hub, and with the status of each dataset."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.dataset_status import CheckOutcome, DatasetStatus
from headwater_analysis.drawing import MOST_NODES, ColumnScope, Drawing, DrawnNode, Opened, Reach, draw
from headwater_analysis.drawing.chosen import MOST_OPENED
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    JobRef,
    LifecycleChange,
    QualityResult,
    RunEventType,
    SchemaDefinition,
    SchemaField,
)
from support.analysis.declared_graph import declare
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


def fed(estate: Estate, *hops: tuple[str, str], day: int = 0) -> None:
    """Hops between datasets, each made by a job of its own."""
    for source, target in hops:
        job = JobRef("f", f"{source}_to_{target}")
        estate.ran(job, reads=[DatasetRef("n", source)], writes=[DatasetRef("n", target)], day=day)


def opening(reader: Reader, side: str, *nodes: str) -> list[Opened]:
    keys = (draw(reader, f"n/{name}").start.key for name in nodes)
    return [Opened.parse(":".join([side, *keys]))]


def test_a_width_draws_the_most_important_neighbours_of_each_node(estate: Estate) -> None:
    fed(estate, *(("hub", f"reader_{n:02}") for n in range(20)), *((f"source_{n}", "hub") for n in range(3)))
    fed(estate, ("source_0", "aside"), ("source_1", "aside"))
    fed(estate, *(("reader_07", f"leaf_{n}") for n in range(4)), ("reader_09", "last"), ("first", "source_1"))
    estate.add(DatasetEvent(dataset=DatasetRef("n", "reader_05"), criticality="Critical"))
    reader = written(estate)
    one = draw(reader, "hub", width=2)
    assert names(one)[0] == "hub"
    assert sorted(names(one)[1:]) == ["reader_05", "reader_07", "source_0", "source_1"]
    assert (one.metadata.nodes_total, one.metadata.truncated) == (24, True)
    hub, used = node_of(one, DatasetRef("n", "hub")), node_of(one, DatasetRef("n", "reader_07"))
    assert (hub.more_upstream, hub.upstream_total) == (1, 3)
    assert (hub.more_downstream, hub.downstream_total) == (18, 20)
    assert (used.more_upstream, used.more_downstream, used.downstream_total) == (0, 4, 4)
    two = draw(reader, "hub", width=2, depth=2)
    below = {each for each in names(two) if each.startswith("leaf")}
    assert ({*names(two)} - {*names(one)}, len(below)) == ({*below, "first"}, 2)
    assert (two.metadata.nodes_total, two.metadata.max_hops) == (30, 2)
    assert {node.hops for node in two.nodes if node.asset.name in below} == {2}
    assert node_of(two, DatasetRef("n", "first")).hops == -2
    assert [abs(node.hops) for node in two.nodes] == sorted(abs(node.hops) for node in two.nodes)
    assert set(names(draw(reader, "hub", width=2, direction=Reach.UPSTREAM))) == {"hub", "source_0", "source_1"}
    few = draw(reader, "hub", width=2, depth=2, limit=4)
    assert len(few.nodes) == 4
    assert set(names(few)) <= set(names(one))
    whole, wide = (draw(reader, "hub", width=width, depth=None) for width in (None, 20))
    assert wide == whole
    assert not wide.metadata.truncated
    with pytest.raises(QuestionError) as refused:
        draw(reader, "hub", width=0)
    assert refused.value.field == "width"


def test_a_width_reaches_everything_beyond_a_dataset_on_both_sides(estate: Estate) -> None:
    fed(estate, ("one", "two"), ("two", "one"), ("two", "three"))
    reader = written(estate)
    assert names(draw(reader, "one", width=5, depth=None)) == ["one", "two", "three"]


def test_a_width_as_of_a_time(estate: Estate) -> None:
    fed(estate, ("hub", "b"), day=1)
    fed(estate, ("hub", "a"), ("a", "leaf"), day=5)
    reader = written(estate)
    assert names(draw(reader, "hub", width=1)) == ["hub", "a"]
    then = draw(reader, "hub", width=1, as_of=DAY + timedelta(days=3))
    assert (names(then), then.nodes[0].more_downstream, then.metadata.nodes_total) == (["hub", "b"], 0, 2)


def test_an_opened_side_adds_neighbours(estate: Estate) -> None:
    fed(estate, *(("hub", f"reader_{n:02}") for n in range(20)), ("reader_03", "leaf"), ("side", "reader_03"))
    reader = written(estate)
    whole = draw(reader, "hub")
    more = draw(reader, "hub", width=1, opening=opening(reader, "DOWNSTREAM", "hub"))
    others = sorted(
        (node for node in whole.nodes[1:] if node.asset.name != "reader_03"), key=lambda node: node.asset.key
    )
    assert set(names(more)) == {"hub", "reader_03", *(node.asset.name for node in others[:MOST_OPENED])}
    assert (more.nodes[0].more_downstream, more.metadata.nodes_total) == (20 - 1 - MOST_OPENED, 21)
    one = draw(reader, "hub", width=1, opening=opening(reader, "DOWNSTREAM", "hub", "reader_15"))
    assert sorted(names(one)) == ["hub", "reader_03", "reader_15"]
    assert [node.hops for node in one.nodes] == [0, 1, 1]
    beyond = draw(reader, "hub", width=1, opening=opening(reader, "DOWNSTREAM", "reader_03"))
    assert [(node.asset.name, node.hops) for node in beyond.nodes] == [("hub", 0), ("reader_03", 1), ("leaf", 2)]
    assert (beyond.metadata.nodes_total, beyond.metadata.max_hops, len(beyond.edges)) == (22, 2, 2)
    back = draw(reader, "hub", width=1, opening=opening(reader, "UPSTREAM", "reader_03"))
    assert [(node.asset.name, node.hops) for node in back.nodes] == [("hub", 0), ("side", 0), ("reader_03", 1)]
    both = [*opening(reader, "DOWNSTREAM", "reader_03"), *opening(reader, "upstream", "reader_03")]
    assert sorted(names(draw(reader, "hub", width=1, opening=both))) == ["hub", "leaf", "reader_03", "side"]
    full = draw(reader, "hub", width=1, limit=3, opening=opening(reader, "DOWNSTREAM", "hub"))
    assert {*names(full)} == {"hub", "reader_03", others[0].asset.name}


def test_an_opened_side_of_what_is_not_drawn_adds_nothing(estate: Estate) -> None:
    fed(estate, *(("hub", f"reader_{n:02}") for n in range(3)), ("reader_02", "leaf"))
    reader = written(estate)
    plain = draw(reader, "hub", depth=1)
    for nothing in (
        opening(reader, "DOWNSTREAM", "leaf"),
        opening(reader, "DOWNSTREAM", "hub", "leaf"),
        opening(reader, "UPSTREAM", "hub"),
        [Opened.parse("DOWNSTREAM:nothing")],
    ):
        assert draw(reader, "hub", depth=1, opening=nothing) == plain
    late = draw(reader, "hub", depth=1, as_of=DAY - timedelta(days=1), opening=opening(reader, "DOWNSTREAM", "hub"))
    assert names(late) == ["hub"]


@pytest.mark.parametrize("text", ["", "DOWNSTREAM", "DOWNSTREAM:", "BOTH:key", "DOWNSTREAM:a:", "DOWNSTREAM:a:b:c"])
def test_a_side_that_is_none(text: str) -> None:
    with pytest.raises(QuestionError) as refused:
        Opened.parse(text)
    assert refused.value.field == "open"


def test_only_the_paths_to_another_dataset(estate: Estate) -> None:
    fed(estate, ("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("d", "e"), ("b", "x"), ("y", "d"), ("z", "a"))
    fed(estate, ("alone", "other"))
    reader = written(estate)
    down = draw(reader, "n/a", to="n/d")
    assert {node.asset.name: node.hops for node in down.nodes} == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert len(down.edges) == 4
    assert (down.metadata.nodes_total, down.metadata.truncated) == (4, False)
    assert (node_of(down, DatasetRef("n", "b")).more_downstream, node_of(down, DatasetRef("n", "d")).more_upstream) == (
        1,
        1,
    )
    up = draw(reader, "n/d", to="n/a")
    assert {node.asset.name: node.hops for node in up.nodes} == {"d": 0, "b": -1, "c": -1, "a": -2}
    assert draw(reader, "n/d", to="n/a", direction=Reach.DOWNSTREAM).nodes == up.nodes
    for other in ("n/alone", "n/x", "n/a"):
        none = draw(reader, "n/y", to=other)
        assert (names(none), none.edges, none.metadata.nodes_total) == (["y"], (), 1)
    assert names(draw(reader, "n/a", to="n/a")) == ["a"]
    assert names(draw(reader, "n/a", to="n/d", as_of=DAY - timedelta(days=1))) == ["a"]
    narrow = draw(reader, "n/a", to="n/d", width=1)
    assert (len(narrow.nodes), narrow.metadata.nodes_total, narrow.metadata.truncated) == (3, 4, True)
    more = draw(reader, "n/a", to="n/d", opening=opening(reader, "DOWNSTREAM", "d"))
    assert sorted(names(more)) == ["a", "b", "c", "d", "e"]
    with pytest.raises(NotFoundError):
        draw(reader, "n/a", to="n/nothing")


@pytest.mark.parametrize("limit", [0, MOST_NODES + 1])
def test_limits_of_a_drawing(estate: Estate, limit: int) -> None:
    fed(estate, ("a", "b"))
    with pytest.raises(QuestionError) as refused:
        draw(written(estate), "n/a", limit=limit)
    assert refused.value.field == "limit"


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
    plan = lineage(("id", "id"), source=OTHER, target=ORDERS)
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


def test_whom_to_tell(clean_database: Driver, estate: Estate) -> None:
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS])
    reader = written(estate)
    people = "contact: '#orders', on_call: 'pager:orders'"
    declare(clean_database, f"datasets: [{{name: orders, {people}}}, {{name: other, on_call: 'pager:others'}}]")
    found = draw(reader, "orders")
    assert {node.asset.name: node.contact for node in found.nodes} == {"orders": "#orders", "other": "pager:others"}
