"""Column edges of a job's plans on two sides, compared.

Where the same plans hold on both sides, their digests say that nothing differs, and no edge is read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_consumers.analysis.diff.answer import Change
from headwater_consumers.analysis.lineage.answer import Transformation
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater_consumers.analysis.diff.sides import JobSide
    from headwater_consumers.analysis.reader import Transaction

MOST_EDGES = 200_000
"""Of one job's plans on both sides that are looked at."""


class Endpoints(NamedTuple):
    """Where an edge goes from and to, by keys."""

    source: str | None
    from_column: bool
    target: str
    into_column: bool
    dataset: str


class Edge(NamedTuple):
    """One edge of a plan. `expression_id` stands in where the text isn't known."""

    plan: str
    endpoints: Endpoints
    does: Transformation
    expression_id: str | None


class Compared(NamedTuple):
    """Endpoints that differ, and what is done between them on either side."""

    change: Change
    endpoints: Endpoints
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


def compare_edges(tx: Transaction, job: str, before: JobSide, after: JobSide) -> tuple[list[Compared], bool]:
    """What differs between two sides of a job, and whether there were too many edges to look at all."""
    if before.holding == after.holding:
        return [], False
    plans = sorted({plan for plan, _ in before.holding | after.holding})
    rows = tx.rows("diff/edges", job=job, plans=plans, limit=MOST_EDGES)
    edges = [_edge(row) for row in rows]
    was, is_ = (
        [edge for edge in edges if (edge.plan, edge.endpoints.dataset) in side.holding] for side in (before, after)
    )
    return compared(was, is_), len(rows) >= MOST_EDGES


def compared(before: Iterable[Edge], after: Iterable[Edge]) -> list[Compared]:
    """Endpoints that are there on one side alone, or between which something else is done."""
    sides = _by_endpoints(before), _by_endpoints(after)
    out = []
    for endpoints in sides[0].keys() | sides[1].keys():
        was, is_ = sides[0].get(endpoints, {}), sides[1].get(endpoints, {})
        if was.keys() != is_.keys():
            change = Change.CHANGED if was and is_ else Change.ADDED if is_ else Change.REMOVED
            out.append(Compared(change, endpoints, _sorted(was), _sorted(is_)))
    return out


def _by_endpoints(edges: Iterable[Edge]) -> dict[Endpoints, dict[Any, Transformation]]:
    out: dict[Endpoints, dict[Any, Transformation]] = defaultdict(dict)
    for edge in edges:
        does = edge.does
        said = (does.type, does.kind, does.subtype or "", does.masking, does.expression or edge.expression_id or "")
        out[edge.endpoints][said] = does
    return out


def _sorted(said: Mapping[Any, Transformation]) -> tuple[Transformation, ...]:
    return tuple(does for _, does in sorted(said.items(), key=lambda each: each[0]))


def _edge(row: Mapping[str, Any]) -> Edge:
    does = Transformation(
        TransformationType(row["type"]),
        TransformationKind(row["kind"]),
        row["subtype"],
        bool(row["masking"]),
        row["expression"],
        whole=not row["into_column"],
    )
    endpoints = Endpoints(row["source"], row["from_column"], row["target"], row["into_column"], row["dataset"])
    return Edge(row["plan"], endpoints, does, row["expression_id"])
