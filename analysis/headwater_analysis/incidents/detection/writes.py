"""Writes of failed runs that had committed output, and versions of tables that no known run wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from headwater_analysis.identity import Identities, several_names
from headwater_analysis.incidents.detection.data_fault import (
    MOST_FAULTS,
    DataFault,
    DataFaultKind,
    FoundFaults,
    latest,
)
from headwater_analysis.incidents.detection.named import ShownDatasets, cause_text, dataset_ref, job_text
from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_graph.keys import version_key
from headwater_schemas.events import IncidentScope, PublicationState, RunEventType

MOST_VERSIONS: Final = 5_000
"""Maximum number of versions without a known writer, of any time, that are read."""


def failed_after_commit(tx: Transaction, since: datetime) -> FoundFaults:
    """Find runs that failed or were aborted at `since` or later, after they had committed output.

    A run has committed output if it reports a publication, or a position, rows, files or bytes of an output.
    Micro-batches are committed one by one: for a streaming run only versions that a failed micro-batch wrote count.
    """
    states = [state.value for state in RunEventType if state is not RunEventType.COMPLETE]
    rows = tx.rows("faults/failed_runs", states=states, since=since, limit=MOST_FAULTS + 1)
    datasets = ShownDatasets(tx, (dataset for row in rows for _, dataset in row["outputs"]))
    faults: list[DataFault] = []
    unknown: list[str] = []
    for row in rows[:MOST_FAULTS]:
        parts = list(_parts(row, datasets))
        job = job_text(row["namespace"], row["name"])
        if not parts:
            unknown.append(f"what a failed micro-batch of {job} left in its sink (run {row['run_id']})")
        names = {name for _, dataset in row["outputs"] for name in datasets.names(datasets.of(dataset["key"]))}
        verb = "failed" if row["state"] == RunEventType.FAIL else "was aborted"
        faults += [
            DataFault(
                kind=DataFaultKind.FAILED_AFTER_COMMIT,
                cause=cause_text(f"failure after a commit of {job}"),
                title=f"{job} {verb} after it had committed output",
                datasets=tuple(sorted(names)),
                part=part,
                at=moment(row["at"]),
            )
            for part in parts
        ]
    return latest(faults, more=len(rows) > MOST_FAULTS, unknown=unknown)


def has_committed(run: Mapping[str, Any], use: Mapping[str, Any]) -> bool:
    """Return whether a run reports that it committed an output, by the rule of `failed_after_commit`.

    Args:
        run: properties of a run that failed, was aborted, or has no end.
        use: properties of the run's PRODUCED relationship to the output.
    """
    publication = run.get("publication")
    if use.get("uncommitted") or publication == PublicationState.UNPUBLISHED:
        return False
    return (
        publication in (PublicationState.PARTIAL, PublicationState.PUBLISHED)
        or use.get("position") is not None
        or any((use.get(count) or 0) > 0 for count in ("rows", "files", "bytes"))
    )


def _parts(row: Mapping[str, Any], datasets: ShownDatasets) -> Iterator[IncidentScope]:
    if row["query"] is None:
        yield IncidentScope(run=row["run_id"])
        return
    for version, dataset in row["outputs"]:
        if version is not None:
            yield IncidentScope(dataset=dataset_ref(datasets.of(dataset["key"])), version=version)


def written_from_outside(tx: Transaction, since: datetime) -> FoundFaults:
    """Find versions that no known run wrote, and after which a run wrote the next version at `since` or later.

    The bad part is the version without a known writer. If the graph lacks this version, the bad part is the next
    version.
    """
    names = several_names(tx)
    row = tx.one("checks/written_from_outside", exempt=[], after="", limit=MOST_VERSIONS, names=names)
    found = [each for each in row["found"] if (at := moment(each["since"])) is not None and at >= since]
    datasets = ShownDatasets(tx, (each["subject"] for each in found))
    faults = [_outside(tx, each, datasets) for each in found]
    return latest(faults, more=row["total"] > MOST_VERSIONS)


def _outside(tx: Transaction, row: Mapping[str, Any], datasets: ShownDatasets) -> DataFault:
    asset = datasets.of(row["subject"]["key"])
    keys = (version_key(tx.tenant, key, row["format"], row["parent"]) for key in Identities.of(tx).members(asset.key))
    is_known = any(tx.rows("trace/version_known", key=key) for key in keys)
    return DataFault(
        kind=DataFaultKind.WRITTEN_FROM_OUTSIDE,
        cause=cause_text(f"versions of {asset.spelling} from outside"),
        title=f"{asset.spelling} has a version that no known run wrote",
        datasets=datasets.names(asset),
        part=IncidentScope(dataset=dataset_ref(asset), version=row["parent"] if is_known else row["version"]),
        at=moment(row["since"]),
        versions=(row["parent"], row["version"]),
    )
