"""Jobs that may make something of sensitive columns, and don't report what."""

from __future__ import annotations

from collections.abc import Collection

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.identity import Identities
from headwater_analysis.impact.graph import StoredGraph
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import SENSITIVE


def unknown_uses(tx: Transaction, exempt: Collection[str]) -> tuple[list[Asset], set[str]]:
    """Jobs that read datasets with columns that are declared sensitive, and whose column lineage isn't known.

    Args:
        tx: of the graph.
        exempt: keys of datasets and jobs that are left out.

    Returns:
        The jobs, by name, and those of `exempt` that left something out.
    """
    found = tx.one("privacy/sensitive_datasets", sensitive=[each.value for each in SENSITIVE])["datasets"]
    identities, graph = Identities.of(tx), StoredGraph(tx)
    identities.learn(found, datasets=True)
    nodes = sorted({identities.shown_node(node) for node in found})
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
