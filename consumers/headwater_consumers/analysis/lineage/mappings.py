"""The columns along hops between datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.lineage.answer import ColumnMapping
from headwater_consumers.analysis.lineage.transformations import transformation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.analysis.lineage.plans import Plans
    from headwater_consumers.analysis.reader import Transaction

_MOST = 1_000


class Mappings:
    """What hops do to columns, as the plans that hold have it.

    Args:
        tx: to look up in.
        plans: as of the question's time.
        hops: ids of the dataset that data comes from and the one that it goes to, and keys of the jobs.
        downstream: whether the second is the one that was reached.
    """

    def __init__(
        self, tx: Transaction, plans: Plans, hops: Sequence[tuple[int, int, list[str]]], *, downstream: bool
    ) -> None:
        identities = Identities.of(tx)
        rows = tx.rows(
            "lineage/mappings",
            hops=[
                [near, far, jobs]
                for source, target, jobs in hops
                for near in identities.expanded([source])
                for far in identities.expanded([target])
            ],
        )
        holding = plans.holding([row["plan"] for row in rows], [row["node"] for row in rows])
        self._rows: dict[int, list[Any]] = {}
        for row, holds in zip(rows, holding, strict=True):
            if holds:
                reached = identities.shown_node(row["to" if downstream else "from"])
                self._rows.setdefault(reached, []).append(row)

    def of(self, node: int) -> tuple[tuple[ColumnMapping, ...], int]:
        """Along the hop to the dataset with this id: DIRECT ones first, by column; and how many there are."""
        rows = self._rows.get(node, [])
        rows.sort(key=lambda row: (row["type"], row["target"] or "", row["source"] or "", row["key"]))
        return tuple(
            ColumnMapping(
                row["source"],
                row["target"],
                row["job"],
                transformation(row, whole=row["target"] is None),
            )
            for row in rows[:_MOST]
        ), len(rows)
