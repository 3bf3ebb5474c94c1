"""The steps from column to column: DERIVES, and INFLUENCES by way of the dataset whose every column it means.

Downstream, a column INFLUENCES a dataset (one hop), which stands for its columns (no hop). Upstream, a column comes
from what it DERIVES from, and from what INFLUENCES its dataset. Where an edge begins at a dataset, that means its rows,
and so upstream of it is what INFLUENCES it. Edges whose plan holds no more are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.lineage.datasets import marks
from headwater_consumers.analysis.lineage.question import Direction
from headwater_consumers.analysis.lineage.search import Edges, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater_consumers.analysis.lineage.plans import Plans
    from headwater_consumers.analysis.lineage.scope import Scope
    from headwater_consumers.analysis.reader import Transaction

_NOTHING = Edges((), (), ())


class ColumnSteps:
    """The graph of columns, for `search`.

    Args:
        tx: to read in.
        scope: of the question.
        plans: as of the same time.
        direct_only: leave INDIRECT edges out.
    """

    def __init__(self, tx: Transaction, scope: Scope, plans: Plans, *, direct_only: bool) -> None:
        self._tx = tx
        self._scope = scope
        self._plans = plans
        self._direct_only = direct_only
        self._owners: dict[int, int] = {}

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """Edges of these that hold, in the direction of the question."""
        if self._scope.direction is Direction.DOWNSTREAM:
            return self._edges("lineage/columns_downstream", nodes)
        derived = self._edges("lineage/columns_upstream", nodes)
        influenced = self._influencing(nodes)
        return Edges(
            [*derived.sources, *influenced.sources],
            [*derived.targets, *influenced.targets],
            [*derived.edges, *influenced.edges],
            [*(derived.direct or ()), *(influenced.direct or ())],
        )

    def members(self, nodes: Sequence[int], /) -> Edges:
        """Columns of those of these that are datasets, downstream."""
        if self._scope.direction is Direction.UPSTREAM:
            return _NOTHING
        row = self._tx.row("lineage/members", nodes=nodes, as_of=self._scope.as_of)
        return _NOTHING if row is None else Edges(*row.values())

    def marks(self, nodes: Sequence[int], /) -> Mapping[int, Mark]:
        """Keys, and what the filters leave."""
        return marks(self._tx, self._scope, nodes, keys="lineage/column_keys", shown="lineage/columns_shown")

    def _influencing(self, nodes: Sequence[int]) -> Edges:
        """What INFLUENCES the datasets of these columns, from each column."""
        row = self._tx.row("lineage/owners", nodes=nodes)
        columns: dict[int, list[int]] = {}
        if row is not None:
            for column, dataset in zip(row["columns"], row["datasets"], strict=True):
                columns.setdefault(dataset, []).append(column)
        found = self._edges("lineage/columns_upstream", list(columns))
        direct = found.direct or ()
        rows = [
            (column, target, edge, is_direct)
            for dataset, target, edge, is_direct in zip(found.sources, found.targets, found.edges, direct, strict=True)
            for column in columns[dataset]
        ]
        return Edges(*map(list, zip(*rows, strict=True))) if rows else Edges((), (), (), ())

    def _edges(self, statement: str, nodes: Sequence[int]) -> Edges:
        row = self._tx.row(statement, nodes=nodes, jobs=self._scope.jobs) if nodes else None
        if row is None:
            return Edges((), (), (), ())
        sources, targets, edges, direct, plans = row.values()
        written = targets if self._scope.direction is Direction.DOWNSTREAM else sources
        holding = self._plans.holding(plans, written)
        kept = [at for at, holds in enumerate(holding) if holds and (direct[at] or not self._direct_only)]
        return Edges(*([values[at] for at in kept] for values in (sources, targets, edges, direct)))
