"""One step from sensitive columns, for `headwater check`: derived columns, and jobs that may derive columns."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Any

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.identity import Identities
from headwater_analysis.impact.graph import StoredGraph
from headwater_analysis.privacy.graph import StoredPrivacyGraph
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import LEVELS, SENSITIVE, level_of


def sensitive_columns(tx: Transaction) -> dict[int, int]:
    """Levels of the columns that are declared sensitive, directly or by their dataset, by id of the shown node."""
    found = tx.one("privacy/sources", sensitive=[each.value for each in SENSITIVE])
    identities = Identities.of(tx)
    identities.learn(found["nodes"])
    levels: dict[int, int] = {}
    for node, name in zip(found["nodes"], found["sensitivities"], strict=True):
        shown = identities.shown_node(node)
        levels[shown] = max(level_of(name), levels.get(shown, 0))
    return levels


def unclassified_columns(tx: Transaction, today: date, threshold: int) -> list[dict[str, Any]]:
    """Find columns without sensitivity and classification that are derived unmasked from sensitive columns.

    Columns with a valid approval, and statistics over large enough groups, are left out.

    Args:
        today: day on which approvals must be valid.
        threshold: minimum number of rows in a group so that a statistic over it hides single values.

    Returns:
        For each column: `column`, its key; `names`, the keys under all its names; `source`, the first key of its
        sensitive sources; `sensitivity`; and `possible`, whether the job only possibly uses the source.
    """
    graph, identities = StoredPrivacyGraph(tx), Identities.of(tx)
    levels = sensitive_columns(tx)
    edges = [
        edge
        for edge in graph.edges(sorted(levels))
        if edge.direct and not edge.whole and edge.effect.exposure is None and edge.target not in levels
    ]
    declared = graph.declared(sorted({edge.target for edge in edges}))
    names = {edge.target: identities.expanded([edge.target]) for edge in edges}
    nodes = [node for edge in edges for node in (edge.source, edge.target, *names[edge.target])]
    keys = {node: facts.key for node, facts in graph.facts(nodes).items()}
    found: dict[int, dict[str, Any]] = {}
    for edge in sorted(edges, key=lambda edge: (edge.effect.possible, keys[edge.source])):
        target, level = declared[edge.target], levels[edge.source]
        is_reviewed = target.hides(edge.effect, threshold) or target.approves(level, today)
        if not (target.level or target.classified or is_reviewed):
            found.setdefault(
                edge.target,
                {
                    "column": keys[edge.target],
                    "names": [keys[name] for name in names[edge.target]],
                    "source": keys[edge.source],
                    "sensitivity": LEVELS[level].value,
                    "possible": edge.effect.possible,
                },
            )
    return list(found.values())


def unknown_uses(tx: Transaction, exempt: Collection[str]) -> tuple[list[Asset], set[str]]:
    """List jobs that read datasets with sensitive columns and have unknown column lineage.

    Args:
        exempt: keys of datasets and jobs that are left out.

    Returns:
        The jobs, by name, and the keys of `exempt` that left out a job.
    """
    graph, identities = StoredGraph(tx), Identities.of(tx)
    nodes = sorted({facts.dataset for facts in graph.facts(list(sensitive_columns(tx))).values()})
    feeds = [feed for feed in graph.feeds(nodes) if feed[0] != feed[1]]
    unseen = graph.unseen({(job, target) for _, target, _, job in feeds})
    facts = graph.facts(nodes)
    uses = {(facts[source].key, job) for source, target, _, job in feeds if (job, target) in unseen}
    shown = {name: facts[node].key for node in nodes for name in identities.members(facts[node].key)}
    readers = tx.one("privacy/readers", keys=sorted(shown))["datasets"]
    every = uses | {(shown[row["key"]], job) for row in readers for job in row["ending"]}
    left_out = {key for use in every for key in use if key in exempt}
    jobs = sorted({job for dataset, job in every if not left_out & {dataset, job}})
    rows = tx.one("impact/jobs", keys=jobs)["jobs"]
    return sorted((job_asset(row["properties"]) for row in rows), key=lambda job: (job.name, job.key)), left_out
