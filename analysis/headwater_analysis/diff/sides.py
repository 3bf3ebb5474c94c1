"""A side of a comparison, as given in the question and as resolved: plans and datasets of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.hidden import SeenDatasets
from headwater_analysis.lineage.holding import PlanState, PlanUse, plan_states
from headwater_analysis.lineage.plans import Plans, read_plan_use
from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.records import Role
from headwater_analysis.runs.run_details import uses_of
from headwater_analysis.runs.run_names import resolve_run


@dataclass(frozen=True, slots=True)
class Point:
    """A time, a run or a code version of a job; if none is given: now.

    Attributes:
        time: time with a time zone.
        run: id of the run.
        code_version: code version of the job in the question.

    Raises:
        QuestionError: more than one is given.
    """

    time: datetime | None = None
    run: str | None = None
    code_version: str | None = None

    def __post_init__(self) -> None:
        """Check that at most one is given."""
        if sum(part is not None for part in (self.time, self.run, self.code_version)) > 1:
            raise QuestionError("Give only one for each side: a time, a run or a code version.", field="before")

    @property
    def is_time(self) -> bool:
        """True if this is a time, now included."""
        return self.run is None and self.code_version is None


MOST_RUNS = 1_000
"""Maximum number of runs of a code version whose datasets are read; the latest runs."""

_ROLES = {"READS": Role.READ, "WRITES": Role.WROTE}
_SHOWN_VERSIONS = 5
_SHORTEST_VERSION = 4
_MOST_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class PlanAt:
    """A plan on one side.

    Attributes:
        digest: digest of its column lineage.
        complete: whether its column lineage is complete.
    """

    digest: str
    complete: bool


@dataclass(frozen=True, slots=True)
class JobSide:
    """A job on one side.

    Attributes:
        time: time of the side; None: now.
        plans: plans that were active by the side's time, by key.
        holding: plans that hold, as pairs of keys: the plan, and a dataset that it writes.
        datasets: datasets that the job read and wrote.
        schemas: for a run or code version, digests of the schemas with which its latest run read and wrote the
            datasets; without reads and writes whose schema the run didn't report.
    """

    time: datetime | None
    plans: Mapping[str, PlanAt]
    holding: frozenset[tuple[str, str]]
    datasets: Mapping[tuple[Role, str], Asset]
    schemas: Mapping[tuple[Role, str], str] = field(default_factory=dict)


def job_side(tx: Transaction, job: str, point: Point) -> JobSide:
    """Return a job, by its node's key, on a side.

    Raises:
        NotFoundError: no such run, or the job has no run of this code version.
    """
    if point.run is not None:
        run = resolve_run(tx, point.run)
        at = tx.rows("runs/details", run=run.key)[0]["details"]["last_seen"]
        return _side_of_runs(tx, job, [run.key], moment(at))
    if point.code_version is not None:
        return _version_side(tx, job, point.code_version)
    plans = Plans(tx, as_of=point.time)
    holding = plans.of_jobs([job])
    visible = SeenDatasets.of(tx).among(dataset for _, dataset in holding)
    return JobSide(
        point.time,
        {key: PlanAt(plan.digest, plan.incomplete is None) for key, plan in plans.of_job(job).items()},
        frozenset(
            (key, written.dataset) for written, keys in holding.items() if written.dataset in visible for key in keys
        ),
        _at(tx, job, point.time),
    )


def job_of_run(tx: Transaction, run_id: str) -> Asset:
    """Return the job of a run.

    Raises:
        NotFoundError: there is no such run.
        QuestionError: the run's job is unknown.
    """
    run = resolve_run(tx, run_id)
    if run.job is None:
        raise QuestionError(f"The job of run {run_id!r} is unknown.", field="run")
    return run.job


def _version_side(tx: Transaction, job: str, code_version: str) -> JobSide:
    code_version = _whole_version(tx, job, code_version)
    row = tx.row("diff/code_version", job=job, code_version=code_version)
    if row is None:
        known = tx.rows("diff/code_versions", job=job, limit=_SHOWN_VERSIONS)
        raise NotFoundError(
            f"The job has no run of code version {code_version!r}.", nearest=[each["code_version"] for each in known]
        )
    keys = tx.rows("diff/runs_of_version", job=job, code_version=code_version, limit=MOST_RUNS)[0]["runs"]
    return _side_of_runs(tx, job, keys, moment(row["at"]))


def _whole_version(tx: Transaction, job: str, text: str) -> str:
    """Complete the prefix of a code version of the job, also `1a2b3c4d5e6f-dirty`; returns `text` if none matches.

    Raises:
        AmbiguousError: several code versions match.
    """
    commit, dash, mark = text.partition("-")
    if len(commit) < _SHORTEST_VERSION:
        return text
    rows = tx.rows("diff/code_versions_like", job=job, prefix=commit, limit=_MOST_VERSIONS)
    known = [row["code_version"] for row in rows]
    if text in known:
        return text
    begun = [version for version in known if version.startswith(text)]
    # Tables show the commit shortened, and the suffix after its dash whole. A text without a dash means the clean code
    # version.
    same = [version for version in known if version.partition("-")[1:] == (dash, mark)]
    found = same or begun
    if len(found) > 1:
        raise AmbiguousError(f"Several code versions begin with {text!r}: give more of it.", candidates=found)
    return str(found[0]) if found else text


def _side_of_runs(tx: Transaction, job: str, runs: list[str], time: datetime | None) -> JobSide:
    """Build the side of a job with only these runs."""
    plans: dict[str, PlanAt] = {}
    uses: dict[str, list[PlanUse]] = {}
    rows = tx.rows("diff/uses_of_runs", job=job, runs=runs)
    visible = SeenDatasets.of(tx).among(dataset for row in rows for dataset in row["outputs"])
    for row in rows:
        plan, *use = row["use"]
        plans[plan] = PlanAt(row["digest"], row["complete"] is not False)
        for dataset in (each for each in row["outputs"] if each in visible):
            wrote = [each for each in row["produced"] if each["dataset"] == dataset]
            uses.setdefault(dataset, []).append(read_plan_use(dataset, [plan, *use, wrote]))
    holding = frozenset(
        (plan, dataset)
        for dataset, found in uses.items()
        for plan, state in plan_states(found).items()
        if state is PlanState.HOLDS
    )
    return JobSide(time, plans, holding, _datasets(tx.rows("diff/links_of_runs", runs=runs)), _schemas(tx, runs))


def _schemas(tx: Transaction, runs: list[str]) -> dict[tuple[Role, str], str]:
    """Digests of schemas that uses by the runs state; for the first run, the latest, also uses by its micro-batches."""
    rows = tx.rows("diff/schemas_of_runs", runs=runs)
    out = {(_ROLES[row["type"]], row["dataset"]): str(row["digest"]) for row in rows}
    latest = resolve_run(tx, runs[0])
    if latest.first_batch is not None:
        for role in Role:
            for use in reversed(uses_of(tx, latest, role)):
                if use.schema_digest is not None:
                    out[role, use.dataset.key] = use.schema_digest
    return out


def _at(tx: Transaction, job: str, time: datetime | None) -> dict[tuple[Role, str], Asset]:
    """Datasets that the job first used by a time, and last used in its latest run before this time, or later."""
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
