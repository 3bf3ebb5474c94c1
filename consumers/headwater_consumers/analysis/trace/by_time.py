"""Micro-batches that can only be bounded by time: what part of a dataset was used isn't known, or isn't said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.moments import moment
from headwater_consumers.analysis.trace.locate import STRETCH
from headwater_consumers.analysis.trace.parts import between, joined
from headwater_consumers.analysis.trace.search import Search, run
from headwater_consumers.analysis.trace.stretch import before, stretches
from headwater_consumers.analysis.trace.taken import BY_TIME, Draft, Pending, micro_batches, overall
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from neo4j import Record

    from headwater_consumers.analysis.trace.answer import Part
    from headwater_consumers.analysis.trace.batches import Batch, Query
    from headwater_consumers.analysis.trace.context import Context


def whole_drafts(context: Context, asked: Sequence[tuple[Query, Pending, str]]) -> list[Draft]:
    """A hop for each query, over all its micro-batches since (backwards: until) the part was written (used)."""
    searches: list[Search | None] = []
    for query, pending, _ in asked:
        time = pending.part.until if context.backward else pending.part.since
        searches.append(None if time is None else Search(query.key, query.first_batch, query.last_batch, _after(time)))
    run(context.tx, "trace/probe_times", [search for search in searches if search is not None])
    drafts = []
    for (query, pending, why), search in zip(asked, searches, strict=True):
        first, last = query.first_batch, query.last_batch
        if search is not None and context.backward:
            last = last if search.found is None else search.found - 1
        elif search is not None:
            # The batch that ran at the time may have looked later than it began.
            first = max(first, (last + 1 if search.found is None else search.found) - 1)
        if first <= last and (draft := _draft(context, query, pending, first, last, why)) is not None:
            drafts.append(draft)
    return drafts


def first_after(context: Context, query: Query, time: datetime, *, inclusive: bool = False) -> int | None:
    """The first batch of a query that began after a time, or then."""
    search = Search(query.key, query.first_batch, query.last_batch, _after(time, inclusive=inclusive))
    run(context.tx, "trace/probe_times", [search])
    return search.found


def _draft(context: Context, query: Query, pending: Pending, first: int, last: int, why: str) -> Draft | None:
    batches, complete = ends(context, query, first, last)
    if not batches:
        return None
    given = _given(context, batches, complete=complete)
    used = (pending.part,)
    step = micro_batches(query, batches, count=len(batches) if complete else None, keeps=None)
    certainty = Certainty.UNKNOWN
    return Draft(
        key=(query.key + BY_TIME, batches[0].first, batches[-1].last),
        step=step,
        inputs=given if context.backward else used,
        outputs=used if context.backward else given,
        certainty=certainty,
        overall=overall(certainty, [pending]),
        why=f"{why} So any of its micro-batches {'until' if context.backward else 'since'} then may have used it.",
        pendings=(pending,),
    )


def ends(context: Context, query: Query, first: int, last: int) -> tuple[list[Batch], bool]:
    """The micro-batches between two ids where they are few, else the first and the last; whether these are all."""
    [batches] = stretches(context.tx, [(query.key, first, last)], STRETCH)
    if len(batches) < STRETCH or batches[-1].last >= last:
        return batches, True
    [final] = before(context.tx, [(query.key, last + 1)])
    return [batches[0], *final], False


def _given(context: Context, batches: Sequence[Batch], *, complete: bool) -> tuple[Part, ...]:
    if complete:
        uses = [(b, use) for b in batches for use in (b.reads() if context.backward else b.writes())]
        return joined(uses, context.datasets)
    return between(batches[0], batches[-1], produced=not context.backward, datasets=context.datasets)


def _after(time: datetime, *, inclusive: bool = False) -> Callable[[Record], bool | None]:
    def reached(row: Record) -> bool | None:
        found = moment(row["processing_time"])
        return None if found is None else found > time or (inclusive and found == time)

    return reached
