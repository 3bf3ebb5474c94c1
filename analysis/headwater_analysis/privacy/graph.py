"""Lineage graph in Neo4j along which sensitive values spread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from headwater_analysis.identity import Identities
from headwater_analysis.impact.graph import AssetFacts, Feed, StoredColumnEdge, StoredGraph
from headwater_analysis.privacy.operations import BLACK_BOXES, effect_of
from headwater_analysis.privacy.spread import DeclaredFacts, PrivacyEdge
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import level_of


class LeavingEdge(NamedTuple):
    """Edge of column lineage, as it is stored, that leaves a column or the rows of a dataset.

    Attributes:
        source: id of the column or dataset; for a black box that reads a whole dataset: id of the dataset, or of a
            requested column of the dataset.
        text: formula of the output, where known.
        field: path of the input field in that formula; None for a dataset.
        former: whether no current plan has the edge; data that was written before may still be there.
    """

    source: int
    stored: StoredColumnEdge
    text: str | None
    field: str | None
    former: bool


class StoredPrivacyGraph:
    """`PrivacyGraph` in Neo4j, read within one transaction.

    Edges of plans that no longer hold are included: data that such a plan wrote may still be there.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._graph = StoredGraph(tx, former=True)
        self._identities = Identities.of(tx)
        self._declared: dict[int, tuple[DeclaredFacts, Mapping[str, Any]]] = {}
        self.passed: set[tuple[int, int, str]] = set()
        """Id of a column, id of a dataset, and key of a job that passes the column on to the dataset."""

    def edges(self, nodes: Sequence[int], /) -> list[PrivacyEdge]:
        """See `PrivacyGraph`."""
        made = []
        leaving = self.leaving(nodes)
        targets = self.facts([each.stored.target for each in leaving])
        for source, edge, text, field, former in leaving:
            effect = effect_of(edge.kind, masking=edge.masking, expression=text, field=field)
            self.passed.add((source, targets[edge.target].dataset, edge.job))
            made.append(PrivacyEdge(source, edge.target, edge.edge, edge.whole, edge.direct, edge.job, effect, former))
        # The same edge may exist under another name of the dataset, or from an earlier plan: keep the current edge.
        now = {_same(each) for each in made if not each.former}
        made = [each for each in made if not each.former or _same(each) not in now]
        return sorted(made, key=lambda each: (targets[each.target].key, each.job, each.effect.operation, each.edge))

    def leaving(self, nodes: Sequence[int]) -> list[LeavingEdge]:
        """Read the edges that leave columns or rows of datasets, and black boxes that read a column's whole dataset."""
        columns: dict[int, list[int]] = defaultdict(list)
        for node, facts in self.facts(nodes).items():
            columns[facts.dataset].append(node)
        found = [(edge, edge.source) for edge in self._graph.column_edges(nodes)]
        for edge in self._graph.column_edges(sorted(columns.keys() - set(nodes))):
            if edge.kind in BLACK_BOXES:
                # A black box reads the whole dataset, so perhaps these columns. (`count(*)` reads only its rows.)
                found += [(edge, node) for node in columns[edge.source]]
        texts = self._texts(edge.edge for edge, _ in found)
        former = self._graph.former
        return [LeavingEdge(source, edge, *texts[edge.edge], edge.edge in former) for edge, source in found]

    def columns(self, datasets: Sequence[int], /) -> dict[int, list[int]]:
        """See `PrivacyGraph`."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        for row in self.columns_of(datasets):
            found[row["dataset"]][row["id"]] = None
        return {dataset: list(each) for dataset, each in found.items()}

    def columns_of(self, datasets: Sequence[int]) -> list[dict[str, Any]]:
        """Columns of datasets under all their names: `dataset` and `id` (of the shown nodes), `name`, `gone`."""
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
        """Properties of a column's approval; empty if it has none. `declared` must have read the column before."""
        return self._declared[node][1]

    def facts(self, nodes: Iterable[int]) -> Mapping[int, AssetFacts]:
        """Facts of nodes."""
        return self._graph.facts(list(dict.fromkeys(nodes)))

    def feeds(self, datasets: Sequence[int]) -> list[Feed]:
        """List the FEEDS edges that leave these datasets."""
        return self._graph.feeds(datasets)

    def unseen(self, made: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Filter pairs of a job's key and a dataset's id to those whose column lineage is missing or incomplete."""
        return self._graph.unseen(made)

    def ever_incomplete(self, made: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Filter pairs, as for `unseen`, to those with a plan, former or current, of incomplete column lineage."""
        return self._graph.ever_incomplete(made)

    def _texts(self, edges: Iterable[int]) -> dict[int, tuple[str | None, str | None]]:
        asked = sorted(set(edges))
        if not asked:
            return {}
        ids, texts = self._tx.one("privacy/expressions", edges=asked).values()
        return {edge: (text, field) for edge, (text, field) in zip(ids, texts, strict=True)}


def _same(edge: PrivacyEdge) -> tuple[object, ...]:
    return edge.source, edge.target, edge.whole, edge.direct, edge.job, edge.effect


def _facts(rows: Sequence[Mapping[str, Any]]) -> tuple[DeclaredFacts, Mapping[str, Any]]:
    """Combine a column's declarations under all its names: greatest sensitivity, smallest group, narrowest approval."""
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
