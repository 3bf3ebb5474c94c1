"""Question `timeline`: the latest micro-batches and runs of a job or dataset, with a summary of their positions.

Within a query, micro-batches are in descending order of batch id; the queries are merged by time. A reconciled
micro-batch may have no time. It is placed next to the following micro-batch of its query.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from headwater_analysis import micro_batches, moments, paging
from headwater_analysis.assets import AssetKind, dataset_asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.interval_fields import stored_values
from headwater_analysis.micro_batches import Stretch
from headwater_analysis.moments import moment
from headwater_analysis.paging import check_limit, malformed
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import FoundNode
from headwater_analysis.runs.run_names import resolve_owner
from headwater_analysis.timeline.entries import (
    Break,
    Timeline,
    TimelineInterval,
    TimelinePart,
    TimelineQuery,
    TimelineRun,
)
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.derive import Because
from headwater_graph.facts.nodes import IntervalFacts
from headwater_schemas.events import Certainty

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_LONGEST = 200


def positions(uses: Iterable[Mapping[str, Any]], *, produced: bool) -> tuple[TimelinePart, ...]:
    """Positions of the produced uses, or of the consumed uses."""
    return tuple(_position(use["dataset"], use["position"]) for use in uses if use["produced"] == produced)


def breaks(before: Mapping[str, Any] | None, kind: str) -> tuple[Break, ...]:
    """Breaks of a NEXT relationship; `kind` is `gap` or `overlap`."""
    if before is None or f"{kind}_partitions" not in before:
        return ()
    lists = (before[f"{kind}_{name}"] for name in ("datasets", "partitions", "from", "to_exclusive"))
    return tuple(Break(*each) for each in zip(*lists, strict=True))


def _position(dataset: Mapping[str, Any], stored: Mapping[str, Any]) -> TimelinePart:
    kind = stored.get("position")
    ranges: tuple[OffsetSpan, ...] = ()
    if kind == "kafka":
        each = zip(stored["partitions"], stored["from"], stored["to_exclusive"], strict=True)
        ranges = tuple(OffsetSpan(*span) for span in each)
    certainty = Certainty.UNKNOWN if kind is None else Certainty(stored.get("certainty") or "UNKNOWN")
    return TimelinePart(dataset_asset(dataset), kind, certainty, stored.get("rows"), ranges, _summary(kind, stored))


def _summary(kind: str | None, stored: Mapping[str, Any]) -> str | None:
    match kind:
        case "files":
            count, size = stored.get("file_count"), stored.get("file_bytes")
            files = "files" if count is None else "1 file" if count == 1 else f"{count:,} files"
            text = files if size is None else f"{files}, {_bytes(size)}"
        case "table_snapshot":
            text = f"snapshot {stored.get('snapshot_id')}"
        case "table_range":
            # The first version is excluded, the last is included.
            text = f"versions after {stored.get('from_version') or 'the beginning'} up to {stored.get('to_version')}"
        case "cdc":
            text = _range(stored.get("from_cdc"), stored.get("to_cdc"))
        case "api_cursor":
            text = _range(stored.get("from_cursor"), stored.get("to_cursor"))
        case "time_range":
            text = _range(*(moments.written(stored.get(name)) for name in ("from_time", "to_time_exclusive")))
        case _:
            return None
    return text[:_LONGEST]


def _range(start: object, end: object) -> str:
    return f"{'' if start is None else start}..{end}"


def _bytes(size: int) -> str:
    amount, unit = float(size), _UNITS[0]
    for larger in _UNITS[1:]:
        if amount < 1_000:
            break
        amount, unit = amount / 1_000, larger
    return f"{size:,} {unit}" if unit == _UNITS[0] else f"{amount:.1f} {unit}"


FIRST_PAGE = 2**63 - 1
"""Batch id greater than all others: the first page comes before it."""
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """Span of time, half-open; None: no bound."""

    begin: datetime | None = None
    end: datetime | None = None

    def check(self) -> None:
        """Check that a span doesn't end before it begins.

        Raises:
            QuestionError: the span ends before it begins.
        """
        if self.begin is not None and self.end is not None and self.end < self.begin:
            raise QuestionError("The span of time ends before it begins.", field="to")


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Page of a timeline.

    Attributes:
        before: batch id before which the next page begins, by query; None if there is no next page.
    """

    intervals: list[IntervalFacts]
    before: dict[str, int] | None


