"""reject: which well-formed events can't become part of the graph. Each check names what is at fault.

Rejected: what the algebra can't place (no job, no run, an id or digest that isn't that of the content, batches that
aren't consecutive, a partition twice, a range that ends before it begins, an edge to a dataset that isn't in the
table), and what Neo4j can't hold. Tolerated: whatever only makes the graph poorer (a position of a sort that this
version doesn't know, UNKNOWN for a newer symbol, an expression id without its text, times in any order, run and job
that don't match those of earlier events).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.fold.reject_bodies import CHECKS
from headwater_consumers.materializer.fold.rejection import Rejected, Rejection, need
from headwater_consumers.materializer.fold.storable import check_storable
from headwater_schemas.identity import event_id

if TYPE_CHECKING:
    from headwater_schemas.events import LineageEvent


def reject(event: LineageEvent) -> Rejection | None:
    """Why `event` can't be folded; None when it can.

    An event of which this returns None never makes `fold` raise, nor the database refuse its values.
    """
    try:
        _check(event)
    except Rejected as rejected:
        return rejected.rejection
    return None


def _check(event: LineageEvent) -> None:
    check_storable(event)
    need(event.tenant, "tenant", "empty")
    need(event.kind in CHECKS, "kind", "not one of this version's")
    for kind, (name, _) in CHECKS.items():
        is_set = getattr(event, name) is not None
        need(is_set == (kind == event.kind), name, "missing" if kind == event.kind else f"set in a {event.kind} event")
    if event.job is not None:
        need(event.job.name, "job.name", "empty")
    if event.run is not None:
        need(event.run.run_id, "run.run_id", "empty")
    CHECKS[event.kind][1](event)
    need(event.event_id == event_id(event), "event_id", "not the id of this content (identity.event_id)")
