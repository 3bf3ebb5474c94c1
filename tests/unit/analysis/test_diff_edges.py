"""Differences between the edges of two sides."""

from __future__ import annotations

from headwater_analysis.diff.compare import Endpoints, PlanEdge, compared
from headwater_analysis.lineage import Transformation
from headwater_analysis.schemas import DiffChange
from headwater_schemas.events import TransformationKind, TransformationType


def edge(
    of: str,
    source: str | None,
    target: str,
    *,
    dataset: str = "d",
    kind: TransformationKind = TransformationKind.COPY,
    expression: str | None = None,
    expression_id: str | None = None,
) -> PlanEdge:
    does = Transformation(TransformationType.DIRECT, kind, "IDENTITY", expression=expression)
    return PlanEdge(of, Endpoints(source, source is not None, target, True, dataset), does, expression_id)


def test_added_removed_changed_and_the_same() -> None:
    before = [edge("p", "a", "x"), edge("p", "b", "x"), edge("p", "c", "x", expression="c + 1")]
    after = [edge("q", "a", "x"), edge("q", "c", "x", expression="c + 2"), edge("q", None, "x")]
    changes = {(one.change, one.endpoints.source): (one.before, one.after) for one in compared(before, after)}
    assert changes == {
        (DiffChange.REMOVED, "b"): ((before[1].does,), ()),
        (DiffChange.CHANGED, "c"): ((before[2].does,), (after[1].does,)),
        (DiffChange.ADDED, None): ((), (after[2].does,)),
    }


def test_an_expression_whose_text_is_not_known_is_reported_by_its_id() -> None:
    before, after = [edge("p", "a", "x", expression_id="e1")], [edge("q", "a", "x", expression_id="e2")]
    assert [one.change for one in compared(before, after)] == [DiffChange.CHANGED]
    assert compared(before, before) == []
