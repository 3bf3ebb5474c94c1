"""Listener bus of Spark: the queues between the job and the listeners, and the jobs that it has delivered."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from py4j.protocol import Py4JError

from headwater_producers.spark.jvm.scala import items, option

# Maximum wait for the bus, through which the store behind Spark's UI receives jobs.
_WAIT_SECONDS: Final = 5.0
# Maximum number of jobs searched, the newest first; two round trips each.
_MAX_JOBS: Final = 200


class ListenerBus:
    """Listener bus of one SparkContext. A callback must never wait for it: the bus waits for the callback."""

    def __init__(self, spark_context: Any) -> None:
        self._bus = spark_context._jsc.sc().listenerBus()

    def drained(self, timeout_seconds: float) -> bool:
        """Wait until every event posted so far has been delivered; False: not in time, or the JVM is gone.

        `waitUntilEmpty` is a method of Spark for Spark's own tests; it polls every 10 ms.
        """
        try:
            self._bus.waitUntilEmpty(int(timeout_seconds * 1000))
        except (Py4JError, OSError):
            return False
        return True


def ran_jobs(session: Any, started_at: datetime, ended_at: datetime) -> bool:
    """Return True if any thread submitted a job in that time; also True if unknown.

    The source is the store behind Spark's UI, which Spark keeps even if the UI is off. Not to be called on the
    query's own thread: it waits for the listener bus.
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
