"""Plans (column lineages of jobs) that keep state or drop records, each looked up once per question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from headwater_analysis.assets import Asset
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.batches import Batch, Run
from headwater_analysis.trace.prefetch import DROP_RECORDS, prefetch
from headwater_graph.keys import plan_key

_INCOMPLETE: Final = "operators that its plan doesn't show"
WritingPlan: TypeAlias = tuple[str, tuple[str, ...]]
"""Key of a plan, and keys of the datasets that it wrote."""


class PlanSteps(NamedTuple):
    """Completeness of a known plan, and kinds of its steps, as far as `prefetch` looks up these kinds."""

    complete: bool | None
    kinds: Sequence[str]


def plan_steps(tx: Transaction, plans: Iterable[WritingPlan]) -> list[PlanSteps]:
    """Look up the steps of these plans; plans that the graph lacks are left out."""
    asked = list(plans)
    if unknown := unknown_plans(tx, asked):
        learn_plans(tx, unknown, prefetch(tx, plans=unknown).plans)
    known = _known(tx)
    return [found for plan in dict.fromkeys(asked) if (found := known[plan]) is not None]


def asked_of_drops(job: Asset | None, used: Iterable[Batch | Run]) -> list[WritingPlan]:
    """Plans of micro-batches or runs that `dropping` will need."""
    if job is None:
        return []
    digests = {(each.properties.get("plan_digest"), use.dataset) for each in used for use in each.writes()}
    tenants = {each.properties["tenant"] for each in used}
    return sorted((plan_key(t, job.key, digest), (key,)) for t in tenants for digest, key in digests if digest)


def dropping(tx: Transaction, job: Asset | None, used: Collection[Batch | Run]) -> tuple[frozenset[str], str]:
    """Keys of the datasets whose plan may have dropped a record that was read, and a sentence on the dropping steps.

    Both are empty if no plan drops records.

    An unknown plan is assumed to drop nothing.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for asked in asked_of_drops(job, used):
        for plan in plan_steps(tx, [asked]):
            words = {DROP_RECORDS[kind] for kind in plan.kinds if kind in DROP_RECORDS}
            found[asked[1][0]] |= words or (set() if plan.complete else {_INCOMPLETE})
    drop = {key for key, words in found.items() if words}
    named = " and ".join(sorted({word for key in drop for word in found[key]}))
    return frozenset(drop), f"It isn't recorded whether a record passed the job's {named}." if drop else ""


def unknown_plans(tx: Transaction, plans: Iterable[WritingPlan]) -> list[WritingPlan]:
    """Plans that haven't been looked up yet."""
    known = _known(tx)
    return list(dict.fromkeys(plan for plan in plans if plan not in known))


def learn_plans(
    tx: Transaction, asked: Sequence[WritingPlan], found: Iterable[tuple[int, bool | None, Sequence[str]]]
) -> None:
    """Cache looked-up plans. Each found plan has its index in `asked`, its completeness and its steps."""
    known = _known(tx)
    known |= dict.fromkeys(asked)
    for n, complete, kinds in found:
        known[asked[n]] = PlanSteps(complete, kinds)


def _known(tx: Transaction) -> dict[WritingPlan, PlanSteps | None]:
    found: Any = tx.shared.setdefault("plans that keep state", {})
    return found  # type: ignore[no-any-return]
