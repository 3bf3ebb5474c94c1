"""Plans in force and replaced plans: the rule by itself; histories of events are judged elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.lineage.holding import PlanState, PlanUse, plan_states

if TYPE_CHECKING:
    import pytest

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
HOLDS, REPLACED, ENDED = PlanState.HOLDS, PlanState.REPLACED, PlanState.ENDED


def at(minute: int) -> datetime:
    return BEGIN + timedelta(minutes=minute)


def use(plan: str, application: int, minute: int, *, complete: bool = True, replaces: bool = False) -> PlanUse:
    return PlanUse(plan, str(application), at(minute), at(minute + 1), complete, replaces)


def test_what_became_of_each(subtests: pytest.Subtests) -> None:
    cases = [
        ([use("a", 1, 0), use("b", 1, 2)], None, {"a": HOLDS, "b": HOLDS}),
        ([use("a", 1, 0), use("b", 2, 2)], None, {"a": ENDED, "b": HOLDS}),
        ([use("a", 1, 0), use("b", 2, 2, complete=False)], None, {"a": HOLDS, "b": HOLDS}),
        ([use("a", 1, 0), use("b", 1, 2, replaces=True)], None, {"a": REPLACED, "b": HOLDS}),
        # An application run that isn't done ends nothing of the last complete one.
        ([use("a", 1, 0), use("b", 2, 2, complete=False, replaces=True)], None, {"a": HOLDS, "b": HOLDS}),
        # Its own earlier writes, and those of other ones that aren't, it does.
        (
            [use("a", 1, 0, complete=False), use("b", 2, 2, complete=False, replaces=True)],
            None,
            {"a": REPLACED, "b": HOLDS},
        ),
        ([use("a", 1, 0), use("a", 2, 4), use("b", 2, 2, replaces=True)], None, {"a": HOLDS, "b": HOLDS}),
        ([use("a", 1, 0), use("b", 1, 4)], at(3), {"a": REPLACED, "b": HOLDS}),
        ([use("a", 1, 0), use("b", 2, 4)], at(3), {"a": ENDED, "b": HOLDS}),
        # It began before the one that ended it, and went on after that.
        ([PlanUse("a", "1", at(0), at(9), False), use("b", 2, 2)], None, {"a": HOLDS, "b": HOLDS}),
        ([], at(3), {}),
    ]
    for uses, emptied, expected in cases:
        with subtests.test(uses=uses):
            assert plan_states(uses, emptied=emptied) == expected


USES = st.lists(
    st.builds(
        lambda plan, application, minute, complete, replaces: use(
            plan, application, minute, complete=complete, replaces=replaces
        ),
        st.sampled_from("abcd"),
        st.integers(0, 3),
        st.integers(0, 20),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


@given(USES, st.randoms(use_true_random=False))
def test_the_order_of_uses_and_their_number_say_nothing(uses: list[PlanUse], random: object) -> None:
    again = [*uses, *uses]
    random.shuffle(again)  # type: ignore[attr-defined]
    assert plan_states(again) == plan_states(uses)


@given(USES)
def test_the_plan_used_last_holds_whatever_came_before(uses: list[PlanUse]) -> None:
    found = plan_states(uses)
    last = max((each.ended for each in uses), default=None)
    assert all(found[each.plan] is HOLDS for each in uses if each.ended == last)


@given(USES)
def test_uses_before_the_last_complete_application_run_may_be_left_out(uses: list[PlanUse]) -> None:
    found = plan_states(uses)
    newest = max((each.began for each in uses if each.complete), default=None)
    last = {each.application for each in uses if each.complete and each.began == newest}
    began = min((each.began for each in uses if each.application in last), default=BEGIN)
    since = plan_states([each for each in uses if each.ended >= began])
    assert {plan: what for plan, what in found.items() if what is not ENDED} == since
