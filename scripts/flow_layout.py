"""Layout of nodes such that arrows run from left to right: a column for each step, few crossings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SWEEPS = 8  # repetitions of the ordering; a graph that a person can read needs three or four


def flow_layout(nodes: Sequence[str], arrows: Iterable[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Position of each node: x and y as fractions of the canvas, margins included.

    A node's column is the length of the longest path to it from a node without predecessors; within a column, nodes are
    ordered by their neighbours' mean height (Sugiyama's layered drawing, with barycentres). Arrows that close a cycle,
    and arrows from a node to itself, are ignored.

    Args:
        nodes: Ids, in an order that breaks ties.
        arrows: Pairs of ids, from and to.
    """
    forward = _without_cycles(nodes, dict.fromkeys((a, b) for a, b in arrows if a != b))
    column = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for source, target in forward:
            column[target] = max(column[target], column[source] + 1)
    # A source is placed right before its first target, not at the far left.
    for node in nodes:
        following = [column[target] for source, target in forward if source == node]
        if following and not any(target == node for _, target in forward):
            column[node] = min(following) - 1

    last = max(column.values(), default=0)
    columns = [[node for node in nodes if column[node] == number] for number in range(last + 1)]
    height = {node: _spread(row, len(group)) for group in columns for row, node in enumerate(group)}
    neighbours: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in forward:
        neighbours[source].append(target)
        neighbours[target].append(source)

    def barycentre(node: str) -> float:
        around = [height[other] for other in neighbours[node]] or [height[node]]
        return sum(around) / len(around)

    for _ in range(SWEEPS):
        for group in columns:
            group.sort(key=barycentre)
            height.update({node: _spread(row, len(group)) for row, node in enumerate(group)})
    return {node: (_spread(column[node], len(columns)), height[node]) for node in nodes}


def _spread(position: int, count: int) -> float:
    """Middle of the slot `position` of `count` equal slots, as a fraction."""
    return (position + 0.5) / count


def _without_cycles(nodes: Sequence[str], arrows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows, except those that close a cycle in a depth-first walk in the nodes' order."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in arrows:
        following[source].append(target)
    kept: list[tuple[str, str]] = []
    done: set[str] = set()
    path: set[str] = set()

    def walk(node: str) -> None:
        path.add(node)
        for target in following[node]:
            if target in path:
                continue
            kept.append((node, target))
            if target not in done:
                walk(target)
        path.remove(node)
        done.add(node)

    for node in nodes:
        if node not in done:
            walk(node)
    return kept
