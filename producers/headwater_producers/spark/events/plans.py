"""Plans: the column lineage of writes and queries, emitted once for each job, and the digest that runs cite."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from headwater_producers.spark.events.lineage import has_lineage, join_lineages
from headwater_producers.spark.events.smaller_plans import Fitted, fitted
from headwater_schemas.identity import plan_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater_producers.spark.events.context import EventContext
    from headwater_producers.spark.events.dedup_cache import DedupCache
    from headwater_producers.spark.plan import PlanDescription
    from headwater_schemas.events import JobRef, LineageEvent

logger = logging.getLogger(__name__)


def new_plan_event(
    context: EventContext,
    descriptions: Sequence[PlanDescription],
    *,
    job: JobRef,
    run_id: str,
    at: datetime,
    dedup: DedupCache,
) -> tuple[str | None, LineageEvent | None]:
    """What a run cites of the column lineage of its plans, all together, and the event to send first.

    Logs, once for each job, that a setting limits the lineage that is emitted, and which.

    Args:
        context: of the application.
        descriptions: of a write, of a query, or of the writes of a micro-batch.
        job: whose plan it is.
        run_id: whose run emits it.
        at: when.
        dedup: what was published already, and under which digest.

    Returns:
        The digest of the plan as it is sent, None where there is nothing to send; the event, None where it isn't new.
    """
    lineage = join_lineages([each.lineage for each in descriptions])
    if not has_lineage(lineage):
        return None, None
    if any(each.beyond_cap for each in descriptions) and dedup.add(("beyond the cap", job)):
        logger.warning(
            "lineage capture: job %s: a plan is larger than capture_max_plan_bytes, so its columns aren't read; each "
            "output is recorded as derived from every field of its inputs",
            job.name,
        )
    whole = ("plan", job, plan_digest(lineage))
    known, digest = dedup.lookup(whole)
    if known:
        return digest, None
    event_of = partial(context.plan, job=job, run_id=run_id, at=at)
    made = fitted(lineage, event_of, context.max_event_bytes)
    _warn(made, job, context, dedup)
    digest = made.event.plan_event.digest if made.event is not None and made.event.plan_event is not None else None
    dedup.put(whole, digest)
    return digest, made.event


def _warn(made: Fitted, job: JobRef, context: EventContext, dedup: DedupCache) -> None:
    if made.left_out is not None and dedup.add(("smaller plan", job)):
        logger.warning(
            "lineage capture: job %s: a plan's event is larger than topic_max_message_bytes, %d bytes, so %s",
            job.name,
            context.max_event_bytes,
            made.left_out,
        )
