"""Change from good to bad of a job, or of the jobs that write a dataset: by state of runs, and by assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headwater_analysis import micro_batches
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.micro_batches import Stretch
from headwater_analysis.moments import EVER
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.from_rows import interval_items, quality, run_items
from headwater_analysis.runs.list_runs import ask_runs, begins_at, of_names
from headwater_analysis.runs.records import IntervalItem, QualityTurn, Role, RunItem, Turn
from headwater_analysis.runs.run_names import resolve_owner
from headwater_graph.keys import run_key
from headwater_graph.segments import segment
from headwater_schemas.events import RunEventType

if TYPE_CHECKING:
    from neo4j import Record


LOOKED_BACK = 100_000
"""Number of a query's latest micro-batches to search for a good one."""
LOOKED_BACK_RUNS = 1_000
"""Number of a job's latest runs with assertions to search for a good one."""

_GOOD = [RunEventType.COMPLETE.value]
_BAD = [RunEventType.FAIL.value, RunEventType.ABORT.value]


def last_good(reader: Reader, *, job: str | None = None, dataset: str | None = None) -> Turn:
    """Return the last good run, and the first bad run after it, of a job or of the jobs that wrote a dataset.

    By state, COMPLETE is good, FAIL and ABORT are bad, and a run without an end is neither. By assertions, a failed
    assertion makes its micro-batch or batch run bad; a micro-batch or batch run without assertions is neither. If the
    last run or micro-batch is good, there is no first bad one. If none was ever good, the first bad one of all is
    returned.

    Raises:
        NotFoundError, AmbiguousError, QuestionError: the job or dataset can't be resolved.
    """

    def question(tx: Transaction) -> Turn:
        of = resolve_owner(tx, job, dataset).asset
        good = ask_runs(tx, "of", of, Role.WROTE, states=_GOOD, limit=1)
        after = begins_at(good[0]) if good else {}
        bad = ask_runs(tx, "next_of", of, Role.WROTE, states=_BAD, **after)
        return Turn(of, good[0] if good else None, bad[0] if bad else None, quality_turns(tx, of))

    return reader.read(question)


def quality_turns(tx: Transaction, of: Asset, *, most: int | None = None) -> tuple[QualityTurn, ...]:
    """Changes from good to bad quality in streaming queries and batch runs of a job or dataset, by assertions.

    Args:
        most: maximum number of queries, and of jobs, to read, in order of key; None: all.

    Returns:
        The changes; none for an asker who may not see everything, since stored outcomes are also about hidden datasets.
    """
    if tx.visible is not None:
        return ()
    queries = tx.rows(f"runs/queries_of_{'job' if of.kind is AssetKind.JOB else 'dataset'}", of=of_names(tx, of))
    turns = [_quality(tx, query) for query in queries[:most] if query["last"] is not None]
    if of.kind is AssetKind.JOB:
        turns += _of_batch_runs(tx, [of.key], None)
    else:
        names = of_names(tx, of)
        jobs = tx.rows("runs/checking_jobs", of=names, until=EVER)
        turns += _of_batch_runs(tx, [row["key"] for row in jobs[:most]], names)
    return tuple(turn for turn in turns if turn.last_good_run or turn.first_bad_run or turn.last_good or turn.first_bad)


def _quality(tx: Transaction, query: Record) -> QualityTurn:
    begin = max(query["first"], query["last"] - LOOKED_BACK + 1)
    span: dict[str, Any] = {"query": query["key"]}
    good = _at(tx, query["key"], tx.row("runs/last_passed", first=begin, size=segment.SIZE, **span))
    after = good.batch_id if good else begin - 1
    bad = _at(tx, query["key"], tx.row("runs/first_failed", after=after, size=segment.SIZE, **span))
    return QualityTurn(
        query_id=query["query_id"],
        last_good=good,
        first_bad=bad,
        last_good_run=_run(tx, good),
        first_bad_run=_run(tx, bad),
        failed=() if bad is None else tuple(each for each in bad.quality if not each.passed),
        looked_back=LOOKED_BACK if begin > query["first"] else None,
    )


def _of_batch_runs(tx: Transaction, jobs: Sequence[str], datasets: str | list[str] | None) -> list[QualityTurn]:
    """Change among the runs with assertions of each job; with `datasets`, only assertions about these datasets."""
    given = {"jobs": jobs, "of": datasets, "until": EVER, "looked_at": LOOKED_BACK_RUNS}
    rows = {row["job"]: row for row in (tx.rows("runs/judged", **given) if jobs else ())}
    keys = list({row[end] for row in rows.values() for end in ("good", "bad")} - {None})
    runs = tx.rows("runs/by_key", keys=keys) if keys else []
    found = {item.key: item for item in run_items(tx, [row["run"] for row in runs])}
    return [_of_job(rows[job], found) for job in jobs]


def _of_job(row: Record, runs: Mapping[str, RunItem]) -> QualityTurn:
    outcomes = quality(row["outcomes"] or {})
    return QualityTurn(
        query_id=None,
        last_good=None,
        first_bad=None,
        last_good_run=runs.get(row["good"]),
        first_bad_run=runs.get(row["bad"]),
        failed=tuple(outcomes[index] for index in row["failed"] or ()),
        looked_back=LOOKED_BACK_RUNS if row["looked_at"] == LOOKED_BACK_RUNS else None,
    )


def _at(tx: Transaction, query: str, found: Record | None) -> IntervalItem | None:
    """Read the micro-batch that a row names."""
    if found is None:
        return None
    stretch = Stretch(query, found["batch"], found["batch"])
    return next(iter(interval_items(tx, micro_batches.following(tx, [stretch], 1)[0])), None)


def _run(tx: Transaction, interval: IntervalItem | None) -> RunItem | None:
    if interval is None or interval.run_id is None:
        return None
    row = tx.row("runs/by_key", keys=[run_key(tx.tenant, interval.run_id)])
    return run_items(tx, [row["run"]])[0] if row else None
