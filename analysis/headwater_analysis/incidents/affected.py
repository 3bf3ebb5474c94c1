"""Owners of the datasets that bad data reached, jobs that it passed through, and business versions of their runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from headwater_analysis.assets import Asset
from headwater_analysis.declared import owners_by_key
from headwater_analysis.incidents.answers import AffectedJob, DatasetOwners, IncidentReach, ReachedVersion
from headwater_analysis.incidents.recorded import collected
from headwater_analysis.owners import OwnerName
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.records import Use
from headwater_analysis.runs.run_details import references_of_runs
from headwater_analysis.trace.traced_parts import Hop, surest

MOST_RUNS: Final = 20
"""Maximum number of runs that a business version names."""
_NOT_OF_A_VERSION: Final[dict[str, Any]] = {
    "ordinal": 0,
    "facets": (),
    "schema_digest": None,
    **dict.fromkeys(("rows", "bytes", "files")),
}
"""Fields of a use that may differ between two runs that read the same version."""


def with_affected(tx: Transaction, reach: IncidentReach, *, detailed: bool) -> IncidentReach:
    """Return a reach with owners and jobs; `detailed`: with business versions, too. All owners are read at once."""
    datasets = [each.asset for each in collected(reach)]
    found: dict[str, Asset] = {}
    by_job: dict[str, list[Hop]] = defaultdict(list)
    for hop in reach.blast.hops:
        if (job := hop.step.job) is not None:
            found.setdefault(job.key, job)
            by_job[job.key].append(hop)
    keys = {*(each.key for each in datasets), *found}
    owners = owners_by_key(tx, tx.rows("declared/owners", keys=sorted(keys))) if keys else {}
    jobs = [_affected(job, by_job[key], owners.get(key, ())) for key, job in found.items()]
    return replace(
        reach,
        owners=tuple(DatasetOwners(dataset=each, owners=owners.get(each.key, ())) for each in datasets),
        jobs=tuple(sorted(jobs, key=lambda each: (each.depth, each.job.namespace, each.job.name))),
        jobs_unknown=sum(hop.step.job is None for hop in reach.blast.hops),
        business_versions=_business_versions(tx, reach.blast.hops) if detailed else (),
    )


def _affected(job: Asset, hops: list[Hop], owners: tuple[OwnerName, ...]) -> AffectedJob:
    nearest = min(hops, key=lambda hop: (hop.depth, hop.number))
    return AffectedJob(
        job=job,
        owners=owners,
        depth=nearest.depth,
        hop=nearest.number,
        certainty=surest(hop.overall for hop in hops),
    )


def _business_versions(tx: Transaction, hops: Iterable[Hop]) -> tuple[ReachedVersion, ...]:
    """Versions of reference data that the runs of these steps read, each with the datasets computed with it."""
    wrote: dict[str, set[Asset]] = defaultdict(set)
    for hop in hops:
        for run in hop.step.runs:
            wrote[run.run_id] |= {part.dataset for part in hop.outputs}
    runs: dict[tuple[Use, tuple[Asset, ...]], list[str]] = defaultdict(list)
    for each in references_of_runs(tx, wrote):
        read = replace(each.reference, **_NOT_OF_A_VERSION)
        runs[read, each.outputs].append(each.run_id)
    found = [
        ReachedVersion(reference=read, outputs=outputs, run_ids=tuple(ids[:MOST_RUNS]), runs=len(ids))
        for (read, outputs), ids in runs.items()
    ]
    return tuple(sorted(found, key=lambda each: (each.reference.dataset.spelling, each.reference.version or "")))
