"""The question answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis import cursor as cursors
from headwater_consumers.analysis.errors import QuestionError
from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.moments import moment
from headwater_consumers.analysis.paging import check_limit
from headwater_consumers.analysis.resolve import resolve_dataset, resolve_job
from headwater_consumers.analysis.timeline.answer import Timeline, TimelineInterval, TimelineQuery, TimelineRun
from headwater_consumers.analysis.timeline.latest import FIRST_PAGE, Span, latest, read, written
from headwater_consumers.analysis.timeline.positions import breaks, positions
from headwater_consumers.graph.derive import Because

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from headwater_consumers.analysis.reader import Reader, Transaction
    from headwater_consumers.analysis.resolve import Found


def job_timeline(
    reader: Reader,
    job: str,
    *,
    begin: datetime | None = None,
    end: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Timeline:
    """The latest micro-batches and runs of a job.

    Args:
        reader: of the graph.
        job: as `resolve_job` understands.
        begin: leave out what ended, and micro-batches that began, before.
        end: leave out what began then or later. Micro-batches whose time isn't known are left out with either.
        limit: most micro-batches, and most runs.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: a span that ends before it begins, a limit beyond 1 to 1,000, a cursor of another question.
        NotFoundError: no such job; with the nearest names.
        AmbiguousError: several are called that.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read` says.
    """
    return _timeline(reader, resolve_job, "job", job, Span(begin, end), limit, cursor)


def dataset_timeline(
    reader: Reader,
    dataset: str,
    *,
    begin: datetime | None = None,
    end: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Timeline:
    """The latest micro-batches of queries, and the latest runs, that read or write a dataset; as `job_timeline`."""
    return _timeline(reader, resolve_dataset, "dataset", dataset, Span(begin, end), limit, cursor)


def _timeline(
    reader: Reader,
    resolve: Callable[[Transaction, str], Found],
    kind: str,
    asked: str,
    span: Span,
    limit: int,
    cursor: str | None,
) -> Timeline:
    if span.begin is not None and span.end is not None and span.end < span.begin:
        raise QuestionError("The span of time ends before it begins.", field="to")
    check_limit(limit)

    def question(tx: Transaction) -> Timeline:
        found = resolve(tx, asked)
        same = ("timeline", tx.tenant, kind, found.asset.key, span)
        of: dict[str, Any] = {"id": found.id}
        if kind == "dataset":
            identities = Identities.of(tx)
            identities.learn([found.id])
            of = {"ids": identities.expanded([found.id])}
        queries = [_query(row["query"]) for row in tx.rows(f"timeline/queries_of_{kind}", **of)]
        keys = [query.key for query in queries]
        if cursor is None:
            before = dict.fromkeys(keys, FIRST_PAGE)
        else:
            (text,) = cursors.decode(cursor, question=same, kinds=(str,))
            before = read(text, keys)
        counted = tx.row("timeline/counts", queries=keys, begin=span.begin, end=span.end)
        page = latest(tx, before, span, limit)
        runs = []
        if cursor is None:
            runs = tx.rows(f"timeline/runs_of_{kind}", **of, begin=span.begin, end=span.end, limit=limit)
        return Timeline(
            found.asset,
            found.asset if kind == "job" else None,
            tuple(queries),
            _intervals(tx, page.intervals),
            tuple(_run(row["run"]) for row in runs),
            0 if counted is None else counted["total"],
            None if page.before is None else cursors.encode((written(page.before),), question=same),
        )

    return reader.read(question)


def _intervals(tx: Transaction, ids: list[int]) -> tuple[TimelineInterval, ...]:
    found = [_interval(row) for row in tx.rows("timeline/intervals", intervals=ids)]
    return tuple(sorted(found, key=lambda interval: (interval.query, interval.batch_id)))


def _interval(row: Any) -> TimelineInterval:
    stored, before = row["interval"], row["before"]
    return TimelineInterval(
        key=stored["key"],
        query=stored["query"],
        query_id=stored["query_id"],
        batch_id=stored["batch_id"],
        run_id=stored["run_id"] or None,
        provenance=stored["provenance"],
        processing_time=moment(stored["processing_time"]),
        duration_ms=stored["duration_ms"],
        rows_in=stored["rows_in"],
        rows_out=stored["rows_out"],
        rows_dropped_late=stored["rows_dropped_late"],
        watermark_after=moment(stored["watermark_after"]),
        code_version=stored["code_version"] or None,
        consumed=positions(row["uses"], produced=False),
        produced=positions(row["uses"], produced=True),
        missing_before=0 if before is None else before["missing"] or 0,
        gaps=breaks(before, "gap"),
        overlaps=breaks(before, "overlap"),
        conflicts=row["conflicts"],
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
