"""Drawing of the datasets near a dataset, their columns, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwater_analysis.assets import dataset_asset
from headwater_analysis.declared import Declared, declared_of_datasets
from headwater_analysis.drawing.drawing import (
    Drawing,
    DrawingMetadata,
    DrawnColumn,
    DrawnEdge,
    DrawnNode,
    Reach,
)
from headwater_analysis.identity import Identities
from headwater_analysis.lineage.details import jobs_by_key, latest_first
from headwater_analysis.lineage.hops import ColumnMapping, Via, transformation
from headwater_analysis.lineage.plans import Plans
from headwater_analysis.moments import moment
from headwater_analysis.paging import check_depth, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.walk import WalkStep, walk

_MOST_COLUMNS = 1_000


def drawn_nodes(tx: Transaction, hops: Mapping[int, int], *, columns: bool) -> dict[int, DrawnNode]:
    """Nodes by id, from ids and signed hops, in that order."""
    ids = list(hops)
    rows = {row["node"]: row for row in tx.rows("drawing/datasets", nodes=ids)}
    schemas = _schemas(tx, ids) if columns else {}
    about = declared_of_datasets(tx, [row["properties"]["key"] for row in rows.values()])
    out = {}
    for node in ids:
        row = rows[node]
        stated = about.get(row["properties"]["key"], Declared())
        drawn, total = schemas.get(node, ((), 0 if columns else None))
        tags = [*zip(row["tags"], row["tag_values"], strict=True), *((key, value) for key, value, _ in stated.tags())]
        out[node] = DrawnNode(
            dataset_asset(row["properties"]),
            hops[node],
            row["gone"],
            tuple(stated.values.get("owners") or row["owners"]),
            tuple(dict.fromkeys(f"{tag}={value}" if value else tag for tag, value in tags)),
            row["criticality"] or stated.values.get("criticality"),
            row["classification"] or stated.values.get("classification"),
            tuple(row["owners_of_jobs"]),
            row["more_upstream"],
            row["more_downstream"],
            drawn,
            total,
            stated.sensitivity(),
        )
    return out


def _schemas(tx: Transaction, nodes: list[int]) -> dict[int, tuple[tuple[DrawnColumn, ...], int]]:
    return {
        row["node"]: (
            tuple(DrawnColumn(column["key"], column["name"], column["type"] or None) for column in row["columns"]),
            row["total"],
        )
        for row in tx.rows("drawing/columns", nodes=nodes, most=_MOST_COLUMNS)
    }


_MOST_MAPPINGS = 1_000


def drawn_edges(tx: Transaction, nodes: Mapping[int, DrawnNode], *, columns: bool) -> tuple[DrawnEdge, ...]:
    """All edges between these nodes, by the keys of source and target."""
    feeds: dict[tuple[int, int], list[Any]] = {}
    identities = Identities.of(tx)
    rows = tx.rows("drawing/feeds", nodes=identities.expanded(nodes))
    stored = [[row[name] for row in rows] for name in ("source", "target", "edge")]
    for n, near, far in identities.hops(nodes, *stored):
        feeds.setdefault((near, far), []).append(rows[n])
    jobs = jobs_by_key(tx, (row["job"] for rows in feeds.values() for row in rows))
    mappings = _mappings(tx, feeds) if columns else {}
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
                latest_first(vias),
                len(vias),
                tuple(found[:_MOST_MAPPINGS]),
                len(found) if columns else None,
            )
        )
    return tuple(edges)


def _mappings(
    tx: Transaction, feeds: Mapping[tuple[int, int], list[Any]]
) -> dict[tuple[int, int], list[ColumnMapping]]:
    identities = Identities.of(tx)
    hops = [
        [near, far, [row["job"] for row in rows]]
        for (source, target), rows in feeds.items()
        for near in identities.expanded([source])
        for far in identities.expanded([target])
    ]
    rows = tx.rows("lineage/mappings", hops=hops)
    holding = Plans(tx).holding([row["plan"] for row in rows], [row["node"] for row in rows])
    held = [row for row, holds in zip(rows, holding, strict=True) if holds]
    held.sort(key=lambda row: (row["type"], row["target"] or "", row["source"] or "", row["key"]))
    found: dict[tuple[int, int], list[ColumnMapping]] = {}
    for row in held:
        mapping = ColumnMapping(
            row["source"], row["target"], row["job"], transformation(row, whole=row["target"] is None)
        )
        hop = identities.shown_node(row["from"]), identities.shown_node(row["to"])
        found.setdefault(hop, []).append(mapping)
    return found


MOST_NODES = 1_000
"""Maximum number of nodes of a drawing, so that it stays readable and a browser stays fast."""


def draw(
    reader: Reader,
    asset: str,
    *,
    direction: Reach = Reach.BOTH,
    depth: int | None = 1,
    columns: bool = False,
    limit: int = MOST_NODES,
) -> Drawing:
    """Return the graph around a dataset.

    Args:
        asset: the dataset, as `resolve_dataset` understands it.
        direction: upstream, downstream, or both, which doesn't include datasets downstream of something upstream.
        depth: maximum number of hops from the dataset; None: all.
        columns: whether to include columns and the transformations between them.
        limit: maximum number of nodes, the nearest first.

    Raises:
        QuestionError: depth or limit below 1.
        NotFoundError: no such dataset; with the nearest names.
        AmbiguousError: several datasets have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    check_depth(depth)
    check_limit(limit, MOST_NODES)

    def question(tx: Transaction) -> Drawing:
        start = resolve_dataset(tx, asset)
        hops, beyond = _reached(tx, start.id, direction, depth)
        shown = {start.id: 0} | dict(_nearest(tx, hops, limit - 1))
        nodes = drawn_nodes(tx, shown, columns=columns)
        edges = drawn_edges(tx, nodes, columns=columns)
        metadata = DrawingMetadata(
            depth,
            direction,
            columns,
            nodes_total=1 + len(hops),
            edges_total=len(edges),
            truncated=beyond or len(shown) <= len(hops),
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


def _reached(tx: Transaction, start: int, direction: Reach, depth: int | None) -> tuple[dict[int, int], bool]:
    """Signed hops by id, and whether there is more beyond the depth."""
    hops: dict[int, int] = {}
    beyond = False
    for way, sign in ((Reach.UPSTREAM, -1), (Reach.DOWNSTREAM, 1)):
        if direction not in (way, Reach.BOTH):
            continue

        def leaving(
            nodes: Sequence[int], /, statement: str = f"lineage/datasets_{way.lower()}"
        ) -> Iterator[WalkStep[int]]:
            identities = Identities.of(tx)
            identities.learn(nodes)
            row = tx.row(statement, nodes=identities.expanded(nodes), jobs=None, as_of=None, since=None)
            if row is not None:
                for n, source, target in identities.hops(nodes, *row.values()):
                    yield WalkStep(source, target, row["edges"][n])

        reached = walk([start], leaving, depth=depth)
        beyond |= reached.truncated
        for node, discovery in reached.found.items():
            if node not in hops or discovery.hops < abs(hops[node]):
                hops[node] = sign * discovery.hops
    return hops, beyond


def _nearest(tx: Transaction, hops: dict[int, int], most: int) -> list[tuple[int, int]]:
    """Nearest nodes; among equally near ones, in order of key."""
    row = tx.row("lineage/dataset_keys", nodes=list(hops))
    keys = {} if row is None else dict(zip(row["nodes"], row["keys"], strict=True))
    return sorted(hops.items(), key=lambda item: (abs(item[1]), keys[item[0]]))[:most]
