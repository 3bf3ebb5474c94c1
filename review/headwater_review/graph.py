"""Cache of the graph for the impact of many changes: each node is asked about once, for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from headwater_analysis.impact.graph import AssetFacts, Feed, ImpactGraph, StoredColumnEdge
from headwater_analysis.impact.policy_inputs import InputGroup, JobInput, SeverityInputs


class SharedGraph:
    """`ImpactGraph` that caches its answers.

    Args:
        graph: graph to ask for nodes that aren't cached.
    """

    def __init__(self, graph: ImpactGraph) -> None:
        self._graph = graph
        self._edges: dict[int, list[StoredColumnEdge]] = {}
        self._lookups: dict[int, Sequence[int]] = {}
        self._feeds: dict[int, list[Feed]] = {}

    def column_edges(self, nodes: Sequence[int], /) -> list[StoredColumnEdge]:
        """See `ImpactGraph`."""
        if new := [node for node in nodes if node not in self._edges]:
            found: dict[int, list[StoredColumnEdge]] = defaultdict(list)
            for edge in self._graph.column_edges(new):
                found[edge.source].append(edge)
            self._edges |= {node: found[node] for node in new}
        return [edge for node in nodes for edge in self._edges[node]]

    def lookups(self, edges: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        """See `ImpactGraph`."""
        if new := [edge for edge in edges if edge not in self._lookups]:
            found = self._graph.lookups(new)
            self._lookups |= {edge: found.get(edge, ()) for edge in new}
        return {edge: self._lookups[edge] for edge in edges}

    def feeds(self, nodes: Sequence[int], /) -> list[Feed]:
        """See `ImpactGraph`."""
        if new := [node for node in nodes if node not in self._feeds]:
            found: dict[int, list[Feed]] = defaultdict(list)
            for feed in self._graph.feeds(new):
                found[feed[0]].append(feed)
            self._feeds |= {node: found[node] for node in new}
        return [feed for node in nodes for feed in self._feeds[node]]

    def unseen(self, made: Iterable[tuple[str, int]], /) -> set[tuple[str, int]]:
        """See `ImpactGraph`; the wrapped graph caches these itself."""
        return self._graph.unseen(made)

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, AssetFacts]:
        """See `ImpactGraph`; the wrapped graph caches these itself."""
        return self._graph.facts(nodes)

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> Mapping[int, SeverityInputs]:
        """See `ImpactGraph`; the wrapped graph caches these itself."""
        return self._graph.inputs(nodes, groups)

    def critical_jobs(self, jobs: Iterable[str], /) -> Mapping[str, JobInput]:
        """See `ImpactGraph`; the wrapped graph caches these itself."""
        return self._graph.critical_jobs(jobs)
