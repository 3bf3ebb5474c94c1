"""Micro-batches in batch order, each with gaps and overlaps since the previous one, paged by the index of segments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_analysis import micro_batches, paging
from headwater_analysis.assets import Asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.micro_batches import Stretch, of_run
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_job
from headwater_analysis.runs.from_rows import interval_items
from headwater_analysis.runs.records import IntervalItem, IntervalPage, RunItem
from headwater_analysis.runs.run_names import resolve_run, resolve_run_or_job

if TYPE_CHECKING:
    from neo4j import Record


def intervals(
    reader: Reader,
    *,
    run: str | None = None,
    job: str | None = None,
    of: str | None = None,
    from_batch: int = 0,
    limit: int = 50,
    cursor: str | None = None,
) -> IntervalPage:
    """List the micro-batches observed in a run, or all known micro-batches of a job, including reconciled ones.

    Args:
        run: id of a run, or its node's key.
        job: name of a job.
        of: a run or job, as `resolve_run_or_job` accepts it.
        from_batch: the first batch id to show; earlier micro-batches still count in the total.
        limit: maximum number of micro-batches on a page.
        cursor: `next_cursor` of the page before.

    Raises:
        NotFoundError, AmbiguousError, QuestionError: the run or job can't be resolved; or the cursor belongs to another
            question.
    """
    if [run, job, of].count(None) != 2:
        raise QuestionError("Name either a run or a job.", field="run" if run is None else "job")

    def question(tx: Transaction) -> IntervalPage:
        item = _owner(tx, run, job, of)
        if isinstance(item, RunItem):
            queries = tx.rows("runs/queries_of_run", of=item.key)
            total = tx.rows("runs/count_of_run", run=item.key)[0]["total"]
            summarized = tx.rows("runs/summarized_of_run", run=item.key)[0]["total"]
            return replace(_page(tx, item.run_id, queries, total, ("run", item.key)), summarized=summarized)
        queries = tx.rows("runs/queries_of_job", of=item.key)
        total = tx.rows("runs/count_of_queries", queries=[query["key"] for query in queries])[0]["total"]
        gone = micro_batches.retired(tx, [query["key"] for query in queries])
        summarized = sum(end - start for ranges in gone.values() for start, end in ranges)
        return replace(_page(tx, None, queries, total, ("job", item.key)), summarized=summarized)

    def _page(
        tx: Transaction, run_id: str | None, queries: list[Record], total: int, of: tuple[str, str]
    ) -> IntervalPage:
        asked = ("intervals", tx.tenant, of, from_batch)
        start, after = paging.decode(cursor, question=asked, kinds=(str, int)) if cursor is not None else ("", -1)
        items: list[tuple[str, IntervalItem]] = []
        for query in queries:
            if query["last"] is None or query["key"] < start:
                continue
            begin = max(from_batch, query["first"], after + 1 if query["key"] == start else 0) - 1
            found = _read(tx, query, run_id, begin, limit + 1 - len(items))
            items += [(query["key"], item) for item in found]
            if len(items) > limit:
                break
        following = None
        if len(items) > limit:
            key, last = items[limit - 1]
            following = paging.encode((key, last.batch_id), question=asked)
        return IntervalPage(tuple(item for _, item in items[:limit]), total, following)

    return reader.read(question)


def _owner(tx: Transaction, run: str | None, job: str | None, of: str | None) -> RunItem | Asset:
    if of is not None:
        return resolve_run_or_job(tx, of)
    return resolve_run(tx, run) if run is not None else resolve_job(tx, str(job)).asset


def _read(tx: Transaction, query: Record, run_id: str | None, after: int, limit: int) -> list[IntervalItem]:
    stretch = Stretch(query["key"], after + 1, query["last"])
    found = micro_batches.following(tx, [stretch], limit, wanted=of_run(run_id))[0]
    return interval_items(tx, found, every=run_id is None)
