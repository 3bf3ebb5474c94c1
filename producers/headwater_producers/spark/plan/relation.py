"""Relation: lineage of the rows and columns at one point of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headwater_producers.spark.plan.column import DataType, FieldRef, Indirect, ValueLineage
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind


@dataclass(frozen=True, slots=True)
class Attribute:
    """Column of an operator's output: Spark's expression id, name and type.

    `branch` is the WHEN of a MERGE that sets the column: `WHEN MATCHED THEN UPDATE`.
    """

    id: int
    name: str
    type: DataType = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """Output of one operator.

    Attributes:
        output: attributes of the operator, in order; an id may appear twice.
        columns: lineage by expression id, at least for the output.
        influences: influences on the choice of rows, which hold for every column.
        rows: datasets that the rows come from. They are the sources of `count(*)`, which reads no column.
    """

    output: tuple[Attribute, ...] = ()
    columns: Mapping[int, ValueLineage] = field(default_factory=dict)
    influences: frozenset[Indirect] = frozenset()
    rows: frozenset[DatasetRef] = frozenset()

    def with_output(self, output: Iterable[tuple[Attribute, ValueLineage]], more: Iterable[Indirect] = ()) -> Relation:
        """Return a relation of these rows with other columns, and perhaps more influences."""
        pairs = list(output)
        columns = {attribute.id: column for attribute, column in pairs}
        return replace(
            self,
            output=tuple(attribute for attribute, _ in pairs),
            columns=columns,
            influences=self.influences.union(more),
        )

    def influenced(self, more: Iterable[Indirect]) -> Relation:
        """Return a relation of these columns with more influences."""
        return replace(self, influences=self.influences.union(more))

    def ordered(self) -> list[ValueLineage]:
        """Return the columns of the output, in order."""
        return [self.columns[attribute.id] for attribute in self.output]


def row_dependencies(
    rows: Iterable[DatasetRef], known: Iterable[Indirect], kind: Kind, text: str
) -> frozenset[Indirect]:
    """Return a row dependency on each dataset of `rows`, except those that an influence in `known` comes from."""
    named = {influence.field.dataset for influence in known if isinstance(influence.field, FieldRef)}
    return frozenset(Indirect(FieldRef(dataset), kind, text=text) for dataset in rows if dataset not in named)


def side_by_side(relations: Iterable[Relation]) -> Relation:
    """Join columns, rows and influences of several relations (a join, before its condition)."""
    items = list(relations)
    columns: dict[int, ValueLineage] = {}
    for item in items:
        columns.update(item.columns)
    return Relation(
        output=tuple(a for item in items for a in item.output),
        columns=columns,
        influences=frozenset().union(*(item.influences for item in items)),
        rows=frozenset().union(*(item.rows for item in items)),
    )
