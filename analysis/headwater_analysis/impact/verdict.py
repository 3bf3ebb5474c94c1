"""Verdict of an impact, apart from its items: consumers of the changed asset itself, and unknown dependants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from headwater_analysis.amounts import MOST_NAMED
from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.identity import Identities
from headwater_analysis.impact.change import ImpactChange
from headwater_analysis.impact.impacted_assets import ImpactedConsumer
from headwater_analysis.impact.policy import SEVERITIES, Policy, Severity
from headwater_analysis.impact.policy_inputs import Cause, ConsumerInput, SeverityInputs, StepFacts
from headwater_analysis.impact.spread import ImpactSpread
from headwater_analysis.impact.start import Beginning
from headwater_analysis.impact.stored_inputs import StoredInputs
from headwater_analysis.impact.wording import called, listed
from headwater_analysis.lineage.find_lineage import MOST_LOOKED_AT, readers_without_outputs, under_all_names
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.reader import Transaction

_PATHS_AT_ONCE: Final = 500


def hit_consumers(
    tx: Transaction, beginning: Beginning, change: ImpactChange, policy: Policy
) -> tuple[ImpactedConsumer, ...]:
    """Declared consumers of the changed asset itself, the worst first; each is judged as a step of the first hop.

    Consumers that name the column use its value. For consumers of the whole dataset this is unknown.
    """
    of_column = beginning.asset.column is not None
    found = []
    for consumer, names_it in StoredInputs.of(tx).readers(beginning.start.nodes):
        cause, kind = (Cause.VALUE, "COPY") if names_it else (Cause.UNSEEN, "UNKNOWN")
        if not of_column:
            cause, kind = Cause.FLOW, ""
        direct = Influence.INDIRECT if cause is Cause.UNSEEN else Influence.DIRECT
        step = StepFacts(cause, direct, kind or None, masking=False, first=True, type="", criticality="", parted=False)
        by_rule, _, _ = policy.judge(beginning.type, change.schema, step)
        reads = "reads it" if not of_column or names_it else "reads the column's dataset as a whole, and may use it"
        severity = _raised(policy, beginning, by_rule, consumer)
        reason = f"By its declaration, the consumer {reads}."
        found.append(ImpactedConsumer(consumer.name, consumer.type, consumer.criticality, severity, reason))
    return tuple(sorted(found, key=lambda each: (each.severity.rank, each.name)))


def _raised(policy: Policy, beginning: Beginning, by_rule: Severity, consumer: ConsumerInput) -> Severity:
    known = SeverityInputs(consumers=(consumer,))
    return next(
        (each.to for each in policy.raises if each.may_fit(beginning.type, "", "", by_rule) and each.fits(known)),
        by_rule,
    )


def severity_of(
    beginning: Beginning, hit: ImpactSpread, consumers: Sequence[ImpactedConsumer], *, certain: bool, unknown: bool
) -> Severity:
    """Worst severity of all affected assets; UNKNOWN if nobody is certainly affected and some dependants are unknown.

    Args:
        beginning: start and type of the change.
        consumers: declared consumers of the changed asset itself.
        certain: whether anything is hit for certain (`hits_for_certain`).
        unknown: whether some dependants are unknown.
    """
    nothing = Severity.NONE if beginning.type.of_schema else Severity.INFO
    ranks = [rank for rank, *_ in hit.ordered()[:1]] + [each.severity.rank for each in consumers]
    worst = SEVERITIES[min(ranks)] if ranks else nothing
    is_known = worst is not nothing and (certain or any(each.severity is not nothing for each in consumers))
    return Severity.UNKNOWN if unknown and not is_known else worst


def hits_for_certain(tx: Transaction, hit: ImpactSpread) -> bool:
    """Return whether some asset is reached by a path without merely possible hops."""
    nodes = [node for *_, node in hit.ordered()]
    for begin in range(0, len(nodes), _PATHS_AT_ONCE):
        some = nodes[begin : begin + _PATHS_AT_ONCE]
        paths = [[step.edge for step in hit.walk.path(hit.worst[node])] for node in some]
        hops = tx.one("impact/hops", edges=sorted({edge for path in paths for edge in path}))["hops"]
        possible = {row["edge"] for row in hops if row["possible"]}
        if any(possible.isdisjoint(path) for path in paths):
            return True
    return False


def unknowns(tx: Transaction, beginning: Beginning, hit: ImpactSpread, *, certain: bool) -> Iterator[str]:
    """Clauses, each to follow `not known is`, on assets and jobs that may be affected beyond the certain hits.

    - Jobs whose column lineage is missing or incomplete.
    - Jobs that only possibly use the changed asset, if nothing else is hit.
    - Jobs that read the changed asset or a hit asset, without a known output that is derived from it.
    - Assets beyond the depth.
    - A changed dataset without known readers or writers, if nothing is hit: capture may be missing.
    - Events that the graph doesn't have yet.
    """
    unseen = sorted(key for key, job in hit.jobs.items() if Cause.UNSEEN in job.causes)
    if unseen:
        yield f"the use by {_named(tx, unseen)}: the column lineage there is missing or incomplete"
    elif hit.worst and not certain:
        yield f"the use by {_named(tx, sorted(hit.jobs))}: each path there is only possible"
    if hit.walk.truncated:
        yield "everything beyond this depth"
    yield from unknown_users(tx, hit.facts[beginning.start.dataset].key, beginning.asset, hit=sorted(hit.worst))


def unknown_users(tx: Transaction, dataset: str, asset: Asset, *, hit: Sequence[int] = ()) -> Iterator[str]:
    """Clauses, each to follow `not known is`, on possible, unrecorded users of an asset or of its derived assets.

    Args:
        dataset: key of the asset's dataset.
        hit: ids of the assets that are known to be derived from the asset; the first 1,000 are examined.
    """
    if tx.freshness.stale is not None:
        yield f"the content of later events: {tx.freshness.stale}"
    members = Identities.of(tx).members(dataset)
    if ending := readers_without_outputs(tx, under_all_names(tx, members, hit[:MOST_LOOKED_AT])):
        verb = "derives" if len(ending) == 1 else "derive"
        yield f"what {listed(ending)} {verb} from it: no output is known"
    if not hit and not tx.one("impact/used", keys=members)["used"]:
        yield f"who uses {called(asset)}: no event reports a job that reads or writes it"


def _named(tx: Transaction, jobs: Sequence[str]) -> str:
    found = [job_asset(row["properties"]) for row in tx.one("impact/jobs", keys=jobs[:MOST_NAMED])["jobs"]]
    return listed(sorted(found, key=lambda job: job.name), of=len(jobs))