def latest(tx: Transaction, before: Mapping[str, int], span: Span, limit: int) -> TimelinePage:
    """Return the latest `limit` micro-batches; of each query only micro-batches before `before[query key]`."""
    stretches = {key: Stretch(key, last=batch - 1, begin=span.begin, end=span.end) for key, batch in before.items()}
    # If there are many queries, a few micro-batches of each fill a page. An extra one shows if there is a next page.
    size = min(limit, 2 * limit // max(1, len(stretches))) + 1
    lists: dict[str, list[IntervalFacts]] = {}
    short = list(stretches)
    page: list[IntervalFacts] = []
    while short:
        found = micro_batches.preceding(tx, [stretches[key] for key in short], size)
        lists |= dict(zip(short, found, strict=True))
        merged = heapq.merge(*map(_timed, lists.values()), key=lambda each: each[0], reverse=True)
        page = [each for _, each in islice(merged, limit)]
        # The page has all rows that were read for these queries; their next rows may belong on the page, too.
        taken = Counter(each.query for each in page)
        short = [key for key in short if size <= limit and taken[key] == len(lists[key]) == size]
        size = min(limit + 1, 4 * size)
    if sum(map(len, lists.values())) <= limit:
        return TimelinePage(page, None)
    return TimelinePage(page, dict(before) | {interval.query: interval.batch_id for interval in page})


def _timed(found: Sequence[IntervalFacts]) -> Iterator[tuple[tuple[datetime, str], IntervalFacts]]:
    time = _LAST
    for each in found:
        # Clocks may go back, but the merge needs an order: no batch counts as later than the next one.
        time = min(micro_batches.processing_time(each) or time, time)
        yield (time, each.query), each


def count(tx: Transaction, queries: Sequence[str], span: Span) -> int:
    """Count the micro-batches of these queries in a span of time."""
    given = {"begin": span.begin, "end": span.end}
    total = int(tx.one("timeline/counts", queries=queries, **given)["total"])
    cut = [
        Stretch(row["query"], row["first"], row["last"], **given)
        for row in tx.rows("timeline/cut_segments", queries=queries, **given)
    ]
    return total + micro_batches.count(tx, cut)


def written(before: Mapping[str, int]) -> str:
    """Format `before` as text for a cursor."""
    return ",".join(f"{key}:{batch}" for key, batch in before.items())


def read(text: str, queries: Iterable[str]) -> dict[str, int]:
    """Parse a text of `written`; keys that aren't among `queries` are left out.

    Raises:
        QuestionError: the text isn't from `written`.
    """
    known = set(queries)
    try:
        pairs = [part.split(":") for part in text.split(",")]
        return {key: int(batch) for key, batch in pairs if key in known and 0 <= int(batch) <= FIRST_PAGE}
    except ValueError as error:
        raise malformed() from error


def rows_of(tx: Transaction, found: FoundNode, what: str, **parameters: Any) -> list[Any]:
    """Rows of the statement `timeline/<what>_of_job` or `…_of_dataset`; a dataset counts with all of its names."""
    if found.asset.kind is AssetKind.JOB:
        return tx.rows(f"timeline/{what}_of_job", id=found.id, **parameters)
    identities = Identities.of(tx)
    identities.learn([found.id])
    return tx.rows(f"timeline/{what}_of_dataset", ids=identities.expanded([found.id]), **parameters)


def queries_of(tx: Transaction, found: FoundNode) -> list[TimelineQuery]:
    """Streaming queries of a job, or queries that read or write a dataset."""
    return [_query(row["query"]) for row in rows_of(tx, found, "queries")]


def timeline(
    reader: Reader,
    *,
    job: str | None = None,
    dataset: str | None = None,
    begin: datetime | None = None,
    end: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Timeline:
    """Return the latest micro-batches and runs of a job, or those that read or write a dataset.

    Args:
        job: name, key, or namespace and name, as for `resolve_job`.
        dataset: a dataset, as for `resolve_dataset`. Give either a job or a dataset.
        begin: leave out runs that ended, and micro-batches that began, before this time.
        end: leave out runs and micro-batches that began at this time or later. With `begin` or `end`, micro-batches
            without a known time are left out, too.
        limit: maximum number of micro-batches, and of runs.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the span ends before it begins, the limit isn't from 1 to 1,000, or the cursor belongs to another
            question.
        NotFoundError: no such job or dataset; with the nearest names.
        AmbiguousError: several have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    span = Span(begin, end)
    span.check()
    check_limit(limit)

    def question(tx: Transaction) -> Timeline:
        found = resolve_owner(tx, job, dataset)
        same = ("timeline", tx.tenant, found.asset.kind.value.lower(), found.asset.key, span)
        queries = queries_of(tx, found)
        keys = [query.key for query in queries]
        if cursor is None:
            before = dict.fromkeys(keys, FIRST_PAGE)
        else:
            (text,) = paging.decode(cursor, question=same, kinds=(str,))
            before = read(text, keys)
        page = latest(tx, before, span, limit)
        runs = []
        if cursor is None:
            runs = rows_of(tx, found, "runs", begin=begin, end=end, limit=limit)
        return Timeline(
            found.asset,
            found.asset if found.asset.kind is AssetKind.JOB else None,
            tuple(queries),
            _intervals(tx, page.intervals),
            tuple(_run(row["run"]) for row in runs),
            count(tx, keys, span),
            None if page.before is None else paging.encode((written(page.before),), question=same),
        )

    return reader.read(question)


def _intervals(tx: Transaction, found: Sequence[IntervalFacts]) -> tuple[TimelineInterval, ...]:
    ordered = sorted(found, key=lambda interval: (interval.query, interval.batch_id))
    befores = micro_batches.befores(tx, ordered, every=False)
    rows = [micro_batches.row(each) for each in ordered]
    keys = sorted({dataset for row in rows for _, dataset, _ in row["uses"]})
    datasets = {row["properties"]["key"]: row["properties"] for row in tx.rows("micro_batches/datasets", keys=keys)}
    return tuple(
        _interval(row, micro_batches.joint(before, each), each, datasets)
        for each, row, before in zip(ordered, rows, befores, strict=True)
    )


def _interval(
    row: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    interval: IntervalFacts,
    datasets: Mapping[str, Mapping[str, Any]],
) -> TimelineInterval:
    uses = [
        {"produced": type_ == "PRODUCED", "dataset": datasets[dataset], "position": part}
        for type_, dataset, part in sorted(row["uses"], key=lambda use: (use[1], use[2].get("ordinal", 0)))
    ]
    stored = stored_values(TimelineInterval, row["properties"])
    stored |= {name: stored[name] or None for name in ("run_id", "code_version")}
    return TimelineInterval(
        **stored,
        consumed=positions(uses, produced=False),
        produced=positions(uses, produced=True),
        missing_before=0 if before is None else before.get("missing", 0),
        gaps=breaks(before, "gap"),
        overlaps=breaks(before, "overlap"),
        conflicts=len(interval.variants) - 1,
    )


def _query(stored: dict[str, Any]) -> TimelineQuery:
    return TimelineQuery(
        stored["key"],
        stored["query_id"],
        stored["query_name"] or None,
        stored["checkpoint_location"] or None,
        stored["first_batch"],
        stored["last_batch"],
    )


def _run(stored: dict[str, Any]) -> TimelineRun:
    return TimelineRun(
        key=stored["key"],
        run_id=stored["run_id"],
        state=stored["state"] or "UNKNOWN",
        processing_type=stored["processing_type"] or None,
        started_at=moment(stored["started_at"]),
        ended_at=moment(stored["ended_at"]),
        code_version=stored["code_version"] or None,
        error_message=stored["error_message"] or None,
        inferred_because=Because(stored["inferred_because"]) if stored["inferred_because"] else None,
    )
