"""Question `timeline/overview`: years of micro-batches in a few bars, from the properties of segments.

A segment stores up to 512 micro-batches of a query, and counts them. A query that runs every ten seconds has 6,160
segments a year. All these segments are read in one statement, and adjacent segments are added up. A summarized day
counts as one segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from headwater_analysis.assets import AssetKind
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.micro_batches import at_batches
from headwater_analysis.moments import moment_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.run_names import resolve_owner
from headwater_analysis.timeline.entries import Overview, OverviewBar
from headwater_analysis.timeline.timelines import Span, queries_of

MOST_SEGMENTS = 50_000
"""Maximum number of segments in an answer: eight years of a query that runs every ten seconds."""
MOST_BARS = 1_000
_ADDED = (
    "segments",
    "batches",
    "summarized",
    "broken",
    "missing",
    "gaps",
    "overlaps",
    "rewinds",
    "conflicts",
    "failed",
    "reconciled",
)


def merged(segments: Sequence[OverviewBar], most: int) -> list[OverviewBar]:
    """Merge adjacent segments into at most `most` bars, with as few segments in each bar as possible.

    Args:
        segments: bars of one query, one for each segment, in batch order.
        most: maximum number of bars, at least 1.
    """
    width = max(1, -(-len(segments) // most))
    return [_sum(segments[at : at + width]) for at in range(0, len(segments), width)]


def _sum(bars: Sequence[OverviewBar]) -> OverviewBar:
    # Clocks may go back and times may be missing, so the first segment may not have the first time.
    times = [time for bar in bars for time in (bar.first_time, bar.last_time) if time is not None]
    return OverviewBar(
        query=bars[0].query,
        first_batch=bars[0].first_batch,
        last_batch=max(bar.last_batch for bar in bars),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        **{name: sum(getattr(bar, name) for bar in bars) for name in _ADDED},
    )


def in_bars(segments: Mapping[str, Sequence[OverviewBar]], most: int) -> tuple[list[OverviewBar], bool]:
    """Distribute at most `most` bars equally among queries; also return whether queries were left out.

    Args:
        segments: bars of each query's segments, by key of the query, as for `merged`.
        most: at least 1. If there are more queries than bars, each of the queries with the latest micro-batches gets
            one bar.
    """
    keys = [key for key, own in segments.items() if own]

    def latest(key: str) -> tuple[bool, float]:
        time = _sum(segments[key]).last_time
        return (False, 0.0) if time is None else (True, time.timestamp())

    kept = set(keys if len(keys) <= most else sorted(keys, key=latest)[-most:])
    bars = [bar for key in keys if key in kept for bar in merged(segments[key], most // len(kept))]
    return bars, len(kept) < len(keys)


def overview(
    reader: Reader,
    *,
    job: str | None = None,
    dataset: str | None = None,
    begin: datetime | None = None,
    end: datetime | None = None,
    bars: int = 200,
) -> Overview:
    """Return the micro-batches of a job, or of queries that read or write a dataset, in a span of time, counted.

    Args:
        job: name, key, or namespace and name, as for `resolve_job`.
        dataset: a dataset, as for `resolve_dataset`. Give either a job or a dataset.
        begin: leave out segments whose last micro-batch began before this time.
        end: leave out segments whose first micro-batch began at this time or later. With `begin` or `end`, segments
            without a known time are left out, too.
        bars: maximum number of bars.

    Raises:
        QuestionError: the span ends before it begins, or the number of bars isn't from 1 to 1,000.
        NotFoundError: no such job or dataset; with the nearest names.
        AmbiguousError: several have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    Span(begin, end).check()
    if not 1 <= bars <= MOST_BARS:
        raise QuestionError(f"The number of bars is from 1 to {MOST_BARS:,}.", field="bars")

    def question(tx: Transaction) -> Overview:
        found = resolve_owner(tx, job, dataset)
        queries = queries_of(tx, found)
        share = max(1, MOST_SEGMENTS // max(1, len(queries)))
        segments: dict[str, list[OverviewBar]] = {query.key: [] for query in queries}
        # One segment of each query more than wanted is read: it shows whether there are more.
        rows = tx.rows("timeline/overview", queries=list(segments), begin=begin, end=end, segments=share + 1)
        conflicts = _conflicts(tx, rows)
        for row in rows:
            segments[row["query"]].append(_bar(row, conflicts[row["query"], row["first_batch"]]))
        summaries: dict[str, list[OverviewBar]] = {query.key: [] for query in queries}
        for row in tx.rows(
            "timeline/overview_summaries", queries=list(segments), begin=begin, end=end, summaries=share + 1
        ):
            # The only known faults of a summary are missing micro-batches.
            day = {**dict.fromkeys(_ADDED, 0), "summarized": row["batches"], **row}
            summaries[row["query"]].append(_bar(day))
        cut = any(len(own) > share for some in (segments, summaries) for own in some.values())
        ordered = {
            key: sorted([*own[:share], *summaries[key][:share]], key=lambda bar: (bar.first_batch, bar.last_batch))
            for key, own in segments.items()
        }
        merged_bars, left_out = in_bars(ordered, bars)
        return Overview(
            found.asset,
            found.asset if found.asset.kind is AssetKind.JOB else None,
            tuple(queries),
            tuple(merged_bars),
            sum(bar.batches for bar in merged_bars),
            cut or left_out,
        )

    return reader.read(question)


def _conflicts(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int], int]:
    """Conflicting reports in each segment, by query and first batch id.

    A segment also counts reports as conflicting that differ only in the spelling of a dataset. So if datasets have
    several names, the micro-batches with conflicts are read. Such micro-batches are few: they are in a checkpoint that
    was read under another name.
    """
    batches = {(row["query"], row["first_batch"]): row["contested"] for row in rows}
    if not Identities.of(tx).any:
        return {key: len(contested) for key, contested in batches.items()}
    wanted = sorted({(query, batch) for (query, _), contested in batches.items() for batch in contested})
    reports = {(each.query, each.batch_id): len(each.variants) - 1 for each in at_batches(tx, wanted)}
    return {
        key: sum(reports[key[0], batch] for batch in dict.fromkeys(contested)) for key, contested in batches.items()
    }


def _bar(row: Mapping[str, Any], conflicts: int = 0) -> OverviewBar:
    values = {"segments": 1, "summarized": 0, "conflicts": conflicts, **row}
    values.pop("contested", None)
    return OverviewBar(**{**values, **{name: moment_of(values[name]) for name in ("first_time", "last_time")}})
