"""Nodes with registers and a span: create what is new, join the rest with what is stored, and set what that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from headwater_consumers.graph.model import Label
from headwater_consumers.materializer.fold.facts import NodeFacts
from headwater_consumers.materializer.fold.registers import Registers, join
from headwater_consumers.materializer.write.bolt import from_bolt, to_bolt
from headwater_consumers.materializer.write.state import batch_changes, created, node_changes, read_node
from headwater_consumers.materializer.write.transaction import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater_consumers.materializer.fold.delta import GraphDelta
    from headwater_consumers.materializer.fold.facts import DatasetFacts, VersionFacts
    from headwater_consumers.materializer.write.transaction import Transaction

_N = TypeVar("_N", bound=NodeFacts)


@dataclass(frozen=True, slots=True)
class Joined:
    """Registers of one node before and after the transaction."""

    before: Registers
    after: Registers


def write_jobs(tx: Transaction, delta: GraphDelta) -> dict[str, Joined]:
    """Jobs, by key. Those that are only mentioned are locked, not read: they have no registers here."""
    return _write(tx, Label.JOB, "jobs", delta.jobs, needs_state=_says_something)


def write_datasets(tx: Transaction, delta: GraphDelta) -> dict[str, Joined]:
    """Datasets, by key, without their columns."""
    return _write(tx, Label.DATASET, "datasets", delta.datasets, needs_state=_says_something)


def write_queries(tx: Transaction, delta: GraphDelta) -> None:
    """Queries, their batch bounds and their jobs."""
    rows = [
        {"key": key, "properties": to_bolt(created(query) | query.batches.properties())}
        for key, query in sorted(delta.queries.items())
    ]
    updates = []
    for record in tx.rows("queries", rows):
        query = delta.queries[record["key"]]
        stored = from_bolt(record["properties"])
        before = read_node(Label.QUERY, stored)
        changed = node_changes(stored, before, _joined(before, query))
        changed |= batch_changes(stored, query.batches)
        updates += _update(record["key"], changed)
    tx.rows("update_queries", updates)
    jobs = [{"start": key, "end": job} for key, query in sorted(delta.queries.items()) for job in sorted(query.jobs)]
    tx.rows("query_jobs", jobs)


def write_versions(tx: Transaction, delta: GraphDelta) -> None:
    """Versions of datasets."""
    datasets = Index()

    def place(version: VersionFacts) -> dict[str, Any]:
        return {"dataset": datasets.at(version.dataset)}

    _write(tx, Label.VERSION, "versions", delta.versions, extra=place, datasets=datasets)


def _write(
    tx: Transaction,
    label: Label,
    name: str,
    nodes: Mapping[str, _N],
    *,
    needs_state: Callable[[_N], bool] = lambda _: True,
    extra: Callable[[_N], dict[str, Any]] = lambda _: {},
    **indexes: Index,
) -> dict[str, Joined]:
    rows = [
        {"key": key, "properties": to_bolt(created(node)), "read": needs_state(node), **extra(node)}
        for key, node in sorted(nodes.items())
    ]
    joined = {key: Joined({}, node.registers) for key, node in nodes.items()}
    updates = []
    for record in tx.rows(name, rows, **{name: index.keys for name, index in indexes.items()}):
        key = record["key"]
        stored = from_bolt(record["properties"])
        before = read_node(label, stored)
        after = _joined(before, nodes[key])
        updates += _update(key, node_changes(stored, before, after))
        joined[key] = Joined(before.registers, after.registers)
    tx.rows(f"update_{name}", updates)
    return joined


def _joined(before: NodeFacts, node: NodeFacts) -> NodeFacts:
    after = NodeFacts({}, dict(before.registers))
    after.seen.see(before.seen.first, before.seen.last)
    join(after.registers, node.registers)
    after.seen.see(node.seen.first, node.seen.last)
    return after


def _update(key: str, changed: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "properties": to_bolt(changed)}] if changed else []


def _says_something(node: NodeFacts | DatasetFacts) -> bool:
    return bool(node.registers) or node.seen.last is not None
