"""Column edges of a job's plans on two sides, compared.

Where both sides have the same plans in the same order of activity, their digests say that nothing differs, and no edge
is read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_consumers.analysis.diff.answer import Change
from headwater_consumers.analysis.lineage.answer import Transformation
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from headwater_consumers.analysis.diff.sides import JobSide, PlanAt
    from headwater_consumers.analysis.reader import Transaction

MOST_EDGES = 200_000
"""Of one job's plans on both sides that are looked at."""


class Ends(NamedTuple):
    """Where an edge goes from and to, by keys."""

    source: str | None
    from_column: bool
    target: str
    into_column: bool
    dataset: str


class Edge(NamedTuple):
    """One edge of a plan. `expression_id` stands in where the text isn't known."""

    plan: str
    ends: Ends
    does: Transformation
    expression_id: str | None


class Compared(NamedTuple):
    """Ends that differ, and what is done between them on either side."""

    change: Change
    ends: Ends
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


def compare_edges(tx: Transaction, job: str, before: JobSide, after: JobSide) -> tuple[list[Compared], bool]:
    """What differs between two sides of a job, and whether there were too many edges to look at all."""
    if _ranks(before.plans) == _ranks(after.plans):
        return [], False
    plans = sorted(before.plans.keys() | after.plans.keys())
    rows = tx.rows("diff/edges", job=job, plans=plans, limit=MOST_EDGES)
    edges = [_edge(row) for row in rows]
    return compared(holding(edges, before.plans), holding(edges, after.plans)), len(rows) >= MOST_EDGES


def _ranks(plans: Mapping[str, PlanAt]) -> dict[str, tuple[bool, int, int]]:
    """What decides whose edges count: which plans are declared, and which times come before which."""
    times = {time for plan in plans.values() for time in (plan.active, plan.since) if time is not None}
    rank: dict[datetime | None, int] = {time: place for place, time in enumerate(sorted(times))}
    return {key: (plan.declared, rank.get(plan.active, -1), rank.get(plan.since, -1)) for key, plan in plans.items()}


def holding(edges: Iterable[Edge], plans: Mapping[str, PlanAt]) -> list[Edge]:
    """The edges that count: for each dataset, of the plans that were active in the latest run that wrote it.

    So a column that is no longer made loses its lineage, and a run that writes a dataset by several plans has them all.
    The declared plan counts too.
    """
    mine = [edge for edge in edges if edge.plan in plans]
    latest: dict[str, tuple[datetime, datetime]] = {}
    for edge in mine:
        plan = plans[edge.plan]
        if plan.active is not None:
            span = (plan.active, plan.since if plan.since is not None and plan.since < plan.active else plan.active)
            latest[edge.ends.dataset] = max(latest.get(edge.ends.dataset, span), span)
    return [edge for edge in mine if _counts(plans[edge.plan], latest.get(edge.ends.dataset))]


def _counts(plan: PlanAt, latest: tuple[datetime, datetime] | None) -> bool:
    if plan.declared:
        return True
    return plan.active is not None and latest is not None and plan.active >= latest[1]


def compared(before: Iterable[Edge], after: Iterable[Edge]) -> list[Compared]:
    """Ends that are there on one side alone, or between which something else is done."""
    sides = _by_ends(before), _by_ends(after)
    out = []
    for ends in sides[0].keys() | sides[1].keys():
        was, is_ = sides[0].get(ends, {}), sides[1].get(ends, {})
        if was.keys() != is_.keys():
            change = Change.CHANGED if was and is_ else Change.ADDED if is_ else Change.REMOVED
            out.append(Compared(change, ends, _sorted(was), _sorted(is_)))
    return out


def _by_ends(edges: Iterable[Edge]) -> dict[Ends, dict[Any, Transformation]]:
    out: dict[Ends, dict[Any, Transformation]] = defaultdict(dict)
    for edge in edges:
        does = edge.does
        said = (does.type, does.kind, does.subtype or "", does.masking, does.expression or edge.expression_id or "")
        out[edge.ends][said] = does
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
    ends = Ends(row["source"], row["from_column"], row["target"], row["into_column"], row["dataset"])
    return Edge(row["plan"], ends, does, row["expression_id"])
