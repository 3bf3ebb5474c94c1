"""Streaming queries that may still write bad records, and the event time up to which their output may contain them.

in ─▶ q1, whose state has bad records ─▶ mid ─▶ q2 ⇒ q2 isn't over before q1, with or without state of its own
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from headwater_analysis.amounts import first_of
from headwater_analysis.incidents.answers import Spreading
from headwater_analysis.trace.batches import Query, before
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.locate import STRETCH
from headwater_analysis.trace.state import reported_horizon
from headwater_analysis.trace.traced_parts import Hop, Step, StepKind
from headwater_graph.keys import query_key

_IN_BATCHES = (StepKind.MICRO_BATCHES, StepKind.SUMMARY)


def spreading(context: Context, hops: Iterable[Hop]) -> tuple[Spreading, ...]:
    """Find the queries that may still write bad records, among the steps that bad records passed through, by name.

    The output of a query with state may contain a record until the query's watermark has passed this event time: the
    watermark right after the micro-batch that read the record, plus the longest time that the state keeps a record
    (`trace.state.spread_forward`). If several micro-batches read bad records, the latest counts.

    A query that reads output of such a query may read further bad records later, so `until` isn't known for it.
    """
    hops = tuple(hops)
    found = _by_own_state(context, hops)
    is_open = {query_id for query_id, each in found.items() if not each.is_over}
    waits = _reads_output_of(is_open, hops)
    for hop in hops:
        query_id = hop.step.query_id
        if query_id is not None and query_id in waits and query_id not in found:
            found[query_id] = _without_state(query_id, hop.step)
    names = {query_id: _name(each) for query_id, each in found.items()}
    for query_id, before_it in waits.items():
        # A query whose own output comes back to it waits for itself.
        others = sorted(names[each] for each in before_it if each != query_id)
        text = _text_after(names[query_id], others)
        found[query_id] = replace(found[query_id], until=None, is_over=False, text=text)
    return tuple(sorted(found.values(), key=lambda each: (each.query_name or "", each.query_id)))


def _by_own_state(context: Context, hops: Sequence[Hop]) -> dict[str, Spreading]:
    """Queries whose state took in bad records that are known, by id; queries that they read from aren't considered."""
    last: dict[str, int] = {}
    keep: set[str] = set()
    for hop in hops:
        step = hop.step
        if step.kind in _IN_BATCHES and step.keeps_state is not False and step.query_id and step.last_batch is not None:
            key = query_key(context.tx.tenant, step.query_id)
            last[key] = max(step.last_batch, last.get(key, -1))
            keep |= {key} if step.keeps_state else set()
    queries = context.queries(last)
    return {
        query.query_id: _of(context, query, last[key])
        for key, query in queries.items()
        if key in keep or _may_keep(context, query)
    }


def _reads_output_of(is_open: Collection[str], hops: Sequence[Hop]) -> Mapping[str, set[str]]:
    """For each query, by id: ids of the open queries whose output it reads, directly or through other steps.

    Hops are linked by their datasets, not by `after` alone: the trace follows no part twice, so a hop lacks the link to
    a step that wrote the same part, and an open query may write other parts later.
    """
    readers: dict[str, set[str | int]] = defaultdict(set)
    written: dict[str | int, set[str]] = defaultdict(set)
    for hop in hops:
        step = hop.step.query_id or hop.number
        written[step] |= {part.dataset.key for part in hop.outputs}
        for part in hop.inputs:
            readers[part.dataset.key].add(step)
    found: dict[str, set[str]] = defaultdict(set)
    for query_id in is_open:
        reached: set[str | int] = set()
        new: set[str | int] = {query_id}
        while new:
            new = {step for each in new for dataset in written[each] for step in readers[dataset]} - reached
            reached |= new
        for step in reached:
            if isinstance(step, str):
                found[step].add(query_id)
    return found


def _without_state(query_id: str, step: Step) -> Spreading:
    return Spreading(
        query_id=query_id, query_name=step.query_name, job=step.job, until=None, watermark=None, is_over=True, text=""
    )


def _name(each: Spreading) -> str:
    return each.query_name or each.query_id


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


def _text_after(name: str, others: Sequence[str]) -> str:
    if not others:
        return (
            f"{name} may still write output of these records, and reads its own output again: until when isn't known."
        )
    names = first_of(others)
    return (
        f"{name} may still write output of these records after {names}: later output of {names} may contain more of "
        "them. Until when isn't known."
    )


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
