"""Direct neighbours of one dataset, page by page: a hub has hundreds, too many for a drawing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater_analysis import paging
from headwater_analysis.assets import Asset
from headwater_analysis.counted_values import ValueCount, counted_values
from headwater_analysis.criticality import criticality_rank
from headwater_analysis.dataset_status import DatasetStatus, status_of
from headwater_analysis.degrees import NearDatasets, dataset_hops, near_datasets
from headwater_analysis.drawing.labels import CountedDataset, DatasetLabels, counted, labels_of
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.lineage import LineageDirection
from headwater_analysis.lineage.details import DatasetPageDetails, latest_first
from headwater_analysis.lineage.scope import LineageBounds
from headwater_analysis.paging import Page, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset


@dataclass(frozen=True, slots=True)
class Neighbour(CountedDataset):
    """A dataset one hop upstream or downstream of the dataset of the question.

    Attributes:
        status: its last run and the results of its latest checks now; None with `as_of`.
        jobs: jobs that make the hop, the latest seen first; at most 10.
        jobs_total: number of these jobs.
    """

    status: DatasetStatus | None
    jobs: tuple[Asset, ...]
    jobs_total: int


@dataclass(frozen=True, slots=True)
class NeighbourFacets:
    """Values of all neighbours that the filter `text` admits; other filters don't matter. At most 20 of each property.

    Attributes:
        namespaces: namespaces.
        owners: owners.
        types: types of datasets.
        criticalities: criticalities.
    """

    namespaces: tuple[ValueCount, ...]
    owners: tuple[ValueCount, ...]
    types: tuple[ValueCount, ...]
    criticalities: tuple[ValueCount, ...]


@dataclass(frozen=True, slots=True)
class NeighbourPage(Page):
    """Direct neighbours: the most critical first, then the datasets with the most datasets downstream, then by name.

    Attributes:
        start: dataset of the question.
        direction: direction of the question.
        facets: number of neighbours by namespace, owner, type and criticality.
    """

    items: tuple[Neighbour, ...]
    start: Asset
    direction: LineageDirection
    facets: NeighbourFacets


@dataclass(frozen=True, slots=True)
class NeighbourFilters:
    """Filters of neighbours. An empty filter matches everything, any other if one of its values matches.

    Attributes:
        text: words that the name, title or table must all contain, in any case.
        namespaces: exact namespaces.
        owners: exact owners.
        types: types, in capitals.
        criticalities: exact criticalities.
    """

    text: str = ""
    namespaces: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    criticalities: tuple[str, ...] = ()

    def is_named(self, asset: Asset) -> bool:
        """Return whether the asset's name has all words of the text."""
        names = "\n".join(filter(None, (asset.spelling, asset.title, asset.table))).casefold()
        return all(word in names for word in self.text.casefold().split())

    def admits(self, labels: DatasetLabels) -> bool:
        """Return whether namespace, owners, type and criticality match the filters."""
        asset = labels.asset
        return (
            (not self.namespaces or asset.namespace in self.namespaces)
            and (not self.owners or not set(self.owners).isdisjoint(labels.owners))
            and (not self.types or (asset.type or "").upper() in self.types)
            and (not self.criticalities or labels.criticality in self.criticalities)
        )


def neighbours(
    reader: Reader,
    asset: str,
    direction: LineageDirection,
    *,
    filters: NeighbourFilters | None = None,
    as_of: datetime | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> NeighbourPage:
    """Return a page of the datasets one hop upstream or downstream of a dataset.

    Args:
        asset: the dataset, as `resolve_dataset` understands it.
        direction: upstream or downstream.
        filters: filters of the neighbours; None: all.
        as_of: time of the graph: only hops that had been seen by then; None: now.
        limit: maximum number of neighbours on a page.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the limit isn't from 1 to 1,000, `as_of` has no time zone, or the cursor belongs to another
            question.
        NotFoundError: no such dataset; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    check_limit(limit)
    if as_of is not None and as_of.tzinfo is None:
        raise QuestionError("`as_of` needs a time zone.", field="as_of")
    wanted = filters or NeighbourFilters()

    def question(tx: Transaction) -> NeighbourPage:
        Identities.of(tx).as_of = as_of
        start = resolve_dataset(tx, asset)
        edges = _edges(tx, start.id, direction, as_of)
        labels = {node: each for node, each in labels_of(tx, edges).items() if wanted.is_named(each.asset)}
        near = near_datasets(tx, labels, as_of=as_of)
        listed = sorted(
            (node for node, each in labels.items() if wanted.admits(each)),
            key=lambda node: _order(labels[node], near[node]),
        )
        asked = ("neighbours", tx.tenant, start.asset.key, direction, wanted, as_of)
        begin = 0
        if cursor is not None:
            criticality, downstream, name, key = paging.decode(cursor, question=asked, kinds=(int, int, str, str))
            last = (criticality, downstream, name, key)
            begin = bisect_right(listed, last, key=lambda node: _order(labels[node], near[node]))
        shown = listed[begin : begin + limit]
        more = begin + limit < len(listed)
        return NeighbourPage(
            items=_items(tx, shown, labels, near, edges, direction, as_of),
            total=len(listed),
            next_cursor=paging.encode(_order(labels[shown[-1]], near[shown[-1]]), question=asked) if more else None,
            start=start.asset,
            direction=direction,
            facets=_facets(list(labels.values())),
        )

    return reader.read(question)


def _edges(tx: Transaction, start: int, direction: LineageDirection, as_of: datetime | None) -> dict[int, list[int]]:
    """Edges of the hops to each neighbour, without hops to the dataset itself."""
    found = dict[int, list[int]]()
    for near, far, edge in dataset_hops(tx, [start], direction.lower(), as_of):
        if near != far:
            found.setdefault(far, []).append(edge)
    return found


def _order(labels: DatasetLabels, near: NearDatasets) -> tuple[int, int, str, str]:
    return -criticality_rank(labels.criticality), -len(near.downstream), labels.asset.name, labels.asset.key


def _items(
    tx: Transaction,
    nodes: Sequence[int],
    labels: Mapping[int, DatasetLabels],
    near: Mapping[int, NearDatasets],
    edges: Mapping[int, list[int]],
    direction: LineageDirection,
    as_of: datetime | None,
) -> tuple[Neighbour, ...]:
    if not nodes:
        return ()
    vias = DatasetPageDetails(tx, LineageBounds(direction, as_of), None).vias([edges[node] for node in nodes])
    statuses = status_of(tx, {node: labels[node].asset for node in nodes}) if as_of is None else {}
    return tuple(
        Neighbour(
            **counted(own, near[node]),
            status=statuses.get(node),
            jobs=tuple(each.job for each in latest_first(via, as_of)),
            jobs_total=len(via),
        )
        for node, via in zip(nodes, vias, strict=True)
        for own in [labels[node]]
    )


def _facets(found: Sequence[DatasetLabels]) -> NeighbourFacets:
    return NeighbourFacets(
        namespaces=counted_values([each.asset.namespace] for each in found),
        owners=counted_values((each.owners for each in found), with_none=True),
        types=counted_values(([each.asset.type] if each.asset.type else [] for each in found), with_none=True),
        criticalities=counted_values(
            ([each.criticality] if each.criticality else [] for each in found), with_none=True
        ),
    )
