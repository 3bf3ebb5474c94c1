"""Choice of the datasets to draw if there are more than fit: the nearest, and among these the most important."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headwater_analysis.criticality import criticality_rank
from headwater_analysis.degrees import near_datasets
from headwater_analysis.drawing.labels import keys_of
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Transaction

MOST_OPENED: Final = 12
"""Number of neighbours to add when one side of a node is opened."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A side of a node whose neighbours are drawn, too: all up to `MOST_OPENED`, or a single one.

    Attributes:
        side: -1 upstream, 1 downstream.
        key: key of the node.
        neighbour: key of the single neighbour to draw; None: the most important neighbours.
    """

    side: int
    key: str
    neighbour: str | None = None

    @classmethod
    def parse(cls, text: str) -> Opened:
        """Parse `UPSTREAM:key` or `DOWNSTREAM:key:neighbour`.

        Raises:
            QuestionError: the text has another form.
        """
        side, *keys = text.split(":")
        signs = {"UPSTREAM": -1, "DOWNSTREAM": 1}
        if side.upper() not in signs or len(keys) not in (1, 2) or not all(keys):
            raise QuestionError(
                "`open` is `UPSTREAM:` or `DOWNSTREAM:`, the key of a dataset, and, after another `:`, the key of its "
                "neighbour if only one is meant.",
                field="open",
            )
        return cls(signs[side.upper()], *keys)


def nearest(tx: Transaction, hops: Mapping[int, int], most: int, as_of: datetime | None) -> dict[int, int]:
    """Nearest nodes, at most `most`, with their hops.

    At the distance where not all nodes fit, nodes of the worst criticality are drawn, then nodes with the most datasets
    downstream, then the first by key. Only nodes at this distance are compared.
    """
    by_distance = sorted(hops, key=lambda node: abs(hops[node]))
    shown = by_distance[:most]
    if len(shown) < len(hops):
        farthest = abs(hops[by_distance[most]])
        near = [node for node in shown if abs(hops[node]) < farthest]
        ranked = _ranked(tx, [node for node in by_distance if abs(hops[node]) == farthest], as_of)
        shown = [*near, *ranked[: most - len(near)]]
    return {node: hops[node] for node in shown}


def within_width(
    tx: Transaction, start: int, hops: Mapping[int, int], *, width: int, most: int, as_of: datetime | None
) -> dict[int, int]:
    """Nodes to draw, with their hops, level by level: each drawn node adds its most important neighbours.

    Args:
        start: node in the middle.
        hops: signed hops (negative upstream) of the nodes that may be drawn.
        width: maximum number of neighbours that one node adds on a side.
        most: maximum number of nodes.
        as_of: time of the graph; None: now.
    """
    shown, level = {start: 0}, [start]
    while level and len(shown) < most:
        near = near_datasets(tx, level, as_of=as_of)
        sides = [
            [other for other in around if other not in shown and hops.get(other) == sign * (abs(shown[node]) + 1)]
            for node in level
            for sign, around in ((-1, near[node].upstream), (1, near[node].downstream))
        ]
        rank = {node: n for n, node in enumerate(_ranked(tx, {node for side in sides for node in side}, as_of))}
        level = []
        for side in sides:
            best = sorted((node for node in side if node not in shown), key=rank.__getitem__)
            for node in best[: min(width, most - len(shown))]:
                shown[node] = hops[node]
                level.append(node)
    return shown


def opened(
    tx: Transaction,
    shown: dict[int, int],
    sides: Sequence[Opened],
    *,
    hops: Mapping[int, int],
    most: int,
    as_of: datetime | None,
) -> None:
    """Add the neighbours on opened sides to the drawn nodes. Sides of nodes that aren't drawn add nothing.

    Args:
        shown: drawn nodes with their hops; neighbours are added to it.
        sides: sides to open, one after another.
        hops: hops of the nodes within the depth. Any other node gets the hops of the opened node plus or minus 1; this
            can be 0, for a node that feeds a dataset one hop downstream.
        most: maximum number of nodes.
        as_of: time of the graph; None: now.
    """
    if not sides:
        return
    keys = keys_of(tx, shown)
    for side in sides:
        at = next((node for node in shown if keys[node] == side.key), None)
        if at is None or len(shown) >= most:
            continue
        near = near_datasets(tx, [at], as_of=as_of)[at]
        beyond = [node for node in (near.upstream if side.side < 0 else near.downstream) if node not in shown]
        keys |= keys_of(tx, beyond)
        if side.neighbour is not None:
            added = [node for node in beyond if keys[node] == side.neighbour]
        else:
            added = _ranked(tx, beyond, as_of)[:MOST_OPENED]
        for node in added[: most - len(shown)]:
            shown[node] = hops.get(node, shown[at] + side.side)


def in_order(tx: Transaction, start: int, shown: Mapping[int, int]) -> dict[int, int]:
    """Drawn nodes with their hops: the start first, then the nearest first, then in order of key."""
    keys = keys_of(tx, shown)
    return {node: shown[node] for node in sorted(shown, key=lambda node: (node != start, abs(shown[node]), keys[node]))}


def _ranked(tx: Transaction, nodes: Iterable[int], as_of: datetime | None) -> list[int]:
    """Equally near nodes in order of importance, the most important first."""
    asked, identities = list(nodes), Identities.of(tx)
    identities.learn(asked, datasets=True)
    critical, downstream, keys = dict.fromkeys(asked, 0), dict.fromkeys(asked, 0), dict.fromkeys(asked, "")
    for row in tx.rows("drawing/candidates", nodes=identities.expanded(asked), as_of=as_of):
        if (node := identities.shown_node(row["node"])) in critical:
            rank = criticality_rank(row["criticality"] or next(iter(row["declared"]), None))
            critical[node] = max(critical[node], rank)
            downstream[node] = max(downstream[node], row["downstream"])
            if node == row["node"]:
                keys[node] = row["key"]
    return sorted(asked, key=lambda node: (-critical[node], -downstream[node], keys[node]))
