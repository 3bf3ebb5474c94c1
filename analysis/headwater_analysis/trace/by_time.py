"""Hops whose micro-batches are bounded only by time, because the graph doesn't record which parts they used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from headwater_analysis.trace.batches import Batch, Query, before, stretches
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import BY_TIME, HopDraft, PendingPart, micro_batches, overall
from headwater_analysis.trace.locate import STRETCH
from headwater_analysis.trace.parts import between, given
from headwater_analysis.trace.search import Search, is_after, reached_after, run_by_time
from headwater_analysis.trace.traced_parts import Part
from headwater_schemas.events import Certainty


def whole_drafts(context: Context, asked: Sequence[tuple[Query, PendingPart, str]]) -> list[HopDraft]:
    """Build a hop for each query, over its micro-batches since the part was written (backwards: until it was used).

    Args:
        asked: query, part, and a sentence: why the part can't be found among the query's recorded offsets or files.
    """
    times = [pending.part.until if context.backward else pending.part.since for _, pending, _ in asked]
    bounds = iter(
        first_after(context, [(query, time) for (query, _, _), time in zip(asked, times, strict=True) if time])
    )
    drafts = []
    for (query, pending, why), time in zip(asked, times, strict=True):
        first, last = query.first_batch, query.last_batch
        if time is not None:
            after = next(bounds)
            if context.backward:
                last = last if after is None else after - 1
            else:
                # A batch that was already running at `time` may have read its input after `time`.
                first = running_at(context, query, after, time)
        if first <= last and (draft := _draft(context, query, pending, first, last, why)) is not None:
            drafts.append(draft)
    return drafts


def first_after(
    context: Context, asked: Sequence[tuple[Query, datetime]], *, inclusive: bool = False
) -> list[int | None]:
    """Find each query's first batch known to have begun after its time (with `inclusive`: at or after it)."""
    searches = [
        Search(query.key, query.first_batch, query.last_batch, reached_after(time, inclusive=inclusive))
        for query, time in asked
    ]
    run_by_time(context.tx, searches)
    found = []
    for (query, time), search in zip(asked, searches, strict=True):
        first = search.found
        if search.met_unknown:
            later = [
                batch.first
                for batch in _back_to(context, query, first, time)
                if batch.started_at is not None and is_after(batch.started_at, time, inclusive=inclusive)
            ]
            first = later[-1] if later else first
        found.append(first)
    return found


def running_at(context: Context, query: Query, after: int | None, time: datetime) -> int:
    """Find the first batch that may have been running at a time.

    It is the last batch that is known to have begun at or before `time`; without such a batch, the query's first batch.

    Args:
        after: result of `first_after` for this query.
    """
    first = query.last_batch + 1 if after is None else after
    for batch in _back_to(context, query, after, time):
        first = batch.first
    return first


def _back_to(context: Context, query: Query, after: int | None, time: datetime) -> Iterator[Batch]:
    """Batches before `after`, the latest first, down to and including the last one known to have begun by `time`."""
    # Mostly one batch is enough: only reconciled batches may lack their start time.
    for batch in batches_before(context, query, query.last_batch + 1 if after is None else after):
        yield batch
        if batch.started_at is not None and batch.started_at <= time:
            return


def batches_before(context: Context, query: Query, batch_id: int) -> Iterator[Batch]:
    """Micro-batches of a query before a batch id, the latest first. The first one is read alone, then many at once."""
    limit = 1
    while True:
        [earlier] = before(context.tx, [(query.key, batch_id)], limit)
        yield from earlier
        if len(earlier) < limit:
            return
        batch_id, limit = earlier[-1].first, STRETCH


def _draft(context: Context, query: Query, pending: PendingPart, first: int, last: int, why: str) -> HopDraft | None:
    batches, complete = ends(context, query, first, last)
    if not batches:
        return None
    others = _given(context, query, batches, pending.part.dataset.key, complete=complete)
    used = (pending.part,)
    step = micro_batches(query, batches, count=len(batches) if complete else None, keeps=None)
    certainty = Certainty.UNKNOWN
    clause = "until the part was read may have written"
    if not context.backward:
        clause = "since the part was written may have read"
    return HopDraft(
        key=(query.key + BY_TIME, batches[0].first, batches[-1].last),
        step=step,
        inputs=others if context.backward else used,
        outputs=used if context.backward else others,
        certainty=certainty,
        overall=overall(certainty, [pending]),
        why=f"{why} So any micro-batch of the query {clause} it.",
        pendings=(pending,),
    )


def ends(context: Context, query: Query, first: int, last: int, most: int = STRETCH) -> tuple[list[Batch], bool]:
    """Return the micro-batches from `first` to `last`, and True.

    If there are more than `most`, return only the first and the last of them, and False.
    """
    [batches] = stretches(context.tx, [(query.key, first, last)], most)
    if len(batches) < most or batches[-1].last >= last:
        return batches, True
    [final] = before(context.tx, [(query.key, last + 1)])
    return [batches[0], *final], False


def _given(context: Context, query: Query, batches: Sequence[Batch], used: str, *, complete: bool) -> tuple[Part, ...]:
    if complete:
        used_by = [(batch, frozenset({used})) for batch in batches]
        return given(used_by, context.datasets, backward=context.backward)
    return between(context.tx, query, batches[0], batches[-1], produced=not context.backward, datasets=context.datasets)
