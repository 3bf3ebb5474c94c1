"""Names of the assets on a page, and jobs and columns of the hops to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from headwater_analysis.assets import Asset, AssetKind, column_asset, dataset_asset, job_asset, table_of
from headwater_analysis.identity import Identities
from headwater_analysis.lineage.hops import (
    ColumnMapping,
    DeclaredPartitions,
    LineageItem,
    Via,
    transformation,
)
from headwater_analysis.lineage.plans import Plans
from headwater_analysis.lineage.scope import Influence, LineageBounds, LineageDirection
from headwater_analysis.lineage.search import LineageVisit, Reached
from headwater_analysis.moments import moment_of
from headwater_analysis.reader import Transaction

if TYPE_CHECKING:
    from neo4j import Record


_MOST_MAPPINGS = 1_000


def held_mappings(
    tx: Transaction, plans: Plans, hops: Iterable[tuple[int, int, list[str]]]
) -> list[tuple[Record, ColumnMapping]]:
    """Rows of `lineage/mappings` whose plans hold, along hops between datasets under all their names.

    Args:
        plans: plans as of the question's time.
        hops: ids of the source and the target dataset of each hop, and keys of its jobs.
    """
    identities = Identities.of(tx)
    asked = [
        [near, far, jobs]
        for source, target, jobs in hops
        for near in identities.expanded([source])
        for far in identities.expanded([target])
    ]
    rows = tx.rows("lineage/mappings", hops=asked)
    holding = plans.holding([row["plan"] for row in rows], [row["node"] for row in rows])
    return [
        (row, ColumnMapping(row["source"], row["target"], row["job"], transformation(row, whole=row["target"] is None)))
        for row, holds in zip(rows, holding, strict=True)
        if holds
    ]


class Mappings:
    """Column mappings along hops between datasets, by plans that hold; arguments as for `held_mappings`.

    Args:
        downstream: whether the target of a hop is the dataset that was reached.
    """

    def __init__(
        self, tx: Transaction, plans: Plans, hops: Sequence[tuple[int, int, list[str]]], *, downstream: bool
    ) -> None:
        # Keyed by the shown values: several plans of a job may have the same edge.
        self._mappings: dict[int, dict[ColumnMapping, str]] = {}
        for row, mapping in held_mappings(tx, plans, hops):
            reached = Identities.of(tx).shown_node(row["to" if downstream else "from"])
            keys = self._mappings.setdefault(reached, {})
            keys[mapping] = min(keys.get(mapping, row["key"]), row["key"])

    def of(self, node: int) -> tuple[tuple[ColumnMapping, ...], int]:
        """Distinct mappings of the hop to this dataset (DIRECT first, then by column), and their total number."""
        keys = self._mappings.get(node, {})

        def order(each: ColumnMapping) -> tuple[str, str, str, str]:
            return each.transformation.type, each.target or "", each.source or "", keys[each]

        found = sorted(keys, key=order)
        return tuple(found[:_MOST_MAPPINGS]), len(found)


_MOST_VIA = 10
_INFLUENCES = (Influence.DIRECT, Influence.INDIRECT)


class PageDetails(Protocol):
    """Visits of a search ⇒ items of an answer."""

    def items(self, reached: Reached, visits: Sequence[LineageVisit]) -> list[LineageItem]:
        """Build an item for each visit, in order."""

    def vias(self, hops: Sequence[Sequence[int]]) -> list[list[Via]]:
        """Jobs that make each hop, given the edges of each hop."""


class DatasetPageDetails:
    """`PageDetails` of datasets.

    Args:
        plans: plans as of the question's time; None if the question doesn't ask for columns.
    """

    def __init__(self, tx: Transaction, scope: LineageBounds, plans: Plans | None) -> None:
        self._tx = tx
        self._scope = scope
        self._plans = plans

    def items(self, reached: Reached, visits: Sequence[LineageVisit]) -> list[LineageItem]:
        """See `PageDetails`."""
        found_nodes, vias = self._page([visit.node for visit in visits], [reached.edges(visit) for visit in visits])
        assets = {
            node: (
                Asset(AssetKind.DATASET, key, namespace, name, None, title, type_, table_of(name, links, kinds)),
                gone,
            )
            for node, key, namespace, name, title, type_, links, kinds, gone in found_nodes
        }
        mappings = self._mappings(reached, visits, vias)
        items = []
        for visit, via in zip(visits, vias, strict=True):
            found, (asset, gone) = reached.found[visit], assets[visit.node]
            columns, total = mappings.of(visit.node) if mappings else ((), None)
            shown = latest_first(via, self._scope.as_of)
            parent = reached.facts[reached.parent(visit).node].key
            items.append(LineageItem(asset, found.hops, None, parent, None, shown, len(via), gone, columns, total))
        return items

    def vias(self, hops: Sequence[Sequence[int]]) -> list[list[Via]]:
        """See `PageDetails`."""
        return self._page([], hops)[1]

    def _page(self, nodes: list[int], hops: Sequence[Sequence[int]]) -> tuple[list[Any], list[list[Via]]]:
        """Look up the datasets and the jobs of the hops, in one round trip."""
        datasets, feeds, makers = self._tx.one("lineage/page", nodes=nodes, edges=_each_once(hops)).values()
        jobs = {
            key: Asset(AssetKind.JOB, key, namespace, name, None, None, type_) for key, namespace, name, type_ in makers
        }
        vias = {
            edge: Via(
                jobs[job],
                moment_of(first),
                moment_of(last),
                observed,
                declared,
                possible=possible,
                partitions=tuple(DeclaredPartitions(*each) for each in sorted(partitions)) if partitions else (),
            )
            for edge, job, first, last, observed, declared, possible, partitions in feeds
        }
        return datasets, [_by_job(vias[edge] for edge in edges) for edges in hops]

    def _mappings(
        self, reached: Reached, visits: Sequence[LineageVisit], vias: Sequence[Sequence[Via]]
    ) -> Mappings | None:
        if self._plans is None:
            return None
        downstream = self._scope.direction is LineageDirection.DOWNSTREAM
        hops = []
        for visit, via in zip(visits, vias, strict=True):
            near, far = reached.parent(visit).node, visit.node
            jobs = sorted({each.job.key for each in via})
            hops.append((near, far, jobs) if downstream else (far, near, jobs))
        return Mappings(self._tx, self._plans, hops, downstream=downstream)


class ColumnPageDetails:
    """`PageDetails` of columns.

    Args:
        plans: plans as of the question's time; plans on the paths have been looked up.
    """

    def __init__(self, tx: Transaction, plans: Plans) -> None:
        self._tx = tx
        self._plans = plans

    def items(self, reached: Reached, visits: Sequence[LineageVisit]) -> list[LineageItem]:
        """See `PageDetails`."""
        nodes = list(dict.fromkeys(visit.node for visit in visits))
        assets = {
            row["node"]: (
                column_asset(row["dataset"], row["properties"])
                if row["whole"] is None
                else dataset_asset(row["whole"]),
                row["gone"],
            )
            for row in self._tx.rows("lineage/columns", nodes=nodes)
        }
        vias = self.vias([reached.edges(visit) for visit in visits])
        items = []
        for visit, via in zip(visits, vias, strict=True):
            found, (asset, gone) = reached.found[visit], assets[visit.node]
            near, shown = reached.parent(visit), latest_first(via, self._plans.as_of)
            influence_of_parent = None if near.node == reached.start else _INFLUENCES[near.indirect]
            parent = reached.facts[near.node].key
            items.append(
                LineageItem(
                    asset,
                    found.hops,
                    _INFLUENCES[visit.indirect],
                    parent,
                    influence_of_parent,
                    shown,
                    len(via),
                    gone,
                )
            )
        return items

    def vias(self, hops: Sequence[Sequence[int]]) -> list[list[Via]]:
        """See `PageDetails`. Each plan gives one entry; HAS_COLUMN gives none, since it belongs to no job."""
        rows = {row["edge"]: row for row in self._tx.rows("lineage/transformations", edges=_each_once(hops))}
        jobs = jobs_by_key(self._tx, (self._plans[row["plan"]].job for row in rows.values()))
        return [self._by_plan([rows[edge] for edge in edges if edge in rows], jobs) for edges in hops]

    def _by_plan(self, rows: Sequence[Record], jobs: Mapping[str, Asset]) -> list[Via]:
        by_plan: dict[str, list[Record]] = {}
        for row in sorted(rows, key=itemgetter("key")):
            by_plan.setdefault(row["plan"], []).append(row)
        return [
            Via(
                jobs[plan.job],
                plan.first_seen,
                plan.last_seen,
                plan.last_seen is not None,
                plan.declared,
                tuple(transformation(row, whole=row["whole"]) for row in found),
                plan.incomplete,
            )
            for plan, found in ((self._plans[key], found) for key, found in by_plan.items())
        ]


def jobs_by_key(tx: Transaction, keys: Iterable[str]) -> dict[str, Asset]:
    """Jobs with these keys."""
    found = tx.one("lineage/jobs", keys=list(dict.fromkeys(keys)))["jobs"]
    return {properties["key"]: job_asset(properties) for properties in found}


def latest_first(vias: Sequence[Via], as_of: datetime | None = None) -> tuple[Via, ...]:
    """Sort jobs by `last_seen` (latest first; declared jobs last), then by key; hide any `last_seen` after `as_of`."""
    if len(vias) == 1 and as_of is None:
        return (vias[0],)
    by_key = sorted(vias, key=attrgetter("job.key"))
    by_key.sort(key=lambda via: (via.last_seen is not None, via.last_seen), reverse=True)
    shown = by_key[:_MOST_VIA]
    if as_of is not None:
        shown = [replace(v, last_seen=None) if v.last_seen is not None and v.last_seen > as_of else v for v in shown]
    return tuple(shown)


def _by_job(vias: Iterable[Via]) -> list[Via]:
    """Merge the entries of each job: a job that uses a dataset under several names has several entries for a hop."""
    out: dict[str, Via] = {}
    for via in vias:
        old = out.setdefault(via.job.key, via)
        if old is not via:
            out[via.job.key] = replace(
                old,
                first_seen=min(filter(None, (old.first_seen, via.first_seen)), default=None),
                last_seen=max(filter(None, (old.last_seen, via.last_seen)), default=None),
                observed=old.observed or via.observed,
                declared=old.declared or via.declared,
                possible=old.possible and via.possible,
                partitions=tuple(dict.fromkeys((*old.partitions, *via.partitions))),
            )
    return list(out.values())


def _each_once(hops: Iterable[Iterable[int]]) -> list[int]:
    return list(dict.fromkeys(edge for edges in hops for edge in edges))
