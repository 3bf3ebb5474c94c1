"""Owners of the datasets that bad data reached, and jobs that it passed through."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from headwater_analysis.assets import Asset
from headwater_analysis.declared import owners_by_key
from headwater_analysis.incidents.answers import AffectedJob, DatasetOwners, IncidentReach
from headwater_analysis.incidents.recorded import collected
from headwater_analysis.owners import OwnerName
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.traced_parts import Hop, surest


def with_owners_and_jobs(tx: Transaction, reach: IncidentReach) -> IncidentReach:
    """Return a reach with the owners of its datasets, and the jobs on the way. All owners are read at once."""
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
