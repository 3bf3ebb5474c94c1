"""Spark's listener bus: the queues between the job and the listeners."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError


class ListenerBus:
    """The bus of one SparkContext. Never to be waited for by a callback: that is one of those it waits for."""

    def __init__(self, spark_context: Any) -> None:
        self._bus = spark_context._jsc.sc().listenerBus()

    def drained(self, timeout_seconds: float) -> bool:
        """Waits until every event posted so far has been delivered; False: not in time, or the JVM is gone.

        `waitUntilEmpty` is Spark's own, used by its tests; it looks every 10 ms.
        """
        try:
            self._bus.waitUntilEmpty(int(timeout_seconds * 1000))
        except (Py4JError, OSError):
            return False
        return True
