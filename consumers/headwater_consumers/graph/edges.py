"""A plan's edges as relationships: DERIVES, INFLUENCES, GENERATES."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater_consumers.facts.model import RelType
from headwater_consumers.graph import keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater_consumers.facts.nodes import PlanFacts
    from headwater_consumers.facts.registers import Props


class Edge(NamedTuple):
    """One relationship of a plan. Its ends are columns, datasets or, where GENERATES starts, the plan."""

    type: RelType
    start: str
    end: str
    properties: Props
    start_is_column: bool
    end_is_column: bool


def plan_edges(plan: PlanFacts) -> Iterator[Edge]:
    """The edges of a plan whose lineage is known; none of one that was only cited.

    | input          | output field        | becomes                                         |
    |----------------|---------------------|-------------------------------------------------|
    | a field        | a field             | (:Column)-[:DERIVES]->(:Column)                 |
    | a whole dataset| a field             | (:Dataset)-[:DERIVES]->(:Column)                |
    | either         | None: all of them   | (:Column or :Dataset)-[:INFLUENCES]->(:Dataset) |
    | None           | a field, or None    | (:Plan)-[:GENERATES]->(:Column or :Dataset)     |
    """
    lineage = plan.lineage
    if lineage is None:
        return
    tenant, key = str(plan.identity["tenant"]), str(plan.identity["key"])
    texts = _texts(plan)
    datasets = [keys.dataset_key(tenant, dataset.namespace, dataset.name) for dataset in lineage.datasets]

    def node(index: int, path: str | None) -> str:
        return datasets[index] if path is None else keys.column_key(tenant, datasets[index], path)

    for edge in dict.fromkeys(lineage.edges):
        end = node(edge.output, edge.output_field)
        if edge.input is None:
            type_, start = RelType.GENERATES, key
        else:
            type_ = RelType.INFLUENCES if edge.output_field is None else RelType.DERIVES
            start = node(edge.input, edge.input_field)
        say = (edge.type.value, edge.subtype, edge.kind.value, int(edge.masking), edge.expression)
        properties: Props = {
            "key": keys.edge_key(tenant, type_, key, start, end, *say),
            "plan": key,
            "job": plan.job,
            "type": edge.type.value,
            "kind": edge.kind.value,
            "masking": edge.masking,
        }
        if edge.subtype is not None:
            properties["subtype"] = edge.subtype
        if edge.expression is not None:
            properties["expression_id"] = edge.expression
            if edge.expression in texts:
                properties["expression"] = texts[edge.expression]
        starts_at_column = edge.input is not None and edge.input_field is not None
        yield Edge(type_, start, end, properties, starts_at_column, edge.output_field is not None)


def _texts(plan: PlanFacts) -> dict[str, str]:
    _, cell = plan.registers["lineage"]
    assert isinstance(cell, dict)  # noqa: S101 - `lineage` is a group; for the type checker
    ids, texts = cell["expression_ids"], cell["expressions"]
    assert isinstance(ids, list)  # noqa: S101
    assert isinstance(texts, list)  # noqa: S101
    return {str(id_): str(text) for id_, text in zip(ids, texts, strict=True)}
