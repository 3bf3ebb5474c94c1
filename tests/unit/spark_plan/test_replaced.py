"""The condition of an overwrite, as a fact of the table that it is of."""

from __future__ import annotations

from typing import Any

from headwater_producers.spark.plan.column import Indirect
from headwater_producers.spark.plan.replaced import replaced_by
from headwater_producers.spark.plan.text import Literals
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

TABLE = DatasetRef("file", "/data/flights")
CATALYST = "org.apache.spark.sql.catalyst.expressions."


def attribute(name: str, number: int) -> dict[str, Any]:
    return {
        "class": f"{CATALYST}AttributeReference",
        "num-children": 0,
        "name": name,
        "dataType": "integer",
        "exprId": {"id": number},
    }


def equals(name: str, value: str) -> list[dict[str, Any]]:
    """`name = value`, as Spark writes it: operators before their operands."""
    operator = {"class": f"{CATALYST}EqualTo", "num-children": 2, "left": 0, "right": 1}
    literal = {"class": f"{CATALYST}Literal", "num-children": 0, "value": value, "dataType": "integer"}
    return [operator, attribute(name, 7), literal]


def by(condition: list[dict[str, Any]], *partitions: str, literals: Literals = Literals.SHOWN) -> frozenset[Indirect]:
    return replaced_by(condition, TABLE, partitions, literals)


def test_the_columns_decide_which_rows_go() -> None:
    [found] = by(equals("delay", "5"))
    assert (found.field.dataset, found.field.path) == (TABLE, ("delay",))  # type: ignore[union-attr]  # a Field
    assert (found.kind, found.text) == (Kind.FILTER_DEPENDENCY, "REPLACE WHERE (delay = 5)")


def test_partitions_as_a_whole_are_no_matter_of_rows() -> None:
    assert by(equals("day", "5"), "Day") == frozenset()
    assert len(by(equals("delay", "5"), "day")) == 1


def test_literals_are_shown_where_they_may_be() -> None:
    [found] = by(equals("delay", "5"), literals=Literals.HIDDEN)
    assert "5" not in (found.text or "")
