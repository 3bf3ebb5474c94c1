"""Graph nodes at which differences begin, looked up once for all differences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.impact import ChangeType, SchemaChange
from headwater_analysis.impact.moves import ChangeStart
from headwater_analysis.impact.start import Beginning
from headwater_analysis.resolve import FoundNode
from headwater_graph.keys import column_key
from headwater_review.compare import DifferenceKind, Retyping, SchemaDifference

_WHOLE = (
    DifferenceKind.ADDED,
    DifferenceKind.PARTITIONING,
    DifferenceKind.ROWS,
    DifferenceKind.WRITE_MODE,
)
# Change of a job ⇒ change for the readers of its output.
_AS = {
    DifferenceKind.ROWS: SchemaChange.MEANING,
    DifferenceKind.WRITE_MODE: SchemaChange.MEANING,
    DifferenceKind.POSITION: SchemaChange.RENAMED,
    DifferenceKind.OUTPUT_REMOVED: SchemaChange.REMOVED,
}
OF_DATASET = (*_WHOLE[1:], DifferenceKind.OUTPUT_REMOVED, DifferenceKind.POSITION)
"""Kinds of difference that affect readers of every part of the dataset."""
OF_ALL_COLUMNS = (DifferenceKind.OUTPUT_REMOVED, DifferenceKind.POSITION)
WITHOUT_IMPACT = (
    DifferenceKind.DESCRIPTION,
    DifferenceKind.PRIVACY,
    DifferenceKind.OUTPUT_ADDED,
    DifferenceKind.INPUT_ADDED,
    DifferenceKind.INPUT_REMOVED,
)


def impact_of(difference: SchemaDifference) -> tuple[ChangeType, SchemaChange] | None:
    """Change for the impact analysis of a difference; None if the difference affects nobody."""
    if difference.kind in WITHOUT_IMPACT:
        return None
    match difference.kind:
        case DifferenceKind.ADDED:
            compatible = True
        case DifferenceKind.RETYPED:
            compatible = difference.retyping is Retyping.WIDER
        case DifferenceKind.NULLABILITY:
            compatible = difference.after != "nullable"
        case _:
            compatible = False
    type_ = ChangeType.SCHEMA_COMPATIBLE if compatible else ChangeType.SCHEMA_BREAKING
    return type_, _AS.get(difference.kind) or SchemaChange(difference.kind.value)


class StartColumns:
    """Columns of a dataset in the graph, at which differences begin.

    Args:
        columns: `id`, `name` and `gone` of each column (`columns_of`).
    """

    def __init__(self, tenant: str, dataset: FoundNode, columns: Sequence[Mapping[str, Any]]) -> None:
        self._tenant, self._dataset = tenant, dataset
        # Jobs may still name a column that left the schema.
        self._ids = {row["name"]: row["id"] for row in sorted(columns, key=lambda row: not row["gone"])}
        self._names = sorted(self._ids)
        folded: dict[str, list[str]] = {}
        for name in self._names:
            folded.setdefault(name.lower(), []).append(name)
        self._folded = {low: names[0] for low, names in folded.items() if len(names) == 1}

    @property
    def nodes(self) -> tuple[int, ...]:
        """Ids of all columns."""
        return tuple(self._ids.values())

    def named(self, path: str) -> str | None:
        """Name of the column in the graph, found in any case, as in Spark; None if the graph lacks the column."""
        return path if path in self._ids else self._folded.get(path.lower())

    def around(self, path: str) -> list[int]:
        """Ids of the column at a path and of its parents, if the graph has them."""
        names = [known for each in (path, *self._above(path)) if (known := self.named(each)) is not None]
        return [self._ids[name] for name in names]

    def beginning(self, difference: SchemaDifference, type_: ChangeType) -> Beginning | None:
        """Start of a difference in the graph; None if the graph lacks the column."""
        dataset = self._dataset
        if difference.kind in _WHOLE:
            whole = ChangeStart((dataset.id,), (), dataset.id, dataset.asset.type)
            changed = dataset.asset if not difference.column else self._asset(difference.column, difference.after)
            return Beginning(whole, dataset.asset, changed, type_)
        if difference.kind in OF_ALL_COLUMNS:
            every = ChangeStart((dataset.id, *self._ids.values()), (), dataset.id, dataset.asset.type)
            return Beginning(every, dataset.asset, dataset.asset, type_)
        name = self.named(difference.column)
        if name is None:
            return self._beginning_above(difference, type_)
        nested = self._within(name)
        wholes = [self._ids[above] for above in self._above(name) if above in self._ids]
        start = ChangeStart((self._ids[name], *nested), tuple(wholes), dataset.id, dataset.asset.type)
        asset = self._asset(name, difference.before)
        return Beginning(start, asset, asset, type_)

    def _beginning_above(self, difference: SchemaDifference, type_: ChangeType) -> Beginning | None:
        """Start for a member that the graph lacks: its nearest parent. Readers of the whole parent read the member."""
        above = next((known for name in reversed(self._above(difference.column)) if (known := self.named(name))), None)
        if above is None:
            return None
        node = (self._ids[above],)
        only_whole = difference.kind in (DifferenceKind.REMOVED, DifferenceKind.RENAMED)
        nodes, wholes = ((), node) if only_whole else (node, ())
        start = ChangeStart(nodes, wholes, self._dataset.id, self._dataset.asset.type)
        asset = self._asset(difference.column, None)
        return Beginning(start, asset, asset, type_)

    def _within(self, name: str) -> list[int]:
        first = bisect_left(self._names, f"{name}.")
        # `/` is the character after `.`.
        end = bisect_left(self._names, f"{name}/")
        return [self._ids[inner] for inner in self._names[first:end]]

    def _above(self, name: str) -> list[str]:
        return [name[:index] for index, character in enumerate(name) if character == "."]

    def _asset(self, column: str, type_: str | None) -> Asset:
        dataset = self._dataset.asset
        key = column_key(self._tenant, dataset.key, column)
        return replace(dataset, kind=AssetKind.COLUMN, key=key, column=column, type=type_)
