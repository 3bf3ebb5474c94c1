"""The steps from dataset to dataset, which FEEDS is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.lineage.search import Edges, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater_consumers.analysis.lineage.scope import Scope
    from headwater_consumers.analysis.reader import Transaction

_NOTHING = Edges((), (), ())


class DatasetSteps:
    """The graph of datasets, for `search`.

    Args:
        tx: to read in.
        scope: of the question.
    """

    def __init__(self, tx: Transaction, scope: Scope) -> None:
        self._tx = tx
        self._scope = scope
        self._identities = Identities.of(tx)

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """FEEDS of these under all their names, in the direction of the question."""
        scope = self._scope
        self._identities.learn(nodes)
        row = self._tx.row(
            f"lineage/datasets_{scope.direction.lower()}",
            nodes=self._identities.expanded(nodes),
            jobs=scope.jobs,
            as_of=scope.as_of,
            since=scope.since,
        )
        if row is None or not self._identities.any:
            return _NOTHING if row is None else Edges(*row.values())
        hops = self._identities.hops(nodes, *row.values())
        edges = row["edges"]
        return Edges([source for _, source, _ in hops], [to for _, _, to in hops], [edges[n] for n, *_ in hops])

    def members(self, _nodes: Sequence[int], /) -> Edges:
        """None: a dataset stands for itself."""
        return _NOTHING

    def marks(self, nodes: Sequence[int], /) -> Mapping[int, Mark]:
        """Keys, and what the filters leave."""
        return marks(self._tx, self._scope, nodes, keys="lineage/dataset_keys", shown="lineage/datasets_shown")


def marks(tx: Transaction, scope: Scope, nodes: Sequence[int], *, keys: str, shown: str) -> dict[int, Mark]:
    """Marks by the statement that gives keys and the one that filters, which is asked only if there is a filter."""
    row = tx.row(keys, nodes=nodes)
    if row is None:
        return {}
    left = set(row["nodes"])
    if scope.filters_nodes:
        # A filter by namespace finds a dataset by any of its names.
        identities = Identities.of(tx)
        asked = identities.expanded(nodes)
        found = tx.row(shown, nodes=asked, namespaces=scope.namespaces, types=scope.types, tags=scope.tags)
        left = {identities.shown_node(node) for node in found["nodes"]} if found is not None else set()
    return {node: Mark(key, node in left) for node, key in zip(row["nodes"], row["keys"], strict=True)}
