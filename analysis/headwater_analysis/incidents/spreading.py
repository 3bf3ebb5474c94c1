"""Streaming queries whose state took in bad records, and the event time up to which their output may contain them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from headwater_analysis.incidents.answers import Spreading
from headwater_analysis.trace.batches import Query, before
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.locate import STRETCH
from headwater_analysis.trace.state import reported_horizon
from headwater_analysis.trace.traced_parts import Hop, StepKind
from headwater_graph.keys import query_key

_IN_BATCHES = (StepKind.MICRO_BATCHES, StepKind.SUMMARY)


def spreading(context: Context, hops: Iterable[Hop]) -> tuple[Spreading, ...]:
    """Find the queries with state among the steps that bad records passed through; sorted by name.

    The output of a query may contain a record until the query's watermark has passed this event time: the watermark
    right after the micro-batch that read the record, plus the longest time that the state keeps a record
    (`trace.state.spread_forward`). If several micro-batches read bad records, the latest counts.
    """
    last: dict[str, int] = {}
    keep: set[str] = set()
    for hop in hops:
        step = hop.step
        if step.kind in _IN_BATCHES and step.keeps_state is not False and step.query_id and step.last_batch is not None:
            key = query_key(context.tx.tenant, step.query_id)
            last[key] = max(step.last_batch, last.get(key, -1))
            keep |= {key} if step.keeps_state else set()
    queries = context.queries(last)
    found = [
        _of(context, query, last[key]) for key, query in queries.items() if key in keep or _may_keep(context, query)
    ]
    return tuple(sorted(found, key=lambda each: (each.query_name or "", each.query_id)))


def _may_keep(context: Context, query: Query) -> bool:
    batch = context.last_batch(query)
    return batch is not None and batch.properties.get("state_rows") is not None


def _of(context: Context, query: Query, last: int) -> Spreading:
    name = query.name or query.query_id
    newest = context.last_batch(query)
    # A batch that is known only by its checkpoint has no watermark.
    [latest] = before(context.tx, [(query.key, query.last_batch + 1)], STRETCH)
    marks = (batch.time("watermark_after") or batch.time("watermark_before") for batch in latest)
    now = next((mark for mark in marks if mark is not None), None)
    horizon = reported_horizon(context.tx, query)
    [found] = before(context.tx, [(query.key, last + 1)])
    after = found[-1].time("watermark_after") if found else None
    until = None if horizon is None or after is None else after + horizon
    is_over = newest is not None and newest.properties.get("state_rows") == 0
    is_over |= until is not None and now is not None and now > until
    return Spreading(
        query_id=query.query_id,
        query_name=query.name,
        job=query.job,
        until=until,
        watermark=now,
        is_over=is_over,
        text=_text(name, until, now, horizon, is_over=is_over),
    )


def _text(name: str, until: datetime | None, now: datetime | None, horizon: timedelta | None, *, is_over: bool) -> str:
    if is_over:
        return f"{name} writes no more output of these records: its state has dropped them."
    if until is not None and now is not None:
        return (
            f"{name} may still write output of these records until its watermark passes {_moment(until)} (now "
            f"{_moment(now)})."
        )
    missing = "how long its state keeps a record isn't known" if horizon is None else "it has no watermark yet"
    return f"{name} may write output of these records at any time: {missing}."


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
