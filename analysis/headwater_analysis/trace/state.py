"""State that a query keeps from batch to batch, and the batches that a record can reach through it.

A query without state outputs in each batch what it read in this batch. A query with state (an aggregation, a join of
two streams, the removal of duplicates) may output a record's effect in any later batch, until its watermark has passed
the record's time by the state's horizon, or until its state was empty. The horizon is the watermark's delay plus the
length of the windows. Two facts bound these batches:

- A record of batch n is no later than `watermark_after(n)` + delay. So its changes have left the state once a batch ran
  with `watermark_before` >= `watermark_after(n)` + horizon.
- The output of batch m has a window that ends after the watermark of batch m - 1. So batch k contributed to it only if
  `watermark_after(k)` > this watermark - horizon.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from headwater_analysis.reader import Transaction
from headwater_analysis.trace.batches import Batch, Query, before, stretches
from headwater_analysis.trace.plans import WritingPlan, plan_steps
from headwater_analysis.trace.prefetch import KEEP_STATE
from headwater_analysis.trace.search import Search, reached_after, run_by_time
from headwater_graph.keys import plan_key
from headwater_schemas.events import Certainty
from headwater_schemas.facets import EVENT_TIME_FACET


def reported_horizon(tx: Transaction, query: Query) -> timedelta | None:
    """Return the longest state horizon that the query's starts reported; None unless every start reported one.

    A start with several watermarks has no horizon, unless its policy is `max`: with `min`, records of the faster inputs
    may have event times far after the watermark.
    """
    found = [_horizon(row["reported"]) for row in tx.rows("trace/event_time", query=query.key, facet=EVENT_TIME_FACET)]
    known = [horizon for horizon in found if horizon is not None]
    return max(known) if known and len(known) == len(found) else None


def _horizon(text: str | None) -> timedelta | None:
    try:
        reported = json.loads(text or "{}")
        if len(reported.get("watermarks", ())) > 1 and reported.get("policy") != "max":
            return None
        millis = reported.get("stateHorizonMs")
        return timedelta(milliseconds=millis) if millis is not None else None
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


LOOK_FOR_EMPTY = 256
"""Number of earlier or later batches to search for one that left the state empty."""
LOOK_FOR_STATE = 64
"""Number of a query's first batches to search for one that reports its state."""
# Spark cuts event times to milliseconds before it takes the maximum.
_ROUNDED = timedelta(milliseconds=1)
_NOTHING_KNOWN = "Nothing shows that the query keeps state."


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """State of a query, as far as known.

    Attributes:
        keeps: whether the query keeps state; None if unknown.
        spreads: whether an answer has to assume that records spread through state.
        certainty: certainty of `keeps` and `spreads`.
        why: reason, a sentence.
        horizon: longest time behind the watermark that a record may stay in the state, where known.
    """

    keeps: bool | None
    spreads: bool
    certainty: Certainty
    why: str
    horizon: timedelta | None = None


NO_STATE = State(keeps=None, spreads=False, certainty=Certainty.INFERRED, why=_NOTHING_KNOWN)


@dataclass(frozen=True, slots=True)
class StateSpread:
    """Batches that a record may affect; `bounded` is False if nothing but the first or last known batch limits them."""

    first: int
    last: int
    bounded: bool
    why: str


def state_of(tx: Transaction, query: Query, batches: Sequence[Batch], horizon: timedelta | None = None) -> State:
    """Determine a query's state from these batches.

    Args:
        batches: batches of the query, at least one.
        horizon: horizon given in the question; None: as the query's starts reported it.
    """
    known = _rows(batches)
    if not known and not all(_is_captured(batch) for batch in batches):
        # Batches that are known only from the checkpoint don't report state, but other batches of the query may.
        known = _rows(stretches(tx, [(query.key, query.first_batch, query.last_batch)], LOOK_FOR_STATE)[0])
    if known:
        return State(
            keeps=True,
            spreads=True,
            certainty=Certainty.EXACT,
            why=f"The query keeps state ({max(known):,} rows).",
            horizon=reported_horizon(tx, query) if horizon is None else horizon,
        )
    if all(_is_captured(batch) for batch in batches):
        return State(keeps=False, spreads=False, certainty=Certainty.EXACT, why="The query keeps no state.")
    return _from_plans(tx, query, batches, horizon)


def _rows(batches: Iterable[Batch]) -> list[int]:
    """Number of state rows after each batch that reports it."""
    rows = (batch.properties.get("state_rows") for batch in batches)
    return [row for row in rows if row is not None]


