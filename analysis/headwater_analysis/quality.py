"""Results of the latest checks of datasets: assertions of writes and micro-batches, and suites of other tools.

The latest check of a job that reads or writes the dataset is its latest run with assertions about the dataset. The
latest check of a streaming query that writes the dataset is its latest micro-batch with such assertions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from headwater_analysis import micro_batches
from headwater_analysis.assets import Asset, AssetKind, job_asset
from headwater_analysis.identity import Identities
from headwater_analysis.moments import EVER, moment
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.from_rows import quality
from headwater_analysis.runs.records import Quality
from headwater_graph.facts.model import RelType
from headwater_graph.keys import dataset_key
from headwater_graph.segments import segment

LOOKED_AT = 20
"""Number of a job's latest runs with assertions to search for one about the dataset."""
AT_ONCE = 100
"""Number of streaming queries whose micro-batches are read together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Results of a run or micro-batch about a dataset.

    Attributes:
        job: job of the run or micro-batch.
        run_id: id of the run; for a micro-batch, id of the run in which it was observed, where known.
        query_id, batch_id: query and batch id of a micro-batch.
        at: end of the run or micro-batch.
        passed: number of assertions that passed.
        failed: failed assertions.
    """

    job: Asset | None
    run_id: str | None
    query_id: str | None
    batch_id: int | None
    at: datetime | None
    passed: int
    failed: tuple[Quality, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetQuality:
    """Results of the latest checks of one dataset.

    Attributes:
        dataset: the dataset.
        checks: latest check of each job and streaming query, the latest first.
    """

    dataset: Asset
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Quality, ...]:
        """Failed assertions."""
        return tuple(each for check in self.checks for each in check.failed)


def quality_of(tx: Transaction, assets: Iterable[Asset], *, as_of: datetime | None = None) -> list[DatasetQuality]:
    """Return the results of the latest checks, for datasets with checks, in the order of `assets`.

    Args:
        assets: shown datasets, or columns; results under other names of a dataset are included.
        as_of: only runs that had ended by this time, and no micro-batches; None: now.
    """
    wanted = {asset.key: asset for asset in (_dataset(tx, each) for each in assets)}
    identities = Identities.of(tx)
    identities.look_at(wanted)
    shown = {member: key for key in wanted for member in identities.members(key)}
    found: dict[str, list[Check]] = defaultdict(list)
    for member, checks in checks_of(tx, shown, as_of=as_of).items():
        found[shown[member]] += checks
    return [
        DatasetQuality(dataset=asset, checks=tuple(sorted(found[key], key=_latest_first)))
        for key, asset in wanted.items()
        if key in found
    ]


def checks_of(tx: Transaction, datasets: Iterable[str], *, as_of: datetime | None = None) -> dict[str, list[Check]]:
    """Return the latest checks of datasets, by key. Unchecked datasets, and results under other names, are left out.

    Args:
        datasets: keys of datasets.
        as_of: as in `quality_of`.

    Returns:
        The checks; none for an asker who may not see everything, since stored outcomes are also about hidden datasets.
    """
    if tx.visible is not None:
        return {}
    asked = sorted(set(datasets))
    found: dict[str, list[Check]] = defaultdict(list)
    until = EVER if as_of is None else as_of
    for row in tx.rows("quality/runs", datasets=asked, until=until, looked_at=LOOKED_AT):
        found[row["dataset"]].append(_of_run(row))
    if as_of is None:
        for key, check in _of_batches(tx, asked):
            found[key].append(check)
    return dict(found)


def _dataset(tx: Transaction, asset: Asset) -> Asset:
    if asset.kind is AssetKind.DATASET:
        return asset
    key = dataset_key(tx.tenant, asset.namespace, asset.name)
    return replace(asset, kind=AssetKind.DATASET, key=key, column=None, type=None)


def _latest_first(check: Check) -> tuple[float, str, int]:
    return -check.at.timestamp() if check.at else 0.0, check.run_id or check.query_id or "", -(check.batch_id or 0)


def _of_run(row: Mapping[str, Any]) -> Check:
    run = row["run"]
    passed, failed = _judged(quality(run), row, wrote=row["produced"])
    return Check(
        job=job_asset(row["job"]),
        run_id=run["run_id"],
        query_id=None,
        batch_id=None,
        at=moment(run["ended_at"] or run["last_seen"]),
        passed=passed,
        failed=failed,
    )


def _of_batches(tx: Transaction, datasets: Sequence[str]) -> Iterable[tuple[str, Check]]:
    """Checks of streaming queries that write one of the datasets, by the dataset's key."""
    back = 2 * segment.SIZE
    rows = sorted(
        tx.rows("quality/batches", datasets=datasets, back=back), key=lambda row: (row["dataset"], row["query"])
    )
    for first in range(0, len(rows), AT_ONCE):
        yield from _of_some(tx, rows[first : first + AT_ONCE])


def _of_some(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, Check]]:
    wanted = dict.fromkeys((row["query"], row["batch"]) for row in rows)
    batches = {(each.query, each.batch_id): each for each in micro_batches.at_batches(tx, wanted)}
    for row in rows:
        if (interval := batches.get((row["query"], row["batch"]))) is None:
            continue
        batch = micro_batches.row(interval)
        own = batch["properties"]
        wrote = any(type_ == RelType.PRODUCED and dataset == row["dataset"] for type_, dataset, _ in batch["uses"])
        passed, failed = _judged(quality(own), row, wrote=wrote)
        if passed or failed:
            check = Check(
                job=None if row["job"] is None else job_asset(row["job"]),
                run_id=own.get("run_id"),
                query_id=row["query_id"],
                batch_id=row["batch"],
                at=own.get("processing_time"),
                passed=passed,
                failed=failed,
            )
            yield row["dataset"], check


def _judged(results: Sequence[Quality], row: Mapping[str, Any], *, wrote: bool) -> tuple[int, tuple[Quality, ...]]:
    """Count the passed outcomes about a dataset, and list the failed outcomes.

    An outcome that names no dataset is about the output of its run or micro-batch.
    """
    about = [
        each
        for each in results
        if (wrote if each.dataset_name is None else (each.dataset_namespace, each.dataset_name) == _name(row))
    ]
    failed = tuple(each for each in about if not each.passed)
    return len(about) - len(failed), failed


def _name(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["namespace"], row["name"]
