"""A side of a comparison as the graph has it: which plans of a job count there, and which datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.assets import Asset, dataset_asset
from headwater_consumers.analysis.errors import NotFoundError, QuestionError
from headwater_consumers.analysis.moments import moment
from headwater_consumers.analysis.runs.answer import Role
from headwater_consumers.analysis.runs.resolve import resolve_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j import Record

    from headwater_consumers.analysis.diff.point import Point
    from headwater_consumers.analysis.reader import Transaction

MOST_RUNS = 1_000
"""Runs of a code version whose datasets are looked at, the latest ones."""

_ROLES = {"READS": Role.READ, "WRITES": Role.WROTE}
_SHOWN_VERSIONS = 5


@dataclass(frozen=True, slots=True)
class PlanAt:
    """A plan on one side.

    Attributes:
        digest: of its column lineage.
        active: when it was last active by then; None only where it is declared alone.
        since: when the run that it was last active in was first seen; None where no run is known.
        declared: whether the job declares it; counts now alone.
        complete: whether its lineage is.
    """

    digest: str
    active: datetime | None
    since: datetime | None
    declared: bool
    complete: bool


@dataclass(frozen=True, slots=True)
class JobSide:
    """One job on one side.

    Attributes:
        time: what the side stands for in time; None: now.
        plans: by key, those that were active by then.
        datasets: that it read and wrote.
    """

    time: datetime | None
    plans: Mapping[str, PlanAt]
    datasets: Mapping[tuple[Role, str], Asset]


def job_side(tx: Transaction, job: str, point: Point) -> JobSide:
    """A job, by its node's key, on a side.

    Raises:
        NotFoundError: no such run, or the job has no run of that code version.
    """
    if point.run is not None:
        run = resolve_run(tx, point.run)
        plans, keys = tx.rows("diff/plans_of_run", run=run.key), [run.key]
        at = tx.rows("runs/details", run=run.key)[0]["details"]["last_seen"]
        return JobSide(moment(at), _plans(plans), _of_runs(tx, keys))
    if point.code_version is not None:
        return _version_side(tx, job, point.code_version)
    plans = tx.rows("diff/plans_at", job=job, as_of=point.time)
    return JobSide(point.time, _plans(plans), _at(tx, job, point.time))


def job_of_run(tx: Transaction, run_id: str) -> Asset:
    """The job of a run.

    Raises:
        NotFoundError: there is no such run.
        QuestionError: nothing is known of its job.
    """
    run = resolve_run(tx, run_id)
    if run.job is None:
        raise QuestionError(f"Of run {run_id!r} no job is known.", field="run")
    return run.job


def _version_side(tx: Transaction, job: str, code_version: str) -> JobSide:
    row = tx.row("diff/code_version", job=job, code_version=code_version)
    if row is None:
        known = tx.rows("diff/code_versions", job=job, limit=_SHOWN_VERSIONS)
        raise NotFoundError(
            f"The job has no run of code version {code_version!r}.", nearest=[each["code_version"] for each in known]
        )
    plans = tx.rows("diff/plans_of_version", job=job, code_version=code_version)
    keys = tx.rows("diff/runs_of_version", job=job, code_version=code_version, limit=MOST_RUNS)[0]["runs"]
    return JobSide(moment(row["at"]), _plans(plans), _of_runs(tx, keys))


def _plans(rows: Iterable[Record]) -> dict[str, PlanAt]:
    out = {}
    for row in rows:
        active = moment(row["active"])
        if active is not None or row["declared"]:
            is_declared, is_complete = bool(row["declared"]), row["complete"] is not False
            out[row["plan"]] = PlanAt(row["digest"], active, moment(row["since"]), is_declared, is_complete)
    return out


def _of_runs(tx: Transaction, runs: list[str]) -> dict[tuple[Role, str], Asset]:
    return _datasets(tx.rows("diff/links_of_runs", runs=runs))


def _at(tx: Transaction, job: str, time: datetime | None) -> dict[tuple[Role, str], Asset]:
    """Those seen by then, and still: by the latest run that had begun by then, or later."""
    latest = moment(tx.rows("diff/latest_run", job=job, as_of=time)[0]["first_seen"])
    return _datasets(row for row in tx.rows("diff/links_at", job=job) if _counts(row, latest, time))


def _counts(row: Mapping[str, Any], latest: datetime | None, time: datetime | None) -> bool:
    if time is None and row["declared"]:
        return True
    first, last = moment(row["first_seen"]), moment(row["last_seen"])
    if first is None or last is None or (time is not None and first > time):
        return False
    return latest is None or last >= latest


def _datasets(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Role, str], Asset]:
    return {(_ROLES[row["type"]], row["dataset"]["key"]): dataset_asset(row["dataset"]) for row in rows}
