"""Plans that keep state, looked up once each in a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from headwater_consumers.analysis.reader import Transaction
from headwater_consumers.analysis.trace.ahead import ahead

WritingPlan: TypeAlias = tuple[str, tuple[str, ...]]
"""Key of a plan, and keys of datasets that it wrote."""


class PlanSteps(NamedTuple):
    """Of a plan that is known: whether it is complete, and the kinds of its steps that keep state."""

    complete: bool | None
    kinds: Sequence[str]


def plan_steps(tx: Transaction, plans: Iterable[WritingPlan]) -> list[PlanSteps]:
    """Those of plans that are known."""
    asked = list(plans)
    if unknown := unknown_plans(tx, asked):
        learn_plans(tx, unknown, ahead(tx, plans=unknown).plans)
    known = _known(tx)
    return [found for plan in dict.fromkeys(asked) if (found := known[plan]) is not None]


def unknown_plans(tx: Transaction, plans: Iterable[WritingPlan]) -> list[WritingPlan]:
    """Those of plans that are still to be looked up."""
    known = _known(tx)
    return list(dict.fromkeys(plan for plan in plans if plan not in known))


def learn_plans(
    tx: Transaction, asked: Sequence[WritingPlan], found: Iterable[tuple[int, bool | None, Sequence[str]]]
) -> None:
    """Take note of plans that were looked up: number among those asked for, and steps, of each that is known."""
    known = _known(tx)
    known |= dict.fromkeys(asked)
    for n, complete, kinds in found:
        known[asked[n]] = PlanSteps(complete, kinds)


def _known(tx: Transaction) -> dict[WritingPlan, PlanSteps | None]:
    found: Any = tx.shared.setdefault("plans that keep state", {})
    return found  # type: ignore[no-any-return]
