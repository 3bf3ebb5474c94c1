"""Cycles among the inputs and outputs of declared jobs."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Final

from headwater_schemas.events import DatasetRef, DeclarationEvent

_MOST_CYCLES: Final = 20
_Feeds = Mapping[str, set[str]]


def declared_pairs(declarations: Iterable[DeclarationEvent]) -> set[tuple[DatasetRef, DatasetRef]]:
    """Pairs of input and output dataset of declared jobs."""
    pairs: set[tuple[DatasetRef, DatasetRef]] = set()
    for body in declarations:
        pairs |= {(source, target) for source in body.inputs or () for target in body.outputs or ()}
        if (lineage := body.lineage) is not None:
            pairs |= {
                (lineage.datasets[edge.input], lineage.datasets[edge.output])
                for edge in lineage.edges
                if edge.input is not None
            }
    return pairs


def cycles(own: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]] = ()) -> list[list[str]]:
    """Return at most 20 cycles: one for each group of datasets that are derived from each other, with a pair of `own`.

    A dataset that is derived from itself, as by an update in place, is no cycle.

    Args:
        own: source and target of each pair that the set declares.
        others: source and target of each pair that other sets declare.
    """
    feeds: dict[str, set[str]] = defaultdict(set)
    own_pairs = sorted({pair for pair in own if pair[0] != pair[1]})
    for source, target in (*own_pairs, *others):
        if source != target:
            feeds[source].add(target)
    groups = _groups(feeds)
    out, seen = [], set[int]()
    for source, target in own_pairs:
        group = groups.get(source)
        if group is None or group != groups.get(target) or group in seen:
            continue
        seen.add(group)
        out.append([source, *_shortest_path(feeds, target, source)])
    return out[:_MOST_CYCLES]


def _groups(feeds: _Feeds) -> dict[str, int]:
    """Number of each node's strongly connected component (Tarjan; not recursive, since a chain may be long)."""
    at: dict[str, int] = {}
    low: dict[str, int] = {}
    group: dict[str, int] = {}
    path: list[str] = []
    for start in sorted(feeds):
        stack = [(start, iter(sorted(feeds[start])))] if start not in at else []
        for node, _ in stack:
            at[node] = low[node] = len(at)
            path.append(node)
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[node])
                if low[node] == at[node]:
                    number = len(group)
                    while node not in group:
                        group[path.pop()] = number
            elif target not in at:
                at[target] = low[target] = len(at)
                path.append(target)
                stack.append((target, iter(sorted(feeds.get(target, ())))))
            elif target not in group:
                low[node] = min(low[node], at[target])
    return group


def _shortest_path(feeds: _Feeds, start: str, end: str) -> list[str]:
    """Shortest path from one node to another, both included. The nodes must be connected."""
    before: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while end not in before:
        node = waiting.popleft()
        for target in sorted(feeds.get(node, ())):
            if target not in before:
                before[target] = node
                waiting.append(target)
    path: list[str] = []
    here: str | None = end
    while here is not None:
        path.append(here)
        here = before[here]
    return path[::-1]
