"""Drawing of the datasets near a dataset, their columns, and the edges between the datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from headwater_analysis.dataset_status import status_of
from headwater_analysis.degrees import dataset_hops, near_datasets
from headwater_analysis.drawing.chosen import Opened, in_order, nearest, opened, within_width
from headwater_analysis.drawing.drawing import (
    ColumnScope,
    Drawing,
    DrawingMetadata,
    DrawnColumn,
    DrawnEdge,
    DrawnNode,
    Reach,
)
from headwater_analysis.drawing.labels import DatasetLabels, labels_of
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.lineage.details import held_mappings, jobs_by_key, latest_first
from headwater_analysis.lineage.hops import ColumnMapping, Via
from headwater_analysis.lineage.plans import Plans
from headwater_analysis.moments import moment
from headwater_analysis.paging import check_depth, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.walk import WalkStep, walk
from headwater_graph.keys import column_key

_MOST_COLUMNS = 1_000


def drawn_nodes(
    tx: Transaction, hops: Mapping[int, int], *, with_columns: Iterable[int] = (), as_of: datetime | None = None
) -> dict[int, DrawnNode]:
    """Build nodes by id, in the order of `hops`.

    Args:
        hops: signed hops from the start (negative upstream), by id of the node.
        with_columns: nodes whose columns are included.
        as_of: time of the graph; None: now.
    """
    found = labels_of(tx, hops)
    schemas = _schemas(tx, {found[node].asset.key: node for node in with_columns}, as_of)
    near = near_datasets(tx, hops, as_of=as_of)
    statuses = status_of(tx, {node: own.asset for node, own in found.items()}) if as_of is None else {}
    out = {}
    for node, own in found.items():
        neighbours, (drawn, total) = near[node], schemas.get(node, ((), None))
        out[node] = DrawnNode(
            **{name: getattr(own, name) for name in DatasetLabels.__slots__},
            hops=hops[node],
            more_upstream=len(neighbours.upstream - hops.keys()),
            more_downstream=len(neighbours.downstream - hops.keys()),
            columns=drawn,
            columns_total=total,
            upstream_total=len(neighbours.upstream),
            downstream_total=len(neighbours.downstream),
            status=statuses.get(node),
        )
    return out


def _schemas(
    tx: Transaction, datasets: Mapping[str, int], as_of: datetime | None
) -> dict[int, tuple[tuple[DrawnColumn, ...], int]]:
    """Columns of datasets and their number, by node; datasets are given by key."""
    if not datasets:
        return {}
    if as_of is not None:
        return _schemas_at(tx, datasets, as_of)
    return {
        row["node"]: (
            tuple(DrawnColumn(column["key"], column["name"], column["type"] or None) for column in row["columns"]),
            row["total"],
        )
        for row in tx.rows("drawing/columns", nodes=list(datasets.values()), most=_MOST_COLUMNS)
    }


def _schemas_at(
    tx: Transaction, datasets: Mapping[str, int], as_of: datetime
) -> dict[int, tuple[tuple[DrawnColumn, ...], int]]:
    found: dict[int, tuple[tuple[DrawnColumn, ...], int]] = dict.fromkeys(datasets.values(), ((), 0))
    for row in tx.rows("schemas/at", keys=list(datasets), time=as_of):
        key, schema = row["dataset"]["key"], row["schema"]
        columns = [*zip(schema["columns"], schema["data_types"], strict=True)]
        found[datasets[key]] = (
            tuple(
                DrawnColumn(column_key(tx.tenant, key, path), path, type_ or None)
                for path, type_ in columns[:_MOST_COLUMNS]
            ),
            len(columns),
        )
    return found


_MOST_MAPPINGS = 1_000


def drawn_edges(
    tx: Transaction, nodes: Mapping[int, DrawnNode], *, columns: bool, as_of: datetime | None = None
) -> tuple[DrawnEdge, ...]:
    """Build all edges between these nodes, in order of the keys of source and target.

    Args:
        columns: whether to include the transformations of columns.
        as_of: time of the graph; None: now.
    """
    feeds: dict[tuple[int, int], list[Any]] = {}
    identities = Identities.of(tx)
    rows = tx.rows("drawing/feeds", nodes=identities.expanded(nodes), as_of=as_of)
    stored = [[row[name] for row in rows] for name in ("source", "target", "edge")]
    for n, near, far in identities.hops(nodes, *stored):
        # A former name of a drawn dataset may be another dataset's name now, and that dataset isn't drawn.
        if far in nodes:
            feeds.setdefault((near, far), []).append(rows[n])
    jobs = jobs_by_key(tx, (row["job"] for rows in feeds.values() for row in rows))
    mappings = _mappings(tx, feeds, as_of) if columns else {}
    edges = []
    for ends, rows in feeds.items():
        source, target = (nodes[end].asset.key for end in ends)
        vias = [
            Via(
                jobs[row["job"]],
                moment(row["first_seen"]),
                moment(row["last_seen"]),
                row["observed"],
                row["declared"],
                possible=row["possible"],
            )
            for row in rows
        ]
        found = mappings.get(ends, [])
        edges.append(
            DrawnEdge(
                f"{source}>{target}",
                source,
                target,
                latest_first(vias, as_of),
                len(vias),
                tuple(found[:_MOST_MAPPINGS]),
                len(found) if columns else None,
            )
        )
    return tuple(edges)


def _mappings(
    tx: Transaction, feeds: Mapping[tuple[int, int], list[Any]], as_of: datetime | None
) -> dict[tuple[int, int], list[ColumnMapping]]:
    identities, plans = Identities.of(tx), Plans(tx, as_of=as_of)
    held = held_mappings(tx, plans, [(*ends, [row["job"] for row in rows]) for ends, rows in feeds.items()])
    held.sort(key=lambda each: (each[0]["type"], each[0]["target"] or "", each[0]["source"] or "", each[0]["key"]))
    found: dict[tuple[int, int], list[ColumnMapping]] = {}
    for row, mapping in held:
        plan = plans[row["plan"]]
        nears, fars = (identities.taking(row[end], plan.first_seen, plan.last_seen) for end in ("from", "to"))
        for hop in ((near, far) for near in nears for far in fars):
            found.setdefault(hop, []).append(mapping)
    return found


MOST_NODES = 1_000
"""Maximum number of nodes in a drawing, so that it stays readable and a browser stays fast."""


def draw(
    reader: Reader,
    asset: str,
    *,
    direction: Reach = Reach.BOTH,
    depth: int | None = 1,
    columns: ColumnScope = ColumnScope.NONE,
    as_of: datetime | None = None,
    to: str | None = None,
    width: int | None = None,
    opening: Sequence[Opened] = (),
    limit: int = MOST_NODES,
) -> Drawing:
    """Return the graph around a dataset.

    Args:
        asset: the dataset, as `resolve_dataset` understands it.
        direction: upstream, downstream, or both; both excludes datasets that are only downstream of an upstream
            dataset.
        depth: maximum number of hops from the dataset; None: all.
        columns: datasets whose columns are included; ALL also includes the transformations between columns.
        as_of: time of the graph: only hops that had been seen by then, and columns of the schemas then; None: now.
        to: another dataset: only datasets on a path from `asset` to this dataset are drawn, at any depth; without such
            a path, datasets on a path from this dataset to `asset`. Without any path, only `asset` is drawn.
        width: maximum number of neighbours to draw on each side of a node, chosen in the order of `limit`; None: no
            maximum.
        opening: sides of drawn nodes whose neighbours are drawn, too, in this order, even beyond the depth.
        limit: maximum number of nodes: the nearest. Among equally near nodes the most critical come first, then the
            nodes with the most datasets downstream, then in order of key.

    Raises:
        QuestionError: depth, width or limit below 1, or `as_of` without a time zone.
        NotFoundError: no such dataset; with the nearest names.
        AmbiguousError: several datasets have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    check_depth(depth)
    check_limit(limit, MOST_NODES)
    if width is not None and width < 1:
        raise QuestionError("`width` is at least 1.", field="width")
    if as_of is not None and as_of.tzinfo is None:
        raise QuestionError("`as_of` needs a time zone.", field="as_of")

    def question(tx: Transaction) -> Drawing:
        Identities.of(tx).as_of = as_of
        start = resolve_dataset(tx, asset)
        if to is None:
            hops, beyond = _reached(tx, start.id, direction, depth, as_of)
        else:
            hops, beyond = _between(tx, start.id, resolve_dataset(tx, to).id, as_of), False
        if width is None:
            shown = {start.id: 0} | nearest(tx, hops, limit - 1, as_of)
        else:
            shown = within_width(tx, start.id, hops, width=width, most=limit, as_of=as_of)
        opened(tx, shown, opening, hops=hops, most=limit, as_of=as_of)
        shown = in_order(tx, start.id, shown)
        with_columns = {ColumnScope.NONE: (), ColumnScope.START: (start.id,), ColumnScope.ALL: tuple(shown)}[columns]
        nodes = drawn_nodes(tx, shown, with_columns=with_columns, as_of=as_of)
        edges = drawn_edges(tx, nodes, columns=columns is ColumnScope.ALL, as_of=as_of)
        metadata = DrawingMetadata(
            depth,
            direction,
            as_of,
            columns,
            nodes_total=1 + len(hops) + len(shown.keys() - hops.keys() - {start.id}),
            edges_total=len(edges),
            truncated=beyond or not hops.keys() <= shown.keys(),
            max_hops=max(map(abs, shown.values())),
        )
        return Drawing(start.asset, tuple(nodes.values()), edges, metadata)

    return reader.read(question)


