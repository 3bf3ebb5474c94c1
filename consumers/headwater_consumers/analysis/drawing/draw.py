"""The question answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.drawing.answer import Drawing, DrawingMetadata, Reach
from headwater_consumers.analysis.drawing.edges import drawn_edges
from headwater_consumers.analysis.drawing.nodes import drawn_nodes
from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.paging import check_depth, check_limit
from headwater_consumers.analysis.resolve import resolve_dataset
from headwater_consumers.analysis.walk import Step, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater_consumers.analysis.reader import Reader, Transaction

MOST_NODES = 1_000
"""Of one drawing; a person sees no more, and a browser stays smooth."""


def draw(
    reader: Reader,
    asset: str,
    *,
    direction: Reach = Reach.BOTH,
    depth: int | None = 1,
    columns: bool = False,
    limit: int = MOST_NODES,
) -> Drawing:
    """The graph around a dataset.

    Args:
        reader: of the graph.
        asset: the dataset, as `resolve_dataset` understands.
        direction: upstream, downstream, or both, which doesn't mean what is downstream of something upstream.
        depth: most hops from it; None: all.
        columns: say the datasets' columns too, and what the jobs do to them.
        limit: most nodes, the nearest first.

    Raises:
        QuestionError: depth or limit below 1.
        NotFoundError: no such dataset; with the nearest names.
        AmbiguousError: several are called that.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read` says.
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


def _reached(tx: Transaction, start: int, direction: Reach, depth: int | None) -> tuple[dict[int, int], bool]:
    """Signed hops by id, and whether there is more beyond the depth."""
    hops: dict[int, int] = {}
    beyond = False
    for way, sign in ((Reach.UPSTREAM, -1), (Reach.DOWNSTREAM, 1)):
        if direction not in (way, Reach.BOTH):
            continue

        def leaving(nodes: Sequence[int], /, statement: str = f"lineage/datasets_{way.lower()}") -> Iterator[Step]:
            identities = Identities.of(tx)
            identities.learn(nodes)
            row = tx.row(statement, nodes=identities.expanded(nodes), jobs=None, as_of=None, since=None)
            if row is not None:
                for n, source, target in identities.hops(nodes, *row.values()):
                    yield Step(source, target, row["edges"][n])

        reached = walk([start], leaving, depth=depth)
        beyond |= reached.truncated
        for node, discovery in reached.found.items():
            if node not in hops or discovery.hops < abs(hops[node]):
                hops[node] = sign * discovery.hops
    return hops, beyond


def _nearest(tx: Transaction, hops: dict[int, int], most: int) -> list[tuple[int, int]]:
    """The nearest ones; of equally near ones, those with the least keys."""
    row = tx.row("lineage/dataset_keys", nodes=list(hops))
    keys = {} if row is None else dict(zip(row["nodes"], row["keys"], strict=True))
    return sorted(hops.items(), key=lambda item: (abs(item[1]), keys[item[0]]))[:most]
