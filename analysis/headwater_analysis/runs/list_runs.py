"""Runs of a job, or runs that wrote or read a dataset, the latest first.

A page reads one property of each run; a dataset's runs are found from the jobs that write (or read) it, never from the
dataset, which may have a million micro-batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from headwater_analysis import paging
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.moments import EVER
from headwater_analysis.paging import EPOCH
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_job
from headwater_analysis.runs.from_rows import heartbeat, run_items
from headwater_analysis.runs.records import OpenRun, OpenRunPage, Role, RunItem, RunPage
from headwater_analysis.runs.run_filter import ALL_RUNS, RunFilter
from headwater_analysis.runs.run_names import resolve_owner
from headwater_schemas.events import RunEventType

PROBED = 100
"""Maximum number of a streaming run's micro-batches to search for a dataset; if none has it, the run is left out."""

_LINKS = {Role.WROTE: ("WRITES", "PRODUCED"), Role.READ: ("READS", "CONSUMED")}


def runs(
    reader: Reader,
    *,
    job: str | None = None,
    dataset: str | None = None,
    role: Role = Role.WROTE,
    states: Sequence[RunEventType] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    only: RunFilter = ALL_RUNS,
    limit: int = 20,
    cursor: str | None = None,
) -> RunPage:
    """List the runs of a job, or the runs that wrote or read a dataset. Give either `job` or `dataset`.

    Args:
        job: name of a job.
        dataset: name of a dataset.
        role: WROTE: the runs that wrote the dataset; READ: the runs that read it.
        states: only runs in one of these states.
        since: only runs that began at this time or later.
        until: only runs that began before this time.
        only: only runs that match this filter.
        cursor: `next_cursor` of the page before.

    Raises:
        NotFoundError, AmbiguousError, QuestionError: the job or dataset can't be resolved; or the cursor belongs to
            another question.
        QuestionError: `since` isn't before `until`; a condition of `only` is ill-formed.
    """
    if since is not None and until is not None and since >= until:
        raise QuestionError("`since` isn't before `until`.", field="since")

    narrowed = only.parameters()

    def question(tx: Transaction) -> RunPage:
        of = resolve_owner(tx, job, dataset).asset
        wanted = None if states is None else [state.value for state in states]
        asked = ("runs", tx.tenant, of.key, role, wanted, since, until, narrowed)
        began, key = paging.decode_moment(cursor, question=asked)
        span = {"since": since, "until": until, **narrowed}
        rows = ask_runs(tx, "of", of, role, states=wanted, began=began, key=key, limit=limit + 1, **span)
        is_every = (wanted, since, until, only) == (None, None, None, ALL_RUNS)
        every = "all_" if of.kind is AssetKind.JOB and is_every else ""
        counted = {**_of(tx, of, role), "states": wanted, **span}
        total = tx.rows(f"runs/count_{every}of_{_kind(of)}", **counted)[0]["total"]
        more = len(rows) > limit
        last = rows[limit - 1] if more else None
        following = paging.encode_moment(last.began, last.key, question=asked) if last else None
        return RunPage(of, tuple(rows[:limit]), total, following)

    return reader.read(question)


def open_runs(
    reader: Reader,
    *,
    job: str | None = None,
    before: datetime | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> OpenRunPage:
    """List runs without a reported or inferred end, the longest unseen first; of all jobs, or of one.

    An index has only these runs. An application counts as seen whenever a run that it started is seen.

    Args:
        job: name of a job; None: all.
        before: only runs that were last seen before this time.
        cursor: `next_cursor` of the page before.

    Raises:
        NotFoundError, AmbiguousError: no job has this name, or several have.
        QuestionError: the cursor belongs to another question.
    """

    def question(tx: Transaction) -> OpenRunPage:
        of = None if job is None else resolve_job(tx, job).asset.key
        asked = ("open runs", tx.tenant, of)
        after, key = paging.decode_moment(cursor, question=asked)
        common = {"of": of, "before": EVER if before is None else before}
        rows = tx.rows("runs/open", seen=after, key=key, limit=limit + 1, **common)
        found = [
            OpenRun(item, row["seen"].to_native(), heartbeat(row["heartbeat"]))
            for item, row in zip(run_items(tx, [row["run"] for row in rows]), rows, strict=True)
        ]
        total = tx.rows("runs/count_open", **common)[0]["total"]
        last = found[limit - 1] if len(found) > limit else None
        following = paging.encode_moment(last.last_seen, last.run.key, question=asked) if last else None
        return OpenRunPage(tuple(found[:limit]), total, following)

    return reader.read(question)


def ask_runs(tx: Transaction, which: str, of: Asset, role: Role, **parameters: Any) -> list[RunItem]:
    """Read runs by the statement `<which>_job` or `<which>_dataset`.

    `of` reads a page, `next_of` the run after a given run.

    Without further parameters of the statement, runs of any state and time are read, from the latest on.
    """
    rows = tx.rows(f"runs/{which}_{_kind(of)}", **{**_of(tx, of, role), **parameters})
    return run_items(tx, [row["run"] for row in rows])


def of_names(tx: Transaction, of: Asset) -> str | list[str]:
    """Key of a job, or keys of a dataset under all its names, as statements take them."""
    return of.key if of.kind is AssetKind.JOB else Identities.of(tx).members(of.key)


def begins_at(run: RunItem) -> dict[str, Any]:
    """A run as the statements' `$given.began` and `$given.key`. A run of unknown time counts as the oldest."""
    return {"began": run.began or EPOCH, "key": run.key}


def _kind(of: Asset) -> str:
    return "job" if of.kind is AssetKind.JOB else "dataset"


def _of(tx: Transaction, of: Asset, role: Role) -> dict[str, Any]:
    link, use = _LINKS[role]
    every = {"states": None, "began": None, "key": "", "since": None, "until": None, **ALL_RUNS.parameters()}
    return {**every, "of": of_names(tx, of), "link": link, "use": use, "probed": PROBED, "epoch": EPOCH}