def spread_forward(tx: Transaction, pieces: Sequence[tuple[int, int]], last: Batch, state: State) -> StateSpread:
    """Find the last batch in which the state may hold the input of `last`.

    Args:
        pieces: ranges of batch ids within which the query's offsets only grow.
        last: last batch that read the part.
    """
    end = pieces[-1][1]
    [following] = stretches(tx, [(last.query, last.first, end)], LOOK_FOR_EMPTY)
    empty = next((batch.first for batch in following if batch.properties.get("state_rows") == 0), None)
    if empty is not None:
        return StateSpread(last.first, empty, bounded=True, why=f"After batch {empty} the state was empty.")
    after = last.time("watermark_after") or next((b.time("watermark_before") for b in following[1:2]), None)
    if state.horizon is None or after is None:
        missing = "" if state.horizon is None else " (the query had no watermark yet)"
        why = (
            f"The time that the query keeps a record is unknown{missing}, so any batch up to {end}, the last known "
            "one, may have output the record."
        )
        return StateSpread(last.first, end, bounded=False, why=why)
    passed = after + state.horizon + _ROUNDED
    bound, reached = last.last, False
    searches = [
        Search(
            last.query, max(first, last.last + 1), upto, reached_after(passed, inclusive=True), by="watermark_before"
        )
        for first, upto in pieces
        if upto > last.last
    ]
    run_by_time(tx, searches)
    for search in searches:
        if search.found is None:
            bound, reached = max(bound, search.last), False
        elif search.found > search.first or not reached:
            bound, reached = max(bound, search.found), True
    if reached:
        why = (
            f"The watermark passed {passed:%Y-%m-%d %H:%M:%S} in batch {bound}: up to this batch the state may hold "
            "the record."
        )
    else:
        why = f"The watermark hasn't passed {passed:%Y-%m-%d %H:%M:%S} by the last known batch, {bound}."
    return StateSpread(last.first, bound, bounded=reached, why=why)


def spread_backward(tx: Transaction, query: Query, first: Batch, state: State) -> StateSpread:
    """Find the first batch whose input may be in the output of `first`, through the state."""
    begin = query.first_batch
    [earlier] = stretches(
        tx, [(first.query, max(begin, first.first - LOOK_FOR_EMPTY), first.first - 1)], LOOK_FOR_EMPTY
    )
    empty = next((batch.last for batch in reversed(earlier) if batch.properties.get("state_rows") == 0), None)
    if empty is not None:
        begin = empty + 1
    previous = earlier[-1] if earlier else next(iter(before(tx, [(first.query, first.first)])[0]), None)
    mark = previous.time("watermark_before") if previous is not None else None
    if state.horizon is not None and mark is not None:
        passed = mark - state.horizon - _ROUNDED
        search = Search(first.query, begin, first.first, reached_after(passed, inclusive=False), by="watermark_after")
        run_by_time(tx, [search])
        if search.found is not None and search.found > begin and not search.met_unknown:
            why = (
                f"Batches before {search.found} can't have contributed: their watermark never passed "
                f"{passed:%Y-%m-%d %H:%M:%S}, and windows that old were already closed."
            )
            return StateSpread(search.found, first.last, bounded=True, why=why)
    if empty is not None:
        return StateSpread(begin, first.last, bounded=True, why=f"After batch {empty} the state was empty.")
    if begin >= first.first:
        return StateSpread(begin, first.last, bounded=True, why=f"Batch {first.first} is the first known batch.")
    why = "The time that the query keeps a record is unknown, so any earlier batch may have contributed."
    return StateSpread(begin, first.last, bounded=False, why=why)


def _is_captured(batch: Batch) -> bool:
    """Return whether Headwater's capture observed the batch: capture reports the state of every query with state."""
    stored = batch.properties
    return stored.get("provenance") == "OBSERVED" and stored.get("capture_version") is not None


def plans_to_ask(groups: Iterable[tuple[Query, Sequence[Batch]]]) -> list[WritingPlan]:
    """Plans that `state_of` will need for the batches of several queries."""
    return [asked for query, batches in groups if not _shows_state(batches) for asked in _plans_of(query, batches)]


def _shows_state(batches: Sequence[Batch]) -> bool:
    """Return whether these batches already show whether their query keeps state."""
    return all(map(_is_captured, batches)) or any(batch.properties.get("state_rows") is not None for batch in batches)


def _plans_of(query: Query, batches: Sequence[Batch]) -> list[WritingPlan]:
    digests = sorted({b.properties["plan_digest"] for b in batches if b.properties.get("plan_digest")})
    if query.job is None:
        return []
    tenant = batches[0].properties["tenant"]
    written = tuple(sorted({use.dataset for batch in batches for use in batch.writes()}))
    return [(plan_key(tenant, query.job.key, digest), written) for digest in digests]


def _from_plans(tx: Transaction, query: Query, batches: Sequence[Batch], horizon: timedelta | None) -> State:
    plans = plan_steps(tx, _plans_of(query, batches))
    kinds = {kind for plan in plans for kind in plan.kinds} & KEEP_STATE
    if len({use.dataset for batch in batches for use in batch.reads()}) < 2:
        # A stream's join with a static table keeps no state: each batch looks the table up again.
        kinds.discard("JOIN_DEPENDENCY")
    if kinds:
        words = ", ".join(sorted(kind.partition("_")[0].lower() for kind in kinds))
        return State(
            keeps=None,
            spreads=True,
            certainty=Certainty.INFERRED,
            why=f"The query's column lineage shows that the query keeps state ({words}).",
            horizon=reported_horizon(tx, query) if horizon is None else horizon,
        )
    if plans and all(plan.complete for plan in plans):
        return State(
            keeps=False, spreads=False, certainty=Certainty.EXACT, why="The query's plan has no step that keeps state."
        )
    return NO_STATE
