"""What is looked up of the hops between the datasets of a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.drawing.answer import DrawnEdge
from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.lineage.answer import ColumnMapping, Via
from headwater_consumers.analysis.lineage.details import jobs_by_key, latest_first
from headwater_consumers.analysis.lineage.plans import Plans
from headwater_consumers.analysis.lineage.transformations import transformation
from headwater_consumers.analysis.moments import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater_consumers.analysis.drawing.answer import DrawnNode
    from headwater_consumers.analysis.reader import Transaction

_MOST_MAPPINGS = 1_000


def drawn_edges(tx: Transaction, nodes: Mapping[int, DrawnNode], *, columns: bool) -> tuple[DrawnEdge, ...]:
    """Every edge between these nodes, by the keys of its ends."""
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
