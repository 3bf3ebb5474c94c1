"""Whether Spark ran any job at all within a stretch of time, by the store that its web page is made from.

Spark keeps it with the page turned off, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.jvm.scala import items, option

if TYPE_CHECKING:
    from datetime import datetime

# The store receives jobs by a queue of its own.
_WAIT_SECONDS: Final = 5.0
# Jobs that are looked at, the newest first, two round trips each.
_MAX_JOBS: Final = 200


def ran_jobs(session: Any, started_at: datetime, ended_at: datetime) -> bool:
    """Whether a job was submitted in that time, by whatever thread; True also where that isn't known.

    Never for the query's own thread: it waits for the listener bus.
    """
    context = session.sparkContext
    if not ListenerBus(context).drained(_WAIT_SECONDS):
        return True
    begin, end = int(started_at.timestamp() * 1000), int(ended_at.timestamp() * 1000) + 1
    for number, job in enumerate(items(context._jsc.sc().statusStore().jobsList(None))):
        submitted = option(job.submissionTime())
        if number >= _MAX_JOBS or (submitted is not None and begin <= int(submitted.getTime()) <= end):
            return True
        if submitted is not None and int(submitted.getTime()) < begin:
            return False
    return False
