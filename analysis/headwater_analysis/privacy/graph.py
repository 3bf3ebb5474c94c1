"""The graph as sensitive values spread in it, in Neo4j."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.identity import Identities
from headwater_analysis.impact.graph import AssetFacts, Feed, StoredGraph
from headwater_analysis.privacy.operations import effect_of
from headwater_analysis.privacy.spread import DeclaredFacts, PrivacyEdge
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import SENSITIVE, level_of

_BLACK_BOXES = frozenset({"EXTERNAL", "UNKNOWN"})


class StoredPrivacyGraph:
    """The one in Neo4j, asked within one transaction.

    Edges of plans that hold no more are edges as well: what they wrote may still be there.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._graph = StoredGraph(tx, former=True)
        self._identities = Identities.of(tx)
        self._declared: dict[int, tuple[DeclaredFacts, Mapping[str, Any]]] = {}
        self.passed: set[tuple[int, int, str]] = set()
        """Columns, datasets and jobs, by key: the job passes the column on to the dataset."""

    def edges(self, nodes: Sequence[int], /) -> list[PrivacyEdge]:
        """See `PrivacyGraph`."""
        columns: dict[int, list[int]] = defaultdict(list)
        for node, facts in self.facts(nodes).items():
            columns[facts.dataset].append(node)
        found = [(edge, edge.source) for edge in self._graph.column_edges(nodes)]
        for edge in self._graph.column_edges(sorted(columns.keys() - set(nodes))):
            if edge.kind in _BLACK_BOXES:
                # It takes the dataset as a whole, these columns perhaps; `count(*)` takes its rows alone.
                found += [(edge, node) for node in columns[edge.source]]
        texts = self._texts(edge.edge for edge, _ in found)
        targets = self.facts([edge.target for edge, _ in found])
        made = []
        for edge, source in found:
            text, field = texts[edge.edge]
            effect = effect_of(edge.kind, masking=edge.masking, expression=text, field=field)
            former = edge.edge in self._graph.former
            self.passed.add((source, targets[edge.target].dataset, edge.job))
            made.append(PrivacyEdge(source, edge.target, edge.edge, edge.whole, edge.direct, edge.job, effect, former))
        # What a job does now it may have done under another name of the dataset, too, or by an earlier plan.
        now = {_same(each) for each in made if not each.former}
        made = [each for each in made if not each.former or _same(each) not in now]
        return sorted(made, key=lambda each: (targets[each.target].key, each.job, each.effect.operation, each.edge))

    def columns(self, datasets: Sequence[int], /) -> dict[int, list[int]]:
        """See `PrivacyGraph`."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        for row in self.columns_of(datasets):
            found[row["dataset"]][row["id"]] = None
        return {dataset: list(each) for dataset, each in found.items()}

    def columns_of(self, datasets: Sequence[int]) -> list[dict[str, Any]]:
        """Columns of datasets under all their names: `dataset` and `id` are of what is shown, `name`, `gone`."""
        self._identities.learn(datasets)
        rows = self._tx.rows("privacy/nested", datasets=self._identities.expanded(datasets))
        self._identities.learn([node for row in rows for node in (row["dataset"], row["id"])])
        shown = self._identities.shown_node
        return [{**dict(row), "dataset": shown(row["dataset"]), "id": shown(row["id"])} for row in rows]

    def declared(self, nodes: Sequence[int], /) -> dict[int, DeclaredFacts]:
        """See `PrivacyGraph`."""
        new = [node for node in dict.fromkeys(nodes) if node not in self._declared]
        self._identities.learn(new)
        under = {node: self._identities.expanded([node]) for node in new}
        asked = sorted({each for names in under.values() for each in names})
        rows = {row["node"]: row for row in self._tx.rows("privacy/declared", nodes=asked)} if asked else {}
        for node, names in under.items():
            self._declared[node] = _facts([rows[name] for name in names if name in rows])
        return {node: self._declared[node][0] for node in nodes}

    def approval(self, node: int) -> Mapping[str, Any]:
        """Properties of the approval of a column that was asked about; empty: it has none."""
        return self._declared[node][1]

    def facts(self, nodes: Iterable[int]) -> Mapping[int, AssetFacts]:
        """Facts of nodes."""
        return self._graph.facts(list(dict.fromkeys(nodes)))

    def feeds(self, datasets: Sequence[int]) -> list[Feed]:
        """List the feeds of these datasets."""
        return self._graph.feeds(datasets)

    def unseen(self, made: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Find pairs of a job's key and a dataset whose column lineage is missing or incomplete."""
        return self._graph.unseen(made)

    def _texts(self, edges: Iterable[int]) -> dict[int, tuple[str | None, str | None]]:
        asked = sorted(set(edges))
        if not asked:
            return {}
        ids, texts = self._tx.one("privacy/expressions", edges=asked).values()
        return {edge: (text, field) for edge, (text, field) in zip(ids, texts, strict=True)}


def _same(edge: PrivacyEdge) -> tuple[object, ...]:
    return edge.source, edge.target, edge.whole, edge.direct, edge.job, edge.effect


def _facts(rows: Sequence[Mapping[str, Any]]) -> tuple[DeclaredFacts, Mapping[str, Any]]:
    """Combine a column's declarations under all its names: greatest sensitivity, least group, narrowest approval."""
    own = [each for row in rows for each in row["own"]]
    whole = [each for row in rows for each in row["whole"]]
    level = max((level_of(each["sensitivity"]) for each in own), default=0)
    level = level or max((level_of(each["sensitivity"]) for each in whole), default=0)
    approvals = [each for each in own if each["approval_by"] is not None]
    least = sorted(approvals, key=lambda each: (level_of(each["approval_covers"]), str(dict(each))))
    approval: Mapping[str, Any] = least[0] if least else {}
    facts = DeclaredFacts(
        level,
        min((each["smallest_group"] for each in own if each["smallest_group"] is not None), default=None),
        level_of(approval.get("approval_covers")),
        level_of(approval.get("approval_sensitivity")),
        approval.get("approval_until"),
        any(each["classification"] for each in (*own, *whole)) or any(row["observed"] for row in rows),
    )
    return facts, approval


def reviewed_edges(tx: Transaction, today: date, threshold: int, names: Mapping[str, list[str]]) -> list[int]:
    """Ids of relationships: their target has an approval that holds, or they are statistics over large groups.

    Args:
        tx: read transaction.
        today: day on which approvals have to hold.
        threshold: number of rows that a group needs so that a statistic over it hides a value.
        names: all keys of each dataset with several names, by key.
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


def unknown_uses(tx: Transaction, exempt: Collection[str]) -> tuple[list[Asset], set[str]]:
    """Jobs that read datasets with columns that are declared sensitive, and whose column lineage isn't known.

    Args:
        tx: read transaction.
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
