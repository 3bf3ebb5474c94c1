"""Pages of the direct neighbours of a dataset, and the datasets with the most: order, filters, facets and jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.counted_values import ValueCount, counted_values
from headwater_analysis.drawing import Neighbour, NeighbourFilters, most_used, neighbours
from headwater_analysis.errors import QuestionError
from headwater_analysis.lineage import LineageDirection
from headwater_analysis.reader import Reader
from headwater_analysis.resolve import resolve_dataset
from headwater_schemas.events import DatasetEvent, DatasetRef, JobRef, Owner
from support.analysis.declared_graph import declare
from support.analysis.paging import pages
from support.graph.estate import DAY, LOAD, ORDERS, OTHER, REPORT, Estate
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

READERS = [DatasetRef("n" if n % 3 else "m", f"fct_{n:02}") for n in range(25)]
UPSTREAM, DOWNSTREAM = LineageDirection


@pytest.fixture
def hub(neo4j_driver: Driver, reader: Reader) -> Reader:
    estate = Estate(neo4j_driver, reader)
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS])
    for n, each in enumerate(READERS):
        estate.ran(JobRef("f", f"job_{n:02}"), reads=[ORDERS], writes=[each], day=n)
    for n in range(12):
        estate.ran(JobRef("f", f"again_{n:02}"), reads=[ORDERS], writes=[READERS[8]], day=n)
    estate.ran(JobRef("f", "more"), reads=[READERS[11]], writes=[REPORT])
    estate.ran(JobRef("f", "merge"), reads=[ORDERS], writes=[ORDERS])
    estate.add(DatasetEvent(dataset=READERS[4], criticality="tier-1", owners=(Owner("team:a"),), type="TABLE"))
    estate.add(DatasetEvent(dataset=READERS[5], owners=(Owner("team:a"), Owner("team:b")), type="TOPIC"))
    hold(neo4j_driver, "a hub and its neighbours", estate.events)
    return reader


def names(items: tuple[Neighbour, ...]) -> list[str]:
    return [each.asset.name for each in items]


def test_order_pages_and_totals(hub: Reader) -> None:
    whole = neighbours(hub, "orders", DOWNSTREAM, limit=100)
    assert whole.total == len(whole.items) == 25
    assert names(whole.items)[:3] == ["fct_04", "fct_11", "fct_00"]
    assert (whole.start.name, whole.direction, whole.next_cursor) == ("orders", DOWNSTREAM, None)
    of_many = next(each for each in whole.items if each.asset.name == "fct_08")
    assert (of_many.jobs_total, len(of_many.jobs), of_many.upstream_total, of_many.downstream_total) == (13, 10, 1, 0)
    assert of_many.jobs[0].name == "again_11"
    assert of_many.status is not None
    found = pages(neighbours, hub, "orders", DOWNSTREAM, limit=4)
    assert all((page.total, page.facets) == (25, whole.facets) for page in found)
    assert tuple(each for page in found for each in page.items) == whole.items
    assert names(neighbours(hub, "orders", UPSTREAM).items) == ["other"]
    some = neighbours(hub, "orders", DOWNSTREAM, limit=1).next_cursor
    with pytest.raises(QuestionError):
        neighbours(hub, "orders", UPSTREAM, limit=1, cursor=some)


def test_filters_and_facets(hub: Reader) -> None:
    def found(**filters: object) -> list[str]:
        return names(neighbours(hub, "orders", DOWNSTREAM, filters=NeighbourFilters(**filters), limit=100).items)  # type: ignore[arg-type]

    assert found(text="FCT 07") == ["fct_07"]
    assert found(text="fct nothing") == []
    assert len(found(namespaces=("m",))) == 9
    assert found(owners=("team:a",)) == ["fct_04", "fct_05"]
    assert found(owners=("team:b",), types=("TOPIC",)) == ["fct_05"]
    assert found(owners=("team:b",), types=("TABLE",)) == []
    assert found(criticalities=("tier-1", "tier-9")) == ["fct_04"]
    page = neighbours(hub, "orders", DOWNSTREAM, filters=NeighbourFilters(text="fct_0", owners=("team:b",)))
    assert page.total == 1
    assert page.facets.namespaces == (ValueCount("n", 6), ValueCount("m", 4))
    assert page.facets.owners == (ValueCount("team:a", 2), ValueCount("team:b", 1), ValueCount(None, 8))
    assert page.facets.types == (ValueCount("TABLE", 1), ValueCount("TOPIC", 1), ValueCount(None, 8))
    assert page.facets.criticalities == (ValueCount("tier-1", 1), ValueCount(None, 9))


def test_at_a_time(hub: Reader) -> None:
    page = neighbours(hub, "orders", DOWNSTREAM, as_of=DAY + timedelta(days=2, hours=1))
    assert names(page.items) == ["fct_00", "fct_01", "fct_02", "fct_08"]
    assert {each.status for each in page.items} == {None}


def test_the_most_frequent_values_are_counted() -> None:
    counted = counted_values([*([f"v{n:02}"] for n in range(30)), ["v07", "v07", "v05"], []], with_none=True)
    assert counted[:3] == (ValueCount("v05", 2), ValueCount("v07", 2), ValueCount("v00", 1))
    assert (len(counted), counted[-1]) == (21, ValueCount(None, 1))


def test_the_most_used(hub: Reader) -> None:
    found = most_used(hub, limit=3)
    assert [(each.asset.name, each.downstream_total, each.upstream_total) for each in found.items] == [
        ("orders", 25, 1),
        *sorted([("other", 1, 0), ("fct_11", 1, 1)], key=lambda each: key_of(hub, each[0])),
    ]
    assert found.total == 3
    assert found.items[0].status.last_run is not None
    assert most_used(hub, limit=1).items == found.items[:1]


def test_declared_consumers_count(clean_database: Driver, reader: Reader) -> None:
    estate = Estate(clean_database, reader)
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS])
    store(clean_database, estate.events)
    declare(clean_database, "consumers: [{name: board, reads: [orders]}, {name: team, reads: [orders]}]")
    assert [(each.asset.name, each.downstream_total, each.consumers_total) for each in most_used(reader).items] == [
        ("orders", 0, 2),
        ("other", 1, 0),
    ]


def key_of(reader: Reader, name: str) -> str:
    return reader.read(lambda tx: resolve_dataset(tx, name)).asset.key
