"""The columns along hops between datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        # By what is shown of it: several plans of a job may have the same edge.
        self._mappings: dict[int, dict[ColumnMapping, str]] = {}
        for row, holds in zip(rows, holding, strict=True):
            if holds:
                reached = identities.shown_node(row["to" if downstream else "from"])
                whole = row["target"] is None
                mapping = ColumnMapping(row["source"], row["target"], row["job"], transformation(row, whole=whole))
                keys = self._mappings.setdefault(reached, {})
                keys[mapping] = min(keys.get(mapping, row["key"]), row["key"])

    def of(self, node: int) -> tuple[tuple[ColumnMapping, ...], int]:
        """Of the hop to the dataset with this id, each once, DIRECT ones first, by column; and how many there are."""
        keys = self._mappings.get(node, {})

        def order(each: ColumnMapping) -> tuple[str, str, str, str]:
            return each.transformation.type, each.target or "", each.source or "", keys[each]

        found = sorted(keys, key=order)
        return tuple(found[:_MOST]), len(found)
