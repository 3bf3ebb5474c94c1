"""Nodes with registers and a span: new nodes are created, existing nodes are joined with their stored state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label
from headwater_graph.facts.nodes import DatasetFacts, NodeFacts, OfDatasetFacts
from headwater_graph.facts.registers import Registers, join
from headwater_graph.facts.spans import Ranges
from headwater_graph.summaries import RETIRED, retired_of
from headwater_graph.write.bolt import from_bolt, to_bolt
from headwater_graph.write.state import batch_changes, created, node_changes, read_node
from headwater_graph.write.transaction import Index, WriteTransaction

_N = TypeVar("_N", bound=NodeFacts)


@dataclass(frozen=True, slots=True)
class Joined:
    """Registers of one node before and after the transaction, and its stored first observation; None for a new node."""

    before: Registers
    after: Registers
    since: datetime | None = None


class NodeRows:
    """Nodes of one label that have only registers and a span to write.

    Args:
        name: name of the statement that creates the nodes; the statement `update_<name>` changes them.
        needs_state: whether an existing node has to be read; other nodes are only locked.
    """

    def __init__(
        self, label: Label, name: str, nodes: Mapping[str, _N], *, needs_state: Callable[[_N], bool] = lambda _: True
    ) -> None:
        self._label = label
        self._name = name
        self._nodes = nodes
        self._rows = [
            {"key": key, "properties": to_bolt(created(node)), "read": needs_state(node)}
            for key, node in sorted(nodes.items())
        ]

    def write(self, tx: WriteTransaction, locked: Collection[str] = ()) -> dict[str, Joined]:
        """Create or join nodes; return their registers, by key. Existing nodes with keys in `locked` are locked."""
        joined = {key: Joined({}, node.registers) for key, node in self._nodes.items()}
        updates = []
        others: list[dict[str, Any]] = [
            {"key": key, "properties": {}, "read": False} for key in locked if key not in self._nodes
        ]
        for record in self._find(tx, sorted(self._rows + others, key=lambda row: row["key"]) if others else self._rows):
            stored = from_bolt(record)
            key = str(stored["key"])
            before = read_node(self._label, stored)
            after = _joined(before, self._nodes[key])
            updates += _update(key, node_changes(stored, before, after))
            joined[key] = Joined(before.registers, after.registers, before.seen.first)
        tx.send_rows(f"update_{self._name}", updates)
        return joined

    def _find(self, tx: WriteTransaction, rows: Sequence[Any]) -> list[Any]:
        return tx.find_rows(self._name, rows)


class OfDatasetRows(NodeRows):
    """Versions, or schemas, of datasets."""

    def __init__(self, label: Label, name: str, nodes: Mapping[str, OfDatasetFacts]) -> None:
        super().__init__(label, name, nodes)
        self._datasets = Index()
        for row in self._rows:
            row["dataset"] = self._datasets.at(nodes[str(row["key"])].dataset)

    def _find(self, tx: WriteTransaction, rows: Sequence[Any]) -> list[Any]:
        return tx.find_rows(self._name, rows, datasets=self._datasets.keys)


class QueryRows:
    """Queries, their batch bounds and their jobs."""

    def __init__(self, delta: GraphDelta) -> None:
        self._queries = delta.queries
        queries = sorted(delta.queries.items())
        self._rows = [
            {"key": key, "properties": to_bolt(created(query) | query.batches.properties())} for key, query in queries
        ]
        self._jobs = [{"start": key, "end": job} for key, query in queries for job in sorted(query.jobs)]

    def write(self, tx: WriteTransaction) -> dict[str, Ranges]:
        """Create or join the queries; return their retired batch ids, by key of the query."""
        updates = []
        retired: dict[str, Ranges] = {}
        for record in tx.find_rows("queries", self._rows):
            stored = from_bolt(record)
            key = str(stored["key"])
            if RETIRED in stored:
                retired[key] = retired_of(stored[RETIRED])
            query = self._queries[key]
            before = read_node(Label.QUERY, stored)
            changed = node_changes(stored, before, _joined(before, query))
            changed |= batch_changes(stored, query.batches)
            updates += _update(key, changed)
        tx.send_rows("update_queries", updates)
        tx.send_rows("query_jobs", self._jobs)
        return retired


def job_rows(delta: GraphDelta) -> NodeRows:
    """Rows of jobs. Jobs that events only mention have no registers here: they are locked, not read."""
    return NodeRows(Label.JOB, "jobs", delta.jobs, needs_state=_has_facts)


def dataset_rows(delta: GraphDelta) -> NodeRows:
    """Rows of datasets, without their columns."""
    return NodeRows(Label.DATASET, "datasets", delta.datasets, needs_state=_has_facts)


def version_rows(delta: GraphDelta) -> OfDatasetRows:
    """Rows of versions of datasets."""
    return OfDatasetRows(Label.VERSION, "versions", delta.versions)


def schema_rows(delta: GraphDelta) -> OfDatasetRows:
    """Rows of schemas of datasets."""
    return OfDatasetRows(Label.SCHEMA_VERSION, "schema_versions", delta.schemas)


def _joined(before: NodeFacts, node: NodeFacts) -> NodeFacts:
    after = NodeFacts({}, dict(before.registers))
    after.seen.see(before.seen.first, before.seen.last)
    join(after.registers, node.registers)
    after.seen.see(node.seen.first, node.seen.last)
    return after


def _update(key: str, changed: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "properties": to_bolt(changed)}] if changed else []


def _has_facts(node: NodeFacts | DatasetFacts) -> bool:
    return bool(node.registers) or node.seen.last is not None
