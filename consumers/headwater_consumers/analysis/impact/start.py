"""Where a change begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import Asset, AssetKind
from headwater_consumers.analysis.errors import QuestionError
from headwater_consumers.analysis.impact.change import ChangeType, SchemaChange
from headwater_consumers.analysis.impact.moves import Start
from headwater_consumers.analysis.impact.reach import EVERYWHERE, Reach, reach_of
from headwater_consumers.analysis.impact.widening import widens
from headwater_consumers.analysis.resolve import resolve_column, resolve_dataset
from headwater_consumers.graph.keys import column_key

if TYPE_CHECKING:
    from headwater_consumers.analysis.impact.change import Change
    from headwater_consumers.analysis.reader import Transaction
    from headwater_consumers.analysis.resolve import Found


@dataclass(frozen=True, slots=True)
class Beginning:
    """A change in the graph.

    Attributes:
        start: for the spread.
        asset: the dataset, or the column.
        changed: what sentences call what changes: `asset`, or the column that is added.
        type: what sort of change.
        notes: what else to know.
        reach: how far that part of the data went that changes.
    """

    start: Start
    asset: Asset
    changed: Asset
    type: ChangeType
    notes: tuple[str, ...] = ()
    reach: Reach = EVERYWHERE


def begin(tx: Transaction, change: Change) -> Beginning:
    """Find what changes.

    Raises:
        NotFoundError, AmbiguousError: as `resolve_dataset` and `resolve_column`.
        QuestionError: the column that is to be added is there.
    """
    dataset = resolve_dataset(tx, change.dataset)
    beginning = _beginning(tx, change, dataset)
    if change.extent is None:
        return beginning
    reach = reach_of(tx, dataset.asset, change.extent)
    start = replace(beginning.start, within=reach.datasets)
    return replace(beginning, start=start, notes=(*beginning.notes, *reach.notes), reach=reach)


def _beginning(tx: Transaction, change: Change, dataset: Found) -> Beginning:
    columns = tx.rows("impact/start_columns", dataset=dataset.asset.key)
    whole = Start((dataset.id,), (), dataset.id, dataset.asset.type)
    if change.schema is SchemaChange.ADDED and change.column is not None:
        if any(row["name"] == change.column and not row["gone"] for row in columns):
            raise QuestionError(f"{dataset.asset.spelling} has a column {change.column!r} already.", field="column")
        key = column_key(tx.tenant, dataset.asset.key, change.column)
        added = replace(dataset.asset, kind=AssetKind.COLUMN, key=key, column=change.column, type=change.new_type)
        return Beginning(whole, dataset.asset, added, change.type or ChangeType.SCHEMA_COMPATIBLE)
    if change.column is None:
        if change.type is ChangeType.PRIVACY_RECLASSIFICATION and columns:
            # Column by column, so that it ends where values are masked.
            every = tuple(row["id"] for row in columns if not row["gone"])
            whole = replace(whole, nodes=every or whole.nodes)
        return Beginning(whole, dataset.asset, dataset.asset, change.type or ChangeType.SCHEMA_BREAKING)
    found = resolve_column(tx, dataset.asset.key, change.column)
    nested = tuple(row["id"] for row in columns if row["name"].startswith(f"{change.column}.") and not row["gone"])
    wholes = tuple(row["id"] for row in columns if change.column.startswith(f"{row['name']}.") and not row["gone"])
    start = Start((found.id, *nested), wholes, dataset.id, dataset.asset.type)
    gone = next(row["gone"] for row in columns if row["id"] == found.id)
    notes = ("It is in the dataset's schema no more; the answer is of jobs that used it.",) if gone else ()
    return Beginning(start, found.asset, found.asset, _type_of(change, found.asset.type), notes)


def _type_of(change: Change, type_: str | None) -> ChangeType:
    """What was said, or what follows from what happens to the column."""
    if change.type is not None:
        return change.type
    harmless = (change.schema is SchemaChange.RETYPED and widens(type_, change.new_type)) or (
        change.schema is SchemaChange.NULLABILITY and change.nullable is False
    )
    return ChangeType.SCHEMA_COMPATIBLE if harmless else ChangeType.SCHEMA_BREAKING
