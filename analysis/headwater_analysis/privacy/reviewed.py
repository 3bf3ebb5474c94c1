"""Edges out of sensitive columns that somebody has looked at: what is made there needs no sensitivity of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from headwater_analysis.identity import Identities
from headwater_analysis.privacy.graph import StoredPrivacyGraph
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import SENSITIVE


def reviewed_edges(tx: Transaction, today: date, threshold: int, names: Mapping[str, list[str]]) -> list[int]:
    """Ids of relationships: their target has an approval that holds, or they are statistics over large groups.

    Args:
        tx: of the graph.
        today: which approvals hold.
        threshold: how many rows a group needs so that a statistic over it hides a value.
        names: of each dataset with several, by key: the keys of all of them.
    """
    found = tx.one("privacy/reviewed", sensitive=[each.value for each in SENSITIVE], names=names)["sources"]
    if not found:
        return []
    identities = Identities.of(tx)
    identities.learn(found)
    sources = sorted({identities.shown_node(node) for node in found})
    graph = StoredPrivacyGraph(tx)
    edges = [edge for edge in graph.edges(sources) if not edge.whole]
    declared = graph.declared(sorted({node for edge in edges for node in (edge.source, edge.target)}))
    return sorted(
        edge.edge
        for edge in edges
        if declared[edge.target].hides(edge.effect, threshold)
        or declared[edge.target].approves(declared[edge.source].level, today)
    )
