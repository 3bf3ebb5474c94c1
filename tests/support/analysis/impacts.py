"""An impact to show, with any names."""

from __future__ import annotations

from headwater_analysis.assets import Asset
from headwater_analysis.impact import (
    Cause,
    ChangeType,
    Decision,
    Impact,
    ImpactChange,
    ImpactedJob,
    ImpactHop,
    ImpactItem,
    ImpactOwner,
    Severity,
    SeverityTotal,
)
from headwater_analysis.impact.policy_inputs import ConsumerInput, SeverityInputs
from headwater_analysis.lineage import Influence


def impact_of(dataset: Asset, job: Asset, change: ImpactChange) -> Impact:
    """One asset, hit by one job, of three and two."""
    owner = ImpactOwner(job.name, None, job)
    inputs = SeverityInputs(criticality=job.name, consumers=(ConsumerInput(job.name, "DASHBOARD", deadline=job.name),))
    because = (f"criticality {job.name}",)
    decision = Decision(Severity.DEGRADED, 1, 1, because, inputs, f"raised from DEGRADED to BREAKING: {because[0]}")
    item = ImpactItem(
        dataset,
        Severity.BREAKING,
        Influence.DIRECT,
        Cause.VALUE,
        1,
        (ImpactHop(dataset, job, Cause.VALUE, None),),
        f"{job.name} makes it: {dataset.column}.",
        "Act.",
        (owner,),
        propagates=True,
        decision=decision,
    )
    return Impact(
        change=change,
        type=ChangeType.SCHEMA_BREAKING,
        start=dataset,
        severity=Severity.BREAKING,
        items=(item,),
        totals=(SeverityTotal(Severity.BREAKING, 3),),
        total=3,
        direct=1,
        indirect=2,
        columns=1,
        datasets=3,
        jobs=(ImpactedJob(job, Severity.BREAKING, True, 1, "It fails.", (owner,)),),
        jobs_total=2,
        consumers=(),
        max_hops=1,
        truncated=False,
        notes=(),
        next_cursor=None,
        summary="",
    )
