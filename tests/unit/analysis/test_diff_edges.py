"""Which plans' edges count on a side, and what differs between two."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater_consumers.analysis.diff.answer import Change
from headwater_consumers.analysis.diff.edges import Edge, Ends, _ranks, compared, holding
from headwater_consumers.analysis.diff.sides import PlanAt
from headwater_consumers.analysis.lineage import Transformation
from headwater_schemas.events import TransformationKind, TransformationType

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(minute: int) -> datetime:
    return BEGIN + timedelta(minutes=minute)


def plan(active: int | None, since: int | None = None, *, declared: bool = False) -> PlanAt:
    return PlanAt(
        "digest", None if active is None else at(active), None if since is None else at(since), declared, complete=True
    )


def edge(
    of: str,
    source: str | None,
    target: str,
    *,
    dataset: str = "d",
    kind: TransformationKind = TransformationKind.COPY,
    expression: str | None = None,
    expression_id: str | None = None,
) -> Edge:
    does = Transformation(TransformationType.DIRECT, kind, "IDENTITY", expression=expression)
    return Edge(of, Ends(source, source is not None, target, True, dataset), does, expression_id)


def test_the_latest_run_s_plans_count() -> None:
    edges = [edge("old", "a", "x"), edge("new", "a", "y"), edge("too", "b", "y")]
    plans = {"old": plan(5, 0), "new": plan(20, 10), "too": plan(12, 10)}
    assert holding(edges, plans) == edges[1:]


def test_each_dataset_has_its_own_latest_plan() -> None:
    edges = [edge("old", "a", "x", dataset="one"), edge("new", "a", "y", dataset="two")]
    assert holding(edges, {"old": plan(5, 0), "new": plan(20, 10)}) == edges


def test_a_plan_of_the_other_side_alone_does_not_count() -> None:
    edges = [edge("old", "a", "x"), edge("new", "a", "x")]
    assert holding(edges, {"old": plan(5, 0)}) == edges[:1]


def test_without_a_run_the_plan_last_active_counts() -> None:
    edges = [edge("old", "a", "x"), edge("new", "a", "x")]
    assert holding(edges, {"old": plan(5), "new": plan(6)}) == edges[1:]


def test_the_declared_plan_counts_besides() -> None:
    edges = [edge("seen", "a", "x"), edge("said", "b", "x")]
    assert holding(edges, {"seen": plan(5, 0), "said": plan(None, declared=True)}) == edges


def test_added_removed_changed_and_the_same() -> None:
    before = [edge("p", "a", "x"), edge("p", "b", "x"), edge("p", "c", "x", expression="c + 1")]
    after = [edge("q", "a", "x"), edge("q", "c", "x", expression="c + 2"), edge("q", None, "x")]
    changes = {(one.change, one.ends.source): (one.before, one.after) for one in compared(before, after)}
    assert changes == {
        (Change.REMOVED, "b"): ((before[1].does,), ()),
        (Change.CHANGED, "c"): ((before[2].does,), (after[1].does,)),
        (Change.ADDED, None): ((), (after[2].does,)),
    }


def test_an_expression_whose_text_is_not_known_is_told_by_its_id() -> None:
    before, after = [edge("p", "a", "x", expression_id="e1")], [edge("q", "a", "x", expression_id="e2")]
    assert [one.change for one in compared(before, after)] == [Change.CHANGED]
    assert compared(before, before) == []


def test_the_same_plans_in_the_same_order_hold_the_same_edges() -> None:
    early, late = {"a": plan(5, 0), "b": plan(9, 7)}, {"a": plan(6, 0), "b": plan(99, 50)}
    assert _ranks(early) == _ranks(late)
    assert _ranks(early) != _ranks({"a": plan(99, 50), "b": plan(9, 7)})
    assert _ranks(early) != _ranks({"a": plan(5, 0)})
