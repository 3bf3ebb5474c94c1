"""Edges that the search follows, from dataset to dataset and from column to column.

Datasets: FEEDS.

Columns: DERIVES, and INFLUENCES through the dataset, which means all of its columns. Downstream, a column INFLUENCES a
dataset (one hop), which represents its columns (no hop). Upstream, a column comes from the columns with DERIVES to it,
and from columns with INFLUENCES to its dataset. An edge from a dataset means its rows, so whatever INFLUENCES the
dataset is upstream of this edge. Edges whose plan no longer holds are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from headwater_analysis.families import Families
from headwater_analysis.identity import Identities
from headwater_analysis.lineage.plans import Plans
from headwater_analysis.lineage.scope import LineageBounds, LineageDirection
from headwater_analysis.lineage.search import Beyond, Edges, SearchFacts
from headwater_analysis.reader import Transaction

_NOTHING = Edges((), (), ())


class DatasetSteps:
    """Graph of datasets, for `search`.

    Args:
        edges: whether the question asks for the edges between all found nodes.
    """

    def __init__(self, tx: Transaction, scope: LineageBounds, *, edges: bool = True) -> None:
        self._tx = tx
        self._scope = scope
        self._edges = edges
        self._identities = Identities.of(tx)
        self._keys: dict[int, str] = {}

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """FEEDS edges of these datasets under all their names, in the direction of the question."""
        scope = self._scope
        self._identities.learn(nodes, datasets=True)
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

    def beyond(self, nodes: Sequence[int], found: Sequence[int], /) -> Beyond | None:
        """Loops of these datasets, and targets of their FEEDS; also looks up the keys of all found nodes."""
        scope = self._scope
        if self._edges or self._identities.any:
            return None
        row = self._tx.one(
            f"lineage/beyond_{scope.direction.lower()}",
            nodes=nodes,
            found=found,
            jobs=scope.jobs,
            as_of=scope.as_of,
            since=scope.since,
        )
        self._keys = dict(zip(row["found"], row["keys"], strict=True))
        return Beyond(Edges(row["looped"], row["looped"], row["loops"]), row["targets"])

    def members(self, _nodes: Sequence[int], /) -> Edges:
        """No edges: a dataset doesn't represent other nodes."""
        return _NOTHING

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, SearchFacts]:
        """Keys, and whether the filters show the node."""
        if self._keys and not self._scope.filters_nodes:
            return {node: SearchFacts(self._keys[node], shown=True) for node in nodes}
        return facts(self._tx, self._scope, nodes, keys="lineage/dataset_keys", shown="lineage/datasets_shown")


def facts(
    tx: Transaction, scope: LineageBounds, nodes: Sequence[int], *, keys: str, shown: str
) -> dict[int, SearchFacts]:
    """Build facts by two statements: one for keys, and, only if there is a filter, one for filters."""
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
    return {node: SearchFacts(key, node in left) for node, key in zip(row["nodes"], row["keys"], strict=True)}


