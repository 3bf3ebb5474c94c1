"""Writing: the jobs of the lane, their results, and when a failed attempt is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.checkpoint import Checkpoint
from headwater_consumers.materializer.errors import RetryCause
from headwater_consumers.materializer.jobs import Job, JobKind, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from headwater_consumers.materializer.backoff import Backoff
    from headwater_consumers.materializer.commits import Commits
    from headwater_consumers.materializer.in_flight import InFlight
    from headwater_consumers.materializer.parts import LoopPolicy, Parts
    from headwater_consumers.materializer.records import Partition
    from headwater_consumers.materializer.reporting import Reporting
    from headwater_schemas.errors import TransientError


class Writing:
    """The loop's side of the lane. Called from the loop's thread alone.

    Args:
        parts: the lane, and what its jobs touch.
        policy: how often the database is looked at while there is nothing to write.
        in_flight: what there is to write.
        commits: takes the offsets of what is written.
        report: of successes and failures.
        backoff: between attempts at one job.
        clock: monotonic seconds.
        ready: called once, when topics and graph are ready.

    Attributes:
        backoff: of the job that failed, if one did.
        started: whether topics and graph are ready.
    """

    def __init__(
        self,
        parts: Parts,
        policy: LoopPolicy,
        *,
        in_flight: InFlight,
        commits: Commits,
        report: Reporting,
        backoff: Backoff,
        clock: Callable[[], float],
        ready: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._ping_seconds = policy.ping_seconds
        self._in_flight = in_flight
        self._commits = commits
        self._report = report
        self._clock = clock
        self._ready = ready
        self._job: Job | None = None
        self._since = 0.0
        self._next_ping = 0.0
        self.backoff = backoff
        self.started = False

    @property
    def busy(self) -> bool:
        """Whether the lane has a job whose result isn't known."""
        return self._job is not None

    @property
    def busy_seconds(self) -> float:
        """How long the lane has had its job; 0 where it has none."""
        return self._clock() - self._since if self.busy else 0.0

    def writes(self, partitions: Collection[Partition]) -> bool:
        """Whether anything of these partitions is being written now."""
        current = self._in_flight.current
        return self.busy and current is not None and not current.batch.offsets.keys().isdisjoint(partitions)

    def start(self) -> None:
        """Give the lane its next job, where it is idle and no attempt has to wait."""
        if self.busy or not self.backoff.due:
            return
        job = self._next()
        if job is not None:
            self._job, self._since = job, self._clock()
            self._parts.lane.start(job.run)

    def finish(self, timeout_seconds: float) -> None:
        """Take the result of the lane's job, if there is one by then.

        Raises:
            FatalError: a person has to change a setting.
        """
        result = self._parts.lane.take(timeout_seconds)
        if result is None or self._job is None:
            return
        job, self._job = self._job, None
        seconds = self._clock() - self._since
        self._next_ping = self._clock() + self._ping_seconds
        if result.error is None:
            self._succeeded(job, seconds)
        else:
            self._failed(settled(job, result.error))

    def _next(self) -> Job | None:
        in_flight = self._in_flight
        if not self.started:
            return Job(JobKind.START, self._parts.start)
        if in_flight.current is None and in_flight.prepared is not None:
            in_flight.current, in_flight.prepared = Checkpoint(in_flight.prepared, self._parts.checkpoint_context), None
        if in_flight.current is not None:
            return Job(JobKind.CHECKPOINT, in_flight.current.advance)
        if self._clock() >= self._next_ping:
            return Job(JobKind.PING, self._parts.checkpoint_context.graph.ping)
        return None

    def _succeeded(self, job: Job, seconds: float) -> None:
        self.backoff.succeeded()
        self._report.over(RetryCause.GRAPH, RetryCause.RACE)
        if job.kind is not JobKind.PING:
            self._report.over(RetryCause.DEAD_LETTERS)
        if job.kind is JobKind.START:
            self.started = True
            self._ready()
        elif job.kind is JobKind.CHECKPOINT and self._in_flight.current is not None:
            if self._in_flight.current.was_split:
                self._parts.limit.halve()
            else:
                self._parts.limit.fitted(len(self._in_flight.current.batch.records), seconds)
            self._report.through(self._in_flight.current)
            self._commits.add(self._in_flight.current.batch.offsets)
            self._in_flight.current = None

    def _failed(self, error: TransientError) -> None:
        self.backoff.failed()
        self._report.trouble(error)
