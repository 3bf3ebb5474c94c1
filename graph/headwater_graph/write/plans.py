"""Plans and their edges. A plan's edges follow from its digest, so they are written only once."""

from __future__ import annotations

from typing import Any

from headwater_graph.derive import plan_edges
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label, RelType
from headwater_graph.facts.nodes import PlanFacts
from headwater_graph.write.bolt import from_bolt, to_bolt
from headwater_graph.write.state import created, node_changes, read_node
from headwater_graph.write.transaction import Index, WriteTransaction

_STATEMENTS = {
    RelType.DERIVES: "reword_derives",
    RelType.INFLUENCES: "reword_influences",
    RelType.GENERATES: "reword_generates",
}


def plan_rows(delta: GraphDelta) -> list[dict[str, Any]]:
    """Rows that create the plans."""
    return [{"key": key, "properties": to_bolt(created(plan))} for key, plan in sorted(delta.plans.items())]


def write_plans(tx: WriteTransaction, delta: GraphDelta, rows: list[dict[str, Any]]) -> list[PlanFacts]:
    """Write plans with their jobs; return the plans whose edges `write_edges` still has to create."""
    with_edges: set[str] = set()
    updates: list[dict[str, Any]] = []
    reworded: list[PlanFacts] = []
    for record in tx.find_rows("plans", rows):
        stored = from_bolt(record)
        key = str(stored["key"])
        before = read_node(Label.PLAN, stored)
        plan = delta.plans[key]
        after = PlanFacts(plan.identity, dict(before.registers), job=plan.job)
        after.seen.see(before.seen.first, before.seen.last)
        after.join(plan)
        if changed := node_changes(stored, before, after):
            updates.append({"key": key, "properties": to_bolt(changed)})
        if "lineage" in before.registers:
            with_edges.add(key)
            if plan.lineage is not None and before.registers["lineage"][1] != after.registers["lineage"][1]:
                reworded.append(after)
    tx.send_rows("update_plans", updates)
    _reword(tx, reworded)
    return [plan for key, plan in sorted(delta.plans.items()) if plan.lineage is not None and key not in with_edges]


def write_edges(tx: WriteTransaction, plans: list[PlanFacts]) -> None:
    """Write the edges of plans whose edges aren't stored yet. The columns must exist."""
    if not plans:
        return
    nodes = {"columns": Index(), "datasets": Index(), "plans": Index()}
    edges = [edge for plan in plans for edge in plan_edges(plan)]
    for edge in edges:
        nodes[_start_kind(edge.type, edge.start_is_column)].at(edge.start)
        nodes["columns" if edge.end_is_column else "datasets"].at(edge.end)
    indexes: dict[str, int] = {}
    for index in nodes.values():
        for key in index.keys:
            indexes[key] = len(indexes)
    rows: dict[str, list[dict[str, Any]]] = {"derives": [], "influences": [], "generates": []}
    for edge in edges:
        rows[edge.type.value.lower()].append(
            {"start": indexes[edge.start], "end": indexes[edge.end], "properties": edge.properties}
        )
    tx.send("plan_edges", **rows, **{name: index.keys for name, index in nodes.items()})


def _start_kind(type_: RelType, is_column: bool) -> str:  # noqa: FBT001 - its only call names the value
    if type_ is RelType.GENERATES:
        return "plans"
    return "columns" if is_column else "datasets"


def _reword(tx: WriteTransaction, plans: list[PlanFacts]) -> None:
    rows: dict[RelType, list[dict[str, Any]]] = {type_: [] for type_ in _STATEMENTS}
    for plan in plans:
        for edge in plan_edges(plan):
            row = {"expression": edge.properties.get("expression")}
            rows[edge.type].append({"key": edge.properties["key"], "properties": row})
    for type_, name in _STATEMENTS.items():
        tx.send_rows(name, rows[type_])
