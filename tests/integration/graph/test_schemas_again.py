"""Reports of a dataset's schema that come again, and late: the same graph, and mostly nothing to do for its columns."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter
from headwater_graph.write.transaction import WriteTransaction
from headwater_schemas.events import DatasetEvent, DatasetRef, LineageEvent, SchemaDefinition, SchemaField
from headwater_schemas.events.build import lineage_event
from support.gate import first_in_gate
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
ORDERS = DatasetRef("s3://lake", "orders")


def schema(*paths: str, described: bool = False) -> SchemaDefinition:
    about = "of the shop" if described else None
    return SchemaDefinition(tuple(SchemaField(path=path, type="int", description=about) for path in paths))


def report(second: int, reported: SchemaDefinition | None, dataset: DatasetRef = ORDERS) -> LineageEvent:
    body = DatasetEvent(dataset=dataset, schema=reported)
    return lineage_event(body, event_time=BEGIN + timedelta(seconds=second), producer="https://test")


SCHEMAS = [schema("a", "b"), schema("a", "b", described=True), schema("a", "c"), schema("b"), None]


@pytest.mark.parametrize("seed", first_in_gate(1, range(12)))
def test_any_order_gives_the_oracle_s_graph(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(seed)
    datasets = [DatasetRef("s3://lake", name) for name in ("orders", "returns")]
    # Mostly one of them, as in a dataset's life.
    events = [
        report(dice.randrange(40), dice.choices(SCHEMAS, weights=[20, 2, 2, 1, 1])[0], dice.choice(datasets))
        for _ in range(60)
    ]
    left = list(events)
    while left:
        size = dice.choice([1, 1, 2, 5])
        writer.apply(fold(left[:size]))
        left = left[size:]
    assert list(dump(graph, internal=True)) == list(oracle(fold(events), internal=True))


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the columns that a transaction looks for, in order."""
    found: list[str] = []
    find = WriteTransaction.find_rows

    def find_rows(self: WriteTransaction, name: str, rows: list[Any], **more: Any) -> Any:
        if name == "columns":
            found.extend(row["properties"]["name"] for row in rows)
        return find(self, name, rows, **more)

    monkeypatch.setattr(WriteTransaction, "find_rows", find_rows)
    return found


AB = SCHEMAS[0]


LOOKED_FOR: dict[str, tuple[list[LineageEvent], list[str]]] = {
    "later": ([report(30, AB)], []),
    "late, between the first and the last": ([report(15, AB)], []),
    "late and later at once": ([report(15, AB), report(30, AB)], []),
    "as early as the first": ([report(10, AB)], []),
    "earlier than the first": ([report(9, AB)], ["a", "b"]),
    "late, with descriptions": ([report(15, SCHEMAS[1])], ["a", "b"]),
    "another": ([report(30, SCHEMAS[2])], ["a", "b", "c"]),
    "with another one, late": ([report(15, SCHEMAS[3]), report(30, AB)], ["a", "b"]),
}


def test_columns_are_looked_for_where_a_report_tells_something_of_them(
    subtests: pytest.Subtests, graph: Driver, writer: GraphWriter, columns: list[str]
) -> None:
    for case, (then, looked_for) in LOOKED_FOR.items():
        with subtests.test(case):
            delete_nodes(graph)
            writer.ensure_schema()
            before = [report(10, AB), report(20, AB)]
            for event in before:
                writer.apply(fold([event]))
            columns.clear()
            writer.apply(fold(then))
            assert sorted(columns) == looked_for
            assert list(dump(graph, internal=True)) == list(oracle(fold(before + then), internal=True))
