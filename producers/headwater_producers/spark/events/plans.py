"""Plans: the column lineage of writes and queries, emitted once for each job, and the digest that runs cite.

Column lineage must fit into an event of the topic's maximum size. The first of these forms that fits is sent:

    1. complete
    2. without the longest expression texts, as few of them as necessary; the expressions' ids and the digest stay
    3. for each output field, edges from whole inputs, of kind UNKNOWN; the lineage is incomplete
    4. for each output as a whole, edges from whole inputs, of kind UNKNOWN; the lineage is incomplete
    5. no event
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.plan import PlanDescription
from headwater_schemas.codec import encode
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    Expression,
    JobRef,
    LineageEvent,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.identity import canonical_lineage, plan_digest, record_key
from headwater_schemas.reasons import too_large

logger = logging.getLogger(__name__)


def new_plan_event(
    context: EventContext,
    descriptions: Sequence[PlanDescription],
    *,
    job: JobRef,
    run_id: str,
    at: datetime,
    dedup: DedupCache,
) -> tuple[str | None, LineageEvent | None]:
    """Return the digest that a run cites for the column lineage of its plans, and the plan event to send first.

    Logs once for each job which setting limits the emitted lineage, if one does.

    Args:
        descriptions: plans of a write, of a query, or of the writes of a micro-batch.

    Returns:
        The digest of the plan as sent, None if there is nothing to send; and the event, None if it isn't new.
    """
    lineage = join_lineages([each.lineage for each in descriptions])
    if not has_lineage(lineage):
        return None, None
    if any(each.beyond_cap for each in descriptions) and dedup.add(("beyond the cap", job)):
        logger.warning(
            "lineage capture: job %s: a plan is larger than capture_max_plan_bytes, so its columns aren't read; each "
            "output is recorded as derived from every field of its inputs",
            job.name,
        )
    whole = ("plan", job, plan_digest(lineage))
    known, digest = dedup.lookup(whole)
    if known:
        return digest, None
    event_of = partial(context.fact, job=job, run_id=run_id, at=at)
    most = context.event_bytes
    plan = fitted(lineage, event_of, most)
    _warn(plan, job, most, dedup)
    digest = plan.event.plan_event.digest if plan.event is not None and plan.event.plan_event is not None else None
    dedup.put(whole, digest)
    return digest, plan.event


def _warn(plan: FittedPlan, job: JobRef, most: int, dedup: DedupCache) -> None:
    if plan.left_out is not None and dedup.add(("smaller plan", job)):
        logger.warning(
            "lineage capture: job %s: a plan's event is larger than the events topic takes, %d bytes, so %s; raise "
            "topic_max_message_bytes and the topic's max.message.bytes",
            job.name,
            most,
            plan.left_out,
        )


# Overhead of a record besides key and value: three headers and Kafka's own fields, some 250 bytes.
_RECORD_BYTES: Final = 512
_CONSTANT: Final = TransformationKind.CONSTANT


@dataclass(frozen=True, slots=True)
class FittedPlan:
    """Plan event of a lineage, reduced to the maximum size of a record.

    Attributes:
        event: the event; None if not even the datasets' names fit.
        left_out: description of the omitted parts, for the log; None if the event is complete.
    """

    event: LineageEvent | None
    left_out: str | None = None


def fitted(lineage: ColumnLineage, event_of: Callable[[ColumnLineage], LineageEvent], max_bytes: int) -> FittedPlan:
    """Build the event of a lineage, reduced to what fits a record of `max_bytes`, uncompressed.

    Equal lineages give equal events, so that a job's digest stays the same from start to start.
    """
    event = event_of(lineage)
    excess = _size(event) - max_bytes
    if excess <= 0:
        return FittedPlan(event)
    textless = _without_texts(event, excess)
    event = event_of(textless)
    if _size(event) <= max_bytes:
        gone = len(lineage.expressions) - len(textless.expressions)
        return FittedPlan(event, f"{gone} of {len(lineage.expressions)} expressions are sent without their text")
    for smaller, left_out in _smaller(lineage, max_bytes):
        event = event_of(smaller)
        if _size(event) <= max_bytes:
            return FittedPlan(event, left_out)
    return FittedPlan(None, "no column lineage is sent")


def _size(event: LineageEvent) -> int:
    return _RECORD_BYTES + len(record_key(event)) + len(encode(event))


def _without_texts(event: LineageEvent, excess: int) -> ColumnLineage:
    if event.plan_event is None:
        raise ValueError(f"an event of kind {event.kind} has no lineage")
    # Lengths are those in the event: redaction changes them.
    lineage = event.plan_event.lineage
    longest_first = sorted(lineage.expressions, key=lambda each: (-len(each.text), each.id))
    gone = set()
    for expression in longest_first:
        if excess <= 0:
            break
        gone.add(expression.id)
        excess -= len(expression.text.encode("utf-8", "surrogatepass")) + len(expression.id)
    return msgspec.structs.replace(lineage, expressions=tuple(e for e in lineage.expressions if e.id not in gone))


def _smaller(lineage: ColumnLineage, max_bytes: int) -> Iterator[tuple[ColumnLineage, str]]:
    reason = too_large(max_bytes)
    reasons = "; ".join(filter(None, (lineage.incomplete_reason, reason)))
    for by_field, left_out in (
        (True, "each output field is recorded as derived from every field of its inputs"),
        (False, "each output is recorded as derived from every field of its inputs"),
    ):
        edges = {_coarse(edge, by_field=by_field) for edge in lineage.edges if by_field or edge.kind is not _CONSTANT}
        coarse = msgspec.structs.replace(
            lineage, edges=tuple(edges), expressions=(), complete=False, incomplete_reason=reasons
        )
        # A set has no order, and an event's bytes need one.
        yield canonical_lineage(coarse), left_out


def _coarse(edge: ColumnEdge, *, by_field: bool) -> ColumnEdge:
    if edge.kind is _CONSTANT:
        return msgspec.structs.replace(edge, expression=None)
    return ColumnEdge(
        output=edge.output,
        output_field=edge.output_field if by_field else None,
        input=edge.input,
        type=TransformationType.DIRECT,
        kind=TransformationKind.UNKNOWN,
    )


def join_lineages(lineages: Sequence[ColumnLineage]) -> ColumnLineage:
    """Join the edges of all lineages, in canonical order; complete only if every lineage is complete."""
    if len(lineages) == 1:
        return canonical_lineage(lineages[0])
    datasets: dict[DatasetRef, int] = {}
    edges: list[ColumnEdge] = []
    expressions: list[Expression] = []
    for lineage in lineages:
        merged = [datasets.setdefault(dataset, len(datasets)) for dataset in lineage.datasets]
        edges += (
            msgspec.structs.replace(
                edge, output=merged[edge.output], input=None if edge.input is None else merged[edge.input]
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


def has_lineage(lineage: ColumnLineage) -> bool:
    """Return True if a lineage is worth an event: it has edges, or is marked as incomplete."""
    return bool(lineage.edges) or (bool(lineage.datasets) and not lineage.complete)
