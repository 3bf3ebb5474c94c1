"""Capture: the handle that `attach` returns."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.common.sink import EventSink
from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.emission import Emission
from headwater_producers.spark.driver.engine import Engine
from headwater_producers.spark.driver.listeners import SignalTarget
from headwater_producers.spark.driver.reported_quality import quality_reported
from headwater_producers.spark.driver.script_end import ENDED_WELL, outcome_of
from headwater_producers.spark.driver.sessions import ApplicationListeners
from headwater_producers.spark.driver.status import CaptureStatus
from headwater_schemas.events import QualityResult, RunError, RunEventType

logger = logging.getLogger(__name__)

_lock = threading.RLock()
_running: dict[str, Capture] = {}


def running_capture(spark: Any) -> Capture | None:
    """Return the running capture of the session's application, if any."""
    return _running.get(sessions.application_id(spark)) if _running else None


def running_captures() -> list[Capture]:
    """List all running captures of this process."""
    with _lock:
        return list(_running.values())


def begin(key: str, capture: Capture) -> None:
    """Register a running capture."""
    with _lock:
        _running[key] = capture


class Capture:
    """Capture of one application, from `attach` to `close` or the end of the session.

    As a context manager it closes at the end of the block; an exception that leaves the block becomes the application's
    FAIL.
    """

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        key: str = "",
        spark_context: Any = None,
        listeners: ApplicationListeners | None = None,
        target: SignalTarget | None = None,
        emission: Emission | None = None,
        asked: tuple[CaptureSettings, EventSink | None] | None = None,
    ) -> None:
        self._engine = engine
        self._key = key
        self._spark_context = spark_context
        self._listeners = listeners
        self._target = target
        self._emission = emission
        self._asked = asked
        self._closing = threading.RLock()
        self._open = engine is not None

    def begin(self) -> None:
        """Start receiving callbacks, and track the queries that run already; for `attach`."""
        if self._listeners is not None and self._engine is not None:
            self._listeners.target = self._target
            for session in self._listeners.observed():
                self._engine.found(session)

    def flush(self, timeout_seconds: float | None = None) -> bool:
        """Wait until all events so far are delivered.

        Args:
            timeout_seconds: longest time to wait; None: `capture_drain_timeout_seconds`.

        Returns:
            True if all are delivered. False: the time was over first, or an event failed; see `status` and the log.
        """
        if self._engine is None or not self._open:
            return True
        return self._engine.flush(timeout_seconds)

    def close(self) -> None:
        """Stop capturing: deliver everything so far, and end the application's run as COMPLETE. Idempotent.

        Queries that keep running are no longer captured; `attach` again to capture them in a new run of the
        application.

        Raises:
            LineageNotDurableError: the emission policy is `fail_job` or `fail_closed`, and not all lineage is durable.
                Only the first call raises it.
        """
        if (problem := self.end(RunEventType.COMPLETE, None, session_ends=False)) is not None:
            raise problem

    def report_quality(
        self,
        results: Iterable[QualityResult | Mapping[str, Any]],
        *,
        dataset: Any,
        suite: str,
        suite_version: str | None = None,
        started_at: datetime | None = None,
    ) -> str | None:
        """Report the results of a suite of checks on a dataset, as a run of job `<app>.<suite>` that read it.

        For checks that another tool makes: Great Expectations, Soda, dbt tests, Deequ, or the job's own code. Each call
        is a run. The call doesn't wait, and a failed check never fails the job.

        Args:
            results: one `QualityResult` or mapping per check: `assertion` and `passed`, and if known `column`, `value`,
                `rule` and `severity`. A `rule` is COMPLETENESS, UNIQUENESS, RANGE …; its default is the rule of a known
                `assertion`, such as `not_null`. `headwater_producers.spark.quality` converts the results of those
                tools.
            dataset: the checked dataset: a DataFrame that reads only this dataset (`spark.table("orders")`), its path,
                or its name.
            suite: name of the suite of checks.
            suite_version: version of the suite.
            started_at: start of the checks; None: now.

        Returns:
            The run's id; None if capture is closed.

        Raises:
            CaptureError: an argument is malformed; the text names the field.
        """
        reported = quality_reported(
            results,
            dataset=dataset,
            suite=suite,
            suite_version=suite_version,
            started_at=started_at,
            at=datetime.now(UTC),
        )
        if self._target is None or not self._open:
            return None
        self._target.offer(reported)
        return reported.run_id

    def status(self) -> CaptureStatus:
        """Return the counters of capture so far."""
        if self._emission is None:
            return CaptureStatus(enabled=False)
        return self._emission.durability.status(enabled=self._open)

    def __repr__(self) -> str:
        status = self.status()
        if not status.enabled:
            return f"<Capture: off, {status.published} events published>"
        names = ("received", "queued", "dropped", "failed", "published", "lost")
        shown = ", ".join(f"{name}={getattr(status, name)}" for name in names)
        return f"<Capture: on, {shown}, last_error={status.last_error!r}>"

    def is_as_asked(self, settings: CaptureSettings, sink: EventSink | None) -> bool:
        """Return True if capture was attached with exactly these settings and this sink."""
        return self._asked is None or (self._asked[0] == settings and self._asked[1] is sink)

    def belongs_to(self, spark_context: Any) -> bool:
        """Return True if the captured session belongs to this context."""
        return self._spark_context is spark_context

    def end(self, kind: RunEventType, error: RunError | None, *, session_ends: bool) -> LineageNotDurableError | None:
        """Close with the given outcome; see `Engine.finish`.

        Returns:
            The error that the emission policy raises; logged already.
        """
        with self._closing:
            if self._engine is None:
                return None
            if not self._open:
                self._engine.await_end()
                return None
            self._open = False
            delivered = self._engine.finish(kind, error, session_ends=session_ends)
            problem = self._emission.verdict(delivered=delivered) if self._emission is not None else None
            if problem is not None:
                logger.error("%s", problem)
            if self._listeners is not None:
                self._listeners.target = None
                if not session_ends:
                    self._listeners.unmark()
            with _lock:
                _running.pop(self._key, None)
            if session_ends:
                sessions.forget(self._key)
            return problem

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        outcome = ENDED_WELL if error is None else outcome_of(error)
        if outcome == ENDED_WELL:
            self.close()
        else:
            self.end(outcome.kind, outcome.error, session_ends=False)
