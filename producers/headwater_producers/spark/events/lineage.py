"""Column lineages of several writes, put together into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater_schemas.events import ColumnEdge, ColumnLineage
from headwater_schemas.identity import canonical_lineage
from headwater_schemas.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_schemas.events import DatasetRef, Expression


def join_lineages(lineages: Sequence[ColumnLineage]) -> ColumnLineage:
    """All edges of all lineages, in canonical order; complete only if each of them is."""
    if len(lineages) == 1:
        return canonical_lineage(lineages[0])
    datasets: dict[DatasetRef, int] = {}
    edges: list[ColumnEdge] = []
    expressions: list[Expression] = []
    for lineage in lineages:
        place = [datasets.setdefault(dataset, len(datasets)) for dataset in lineage.datasets]
        edges += (
            msgspec.structs.replace(
                edge, output=place[edge.output], input=None if edge.input is None else place[edge.input]
            )
            for edge in lineage.edges
        )
        expressions += lineage.expressions
    reasons = sorted({lineage.incomplete_reason or "" for lineage in lineages if not lineage.complete})
    return canonical_lineage(
        ColumnLineage(
            datasets=tuple(datasets),
            edges=tuple(edges),
            expressions=tuple(expressions),
            complete=not reasons,
            incomplete_reason="; ".join(filter(None, reasons)) or None,
        )
    )


def without_secrets(lineage: ColumnLineage) -> ColumnLineage:
    """The same lineage, with what looks like a credential taken out of its expressions' texts. Their ids stay."""
    return msgspec.structs.replace(
        lineage,
        expressions=tuple(
            msgspec.structs.replace(expression, text=redact(expression.text)) for expression in lineage.expressions
        ),
    )


def has_lineage(lineage: ColumnLineage) -> bool:
    """Whether a lineage is worth an event: it has edges, or admits that it lacks some."""
    return bool(lineage.edges) or (bool(lineage.datasets) and not lineage.complete)
