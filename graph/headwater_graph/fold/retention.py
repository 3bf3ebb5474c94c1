"""RetentionEvent: from which day on micro-batches are kept one by one."""

from __future__ import annotations

from headwater_graph.facts.nodes import RetentionFacts
from headwater_graph.fold.builder import Builder
from headwater_schemas.events import LineageEvent, RetentionEvent, RetentionMode


def fold_retention(into: Builder, event: LineageEvent, body: RetentionEvent) -> None:
    """Fold a RetentionEvent into `into`."""
    scope = into.retention(event.tenant, body.namespace, body.job)
    if body.mode is RetentionMode.DROP:
        scope.join(RetentionFacts({}, drop_before=body.before))
    else:
        scope.join(RetentionFacts({}, summarize_before=body.before))