def keys_around(reader: Reader, asset: str, *, direction: Reach = Reach.BOTH, depth: int | None = 1) -> frozenset[str]:
    """Return the keys of a dataset and of all datasets around it, under all their names.

    Args:
        asset: the dataset, as `resolve_dataset` understands it.
        direction: as in `draw`.
        depth: maximum number of hops from the dataset; None: all.

    Raises:
        QuestionError: depth below 1.
        NotFoundError, AmbiguousError, TimeLimitError, GraphUnreachableError, GraphRefusedError: as in `draw`.
    """
    check_depth(depth)

    def question(tx: Transaction) -> frozenset[str]:
        start = resolve_dataset(tx, asset)
        hops, _ = _reached(tx, start.id, direction, depth)
        nodes, identities = [start.id, *hops], Identities.of(tx)
        identities.learn(nodes)
        return frozenset(tx.one("lineage/dataset_keys", nodes=identities.expanded(nodes))["keys"])

    return reader.read(question)


def _reached(
    tx: Transaction, start: int, direction: Reach, depth: int | None, as_of: datetime | None = None
) -> tuple[dict[int, int], bool]:
    """Signed hops by id, and whether there are more datasets beyond the depth."""
    hops: dict[int, int] = {}
    beyond = False
    for side, sign in ((Reach.UPSTREAM, -1), (Reach.DOWNSTREAM, 1)):
        if direction not in (side, Reach.BOTH):
            continue

        def leaving(nodes: Sequence[int], /, side: str = side.lower()) -> Iterator[WalkStep[int]]:
            return (WalkStep(*hop) for hop in dataset_hops(tx, nodes, side, as_of))

        reached = walk([start], leaving, depth=depth)
        beyond |= reached.truncated
        for node, discovery in reached.found.items():
            if node not in hops or discovery.hops < abs(hops[node]):
                hops[node] = sign * discovery.hops
    return hops, beyond


def _between(tx: Transaction, start: int, end: int, as_of: datetime | None) -> dict[int, int]:
    """Signed hops by id of the datasets on the paths between two datasets; empty if there is no path."""
    for forth, back in ((Reach.DOWNSTREAM, Reach.UPSTREAM), (Reach.UPSTREAM, Reach.DOWNSTREAM)):
        reached, _ = _reached(tx, start, forth, None, as_of)
        if end in reached:
            leading, _ = _reached(tx, end, back, None, as_of)
            return {node: hops for node, hops in reached.items() if node == end or node in leading}
    return {}