class ColumnSteps:
    """Graph of columns, for `search`.

    Args:
        plans: plans as of the same time.
        direct_only: leave INDIRECT edges out.

    Attributes:
        former: ids of columns with a left-out edge that belongs to a former column of the same name.
    """

    def __init__(self, tx: Transaction, scope: LineageBounds, plans: Plans, *, direct_only: bool) -> None:
        self._tx = tx
        self._scope = scope
        self._plans = plans
        self._direct_only = direct_only
        self.former: set[int] = set()
        self._identities = Identities.of(tx)
        self._families = Families.of(tx)

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """Current edges of these columns under all their names, in the direction of the question."""
        self._identities.learn(nodes)
        rows = self._leaving(self._identities.expanded(nodes))
        self._identities.learn(row.target for row in rows)
        if not self._identities.any:
            return _edges(rows)
        asked = set(nodes)
        found = []
        for row in rows:
            plan = self._plans[row.plan]
            nears, fars = (
                self._identities.taking(node, plan.first_seen, plan.last_seen) for node in (row.source, row.target)
            )
            # The edge belongs to a dropped column, and another column has its name now.
            self.former.update(node for node, taking in ((row.source, nears), (row.target, fars)) if not taking)
            found += [row._replace(source=near, target=far) for near in nears if near in asked for far in fars]
        return _edges(found)

    def _leaving(self, nodes: Sequence[int]) -> list[_Row]:
        """Edges of these columns, of the structs and payloads that contain them, and of their fields."""
        asked = set(nodes)
        downstream = self._scope.direction is LineageDirection.DOWNSTREAM
        relatives = self._families.relatives(nodes, every_field=not downstream)
        rows = self._leaving_exactly([*nodes, *(node for node in relatives.every if node not in asked)])
        # If a plan writes a field separately, it doesn't also copy this field with the parent.
        own = set() if downstream else {(row.source, row.plan) for row in rows if row.of_column}
        more = (
            row._replace(source=node)
            for row in rows
            if row.source not in asked and row.of_column
            for node in relatives.of(row.source)
            if row.source not in relatives.wholes or (node, row.plan) not in own
        )
        return [*(row for row in rows if row.source in asked), *more]

    def _leaving_exactly(self, nodes: Sequence[int]) -> list[_Row]:
        if self._scope.direction is LineageDirection.DOWNSTREAM:
            row = self._tx.one("lineage/columns_downstream", nodes=nodes, jobs=self._scope.jobs)
            found = _rows(row.values())
            return self._held(found, [each.target for each in found])
        row = self._tx.one("lineage/columns_upstream", nodes=nodes, jobs=self._scope.jobs)
        own, of_owners = _rows(row.values()[:5]), _rows(row.values()[7:])
        columns: dict[int, list[int]] = {}
        for column, dataset in zip(row["columns"], row["owners"], strict=True):
            columns.setdefault(dataset, []).append(column)
        # Influences on a written dataset, as edges of its requested columns.
        spread = [
            each._replace(source=column, of_column=False) for each in of_owners for column in columns[each.source]
        ]
        written = [each.source for each in own]
        written += [each.source for each in of_owners for _ in columns[each.source]]
        return self._held([*own, *spread], written)

    def beyond(self, _nodes: Sequence[int], _found: Sequence[int], /) -> Beyond | None:
        """None: the edges themselves show whether there is more beyond the depth."""
        return None

    def members(self, nodes: Sequence[int], /) -> Edges:
        """Columns of the datasets among these nodes, downstream."""
        if self._scope.direction is LineageDirection.UPSTREAM:
            return _NOTHING
        self._identities.learn(nodes)
        row = self._tx.row("lineage/members", nodes=self._identities.expanded(nodes), as_of=self._scope.as_of)
        if row is None:
            return _NOTHING
        self._identities.learn(row["targets"])
        if not self._identities.any:
            return Edges(*row.values())
        # Use all names of the nodes, not only the shown one: a past edge may have led to a node that has another name
        # now.
        asked: dict[int, list[int]] = {}
        for node in nodes:
            for named in self._identities.expanded([node]):
                asked.setdefault(named, []).append(node)
        shown = map(self._identities.shown_node, row["targets"])
        found = zip(row["sources"], shown, row["edges"], strict=True)
        ends = dict.fromkeys((node, target, edge) for source, target, edge in found for node in asked[source])
        return Edges(*(list(each) for each in zip(*ends, strict=True))) if ends else _NOTHING

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, SearchFacts]:
        """Keys, and whether the filters show the node."""
        return facts(self._tx, self._scope, nodes, keys="lineage/column_keys", shown="lineage/columns_shown")

    def _held(self, rows: Sequence[_Row], written: Sequence[int]) -> list[_Row]:
        """Filter rows to those whose plan holds for the dataset that the row's edge writes."""
        holding = self._plans.holding([row.plan for row in rows], written)
        return [
            row for row, holds in zip(rows, holding, strict=True) if holds and (row.direct or not self._direct_only)
        ]


class _Row(NamedTuple):
    source: int
    target: int
    edge: int
    direct: bool
    plan: str
    of_column: bool = True
    """True when the edge begins or ends at the column itself; else it holds for every column of the dataset."""


def _rows(lists: Sequence[Sequence[Any]]) -> list[_Row]:
    return [_Row(*values) for values in zip(*lists, strict=True)]


def _edges(rows: Iterable[_Row]) -> Edges:
    kept = list(rows)
    return Edges(
        [row.source for row in kept],
        [row.target for row in kept],
        [row.edge for row in kept],
        [row.direct for row in kept],
    )
