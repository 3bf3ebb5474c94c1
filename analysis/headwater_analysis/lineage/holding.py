"""Rule that decides which plans of a job hold, now or at a time: for lineage, impact, differences. Pure.

A job may write a dataset by several plans: two INSERTs of a script are two plans of one job, and both determine the
dataset. So plans are judged by the *application run* that used them: the parent of their runs. A streaming query's run
and a run without a parent are their own application runs.

1. All plans of the last complete application run hold, and all plans used since this run began. Plans of a failed or
   running application run hold, too, and end no earlier plan.
2. Within an application run, and among application runs after the last complete one, a complete overwrite of the
   dataset ends the plans that wrote it earlier. Appends, partial overwrites, merges, and writes of an unknown kind, end
   nothing. An overwrite of an application run that hasn't completed doesn't end the plans of the last complete one.
3. A DROP or TRUNCATE of the dataset ends every plan that wrote it before, of whatever job.
4. An overwrite by another job ends nothing: both jobs may take turns, and each writes the dataset when it runs next.

A plan whose rows are gone by rule 2 or 3 is *REPLACED*, not *ENDED*, if its job's last application run still used it.
No column of the dataset comes from this plan, but the job's next run will use its input columns, and fail if they
changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class PlanState(Enum):
    """Status of a plan at a time. ENDED: a later complete application run didn't use the plan."""

    HOLDS = "HOLDS"
    REPLACED = "REPLACED"
    ENDED = "ENDED"


@dataclass(frozen=True, slots=True)
class PlanUse:
    """Use of a plan by a run that writes the dataset.

    Attributes:
        plan: key of the plan.
        application: key of the application run.
        began, ended: first and last observation of the run with the plan, up to the time of the question.
        complete: whether both the run and the application run were complete at the time of the question. A streaming
            query's run counts as complete from its first micro-batch on, because every later micro-batch has the same
            plan.
        replaces: whether the run replaced all previous rows of the dataset.
    """

    plan: str
    application: str
    began: datetime
    ended: datetime
    complete: bool
    replaces: bool = False


def plan_states(uses: Iterable[PlanUse], *, emptied: datetime | None = None) -> dict[str, PlanState]:
    """Status of the plans of one job for one dataset.

    Args:
        uses: all uses up to the time of the question, in any order. Uses that ended before the last complete
            application run began may be left out: a plan without a result has ENDED.
        emptied: last DROP or TRUNCATE of the dataset before the time of the question.

    Returns:
        The best status among each plan's uses.
    """
    uses = list(uses)
    last, began = _last_complete(uses)
    since = [use for use in uses if began is None or use.ended >= began]
    overwrites = [use for use in since if use.replaces]
    out = dict.fromkeys((use.plan for use in uses), PlanState.ENDED)
    for use in since:
        gone = (emptied is not None and use.ended < emptied) or any(
            other.ended > use.ended
            and other.plan != use.plan
            and (other.application == use.application or use.application not in last)
            for other in overwrites
        )
        if not gone:
            out[use.plan] = PlanState.HOLDS
        elif out[use.plan] is PlanState.ENDED:
            out[use.plan] = PlanState.REPLACED
    return out


def _last_complete(uses: list[PlanUse]) -> tuple[set[str], datetime | None]:
    """Application run (or runs) whose complete use began last, and its beginning; None if there is none."""
    newest = max((use.began for use in uses if use.complete), default=None)
    last = {use.application for use in uses if use.complete and use.began == newest}
    return last, min((use.began for use in uses if use.application in last), default=None)
