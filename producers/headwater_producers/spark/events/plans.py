"""Plans: the column lineage of writes and queries as it is told, once for each job, and what runs cite of it."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from headwater_producers.spark.events.lineage import join_lineages, says_anything
from headwater_producers.spark.events.smaller_plans import Fitted, fitted
from headwater_schemas.identity import plan_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater_producers.spark.events.context import EventContext
    from headwater_producers.spark.events.once import Once
    from headwater_producers.spark.plan import PlanDescription
    from headwater_schemas.events import JobRef, LineageEvent

logger = logging.getLogger(__name__)


def told_plan(
    context: EventContext,
    descriptions: Sequence[PlanDescription],
    *,
    job: JobRef,
    run_id: str,
    at: datetime,
    said: Once,
) -> tuple[str | None, LineageEvent | None]:
    """What a run cites of the column lineage of its plans, all together, and the event to send first.

    The job's log says, once for each job, that a setting keeps lineage from being told, and which.

    Args:
        context: of the application.
        descriptions: of a write, of a query, or of the writes of a micro-batch.
        job: whose plan it is.
        run_id: whose run tells it.
        at: when.
        said: what was said already, and how.

    Returns:
        The digest of the plan as it is sent, None where there is nothing to send; the event, None where it isn't news.
    """
    lineage = join_lineages([each.lineage for each in descriptions])
    if not says_anything(lineage):
        return None, None
    if any(each.beyond_cap for each in descriptions) and said.first(("beyond the cap", job)):
        logger.warning(
            "lineage capture: job %s: a plan is larger than capture_max_plan_bytes, so its columns aren't read; each "
            "output is told to come from any field of its inputs",
            job.name,
        )
    whole = ("plan", job, plan_digest(lineage))
    known, digest = said.recalled(whole)
    if known:
        return digest, None
    event_of = partial(context.plan, job=job, run_id=run_id, at=at)
    made = fitted(lineage, event_of, context.max_event_bytes)
    _warn(made, job, context, said)
    digest = made.event.plan_event.digest if made.event is not None and made.event.plan_event is not None else None
    said.remember(whole, digest)
    return digest, made.event


def _warn(made: Fitted, job: JobRef, context: EventContext, said: Once) -> None:
    if made.left_out is not None and said.first(("smaller plan", job)):
        logger.warning(
            "lineage capture: job %s: a plan's event is larger than topic_max_message_bytes, %d bytes, so %s",
            job.name,
            context.max_event_bytes,
            made.left_out,
        )
