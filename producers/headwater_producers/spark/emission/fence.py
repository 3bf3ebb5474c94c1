"""Fence: `fail_closed` for foreachBatch. Micro-batch N+1 begins when the lineage of micro-batch N is durable.

It holds the query's own thread, which is what the policy asks for. Each of its steps can be repeated, so that nothing
is waited for longer than a moment without a look at whether waiting still makes sense.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

from headwater_producers.spark.errors import LineageNotDurableError

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

_TAKE_IN_SECONDS: Final = 5.0
_PAUSE_MILLISECONDS: Final = 200
_COMPLAIN_SECONDS: Final = 10.0


class Intake(Protocol):
    """The engine, as the fence sees it."""

    @property
    def closing(self) -> bool:
        """Whether capture ends, or has ended."""

    def secure(self, timeout_seconds: float) -> bool:
        """Has all that has happened made into events and durable; False: not in time."""


class Fence:
    """Holds foreachBatch functions back.

    Args:
        intake: makes what has happened durable.
        lost: describes what is lost for good; None: nothing is.
        clock: monotonic seconds.
    """

    def __init__(
        self, intake: Intake, lost: Callable[[], str | None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._intake = intake
        self._lost = lost
        self._clock = clock

    def hold(self, jvm: Any, batch_id: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Returns when all that the query has committed is durable, or capture has been closed meanwhile.

        Args:
            jvm: the gateway's. Waiting is done by the JVM's thread of the query, so that `query.stop()` interrupts it
                as it would interrupt Spark itself.
            batch_id: the micro-batch that is to begin.
            stopped: whether the query was stopped. Where Python's threads aren't pinned to the JVM's
                (`PYSPARK_PIN_THREAD=false`), the interruption doesn't get here.

        Raises:
            LineageNotDurableError: lineage is lost for good, so that waiting is no use; or the query was stopped.
            Py4JJavaError: the query was stopped meanwhile.
        """
        began = complained = self._clock()
        while not self._intake.closing:
            if (lost := self._lost()) is not None:
                raise LineageNotDurableError(
                    f"micro-batch {batch_id} is not begun: lineage is lost (emission_policy fail_closed): {lost}"
                )
            if self._intake.secure(_TAKE_IN_SECONDS):
                return
            if (now := self._clock()) - complained >= _COMPLAIN_SECONDS:
                complained = now
                logger.warning(
                    "lineage capture: micro-batch %d has waited %d s for its lineage to become durable "
                    "(emission_policy fail_closed); is the outbox writable, or Kafka reachable?",
                    batch_id,
                    now - began,
                )
            jvm.java.lang.Thread.sleep(_PAUSE_MILLISECONDS)
            if stopped():
                raise LineageNotDurableError(f"micro-batch {batch_id} is not begun: the query was stopped")
