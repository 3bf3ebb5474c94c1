"""The loop: drives records from the source through the lane (a thread that runs one job at a time).

    fetch, decode and fold batch n+1        this thread
    write, dead-letter and commit batch n   the lane's thread

Only this thread decides which batch is written next, when a failed attempt is repeated, and which records are dropped
on a rebalance.

`Loop.run` is a skeleton over `run_once`, which a test or a simulation can call step by step. `Writing` is the loop's
interface to the lane. `in_flight` has the stages of records; `checkpoint` has the steps that make a batch durable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from headwater_consumers.kafka.backoff import Backoff, BackoffPolicy, Deadline
from headwater_consumers.kafka.membership import CatchUp
from headwater_consumers.kafka.notices import Notices, RetryCause
from headwater_consumers.kafka.records import Partition
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.batch import BatchPreparation, EarlyDecoder, prepare
from headwater_consumers.materializer.checkpoint import BatchCheckpoint, CheckpointContext, Commits
from headwater_consumers.materializer.errors import DeadLetterLimitError, TooManyDeadLettersError
from headwater_consumers.materializer.health import Health
from headwater_consumers.materializer.in_flight import InFlight
from headwater_consumers.materializer.lane import JobKind, Lane, LaneTask, settled
from headwater_consumers.materializer.limits import BatchLimit
from headwater_consumers.materializer.metrics import Metrics, Rebalance
from headwater_consumers.materializer.progress import PartitionProgress, ProgressTracker
from headwater_consumers.materializer.reporting import ConsumerTotals, Reporting
from headwater_schemas.errors import BrokerUnavailableError, SchemasUnavailableError, TransientError

_CATCH_UP_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class LoopPolicy:
    """Timing of the loop, in seconds.

    Attributes:
        drain_seconds: time limit of the current write when partitions are revoked; at a stop, the time limit for all
            records in flight and for leaving the group.
        close_seconds: further time for the lane's job before it is abandoned.
        idle_seconds: longest wait of a poll for the first record.
        busy_seconds: longest wait of a poll while a batch is being written, so that its end is noticed soon.
        stall_seconds: duration of a write from which the loop pauses its partitions and only polls, to stay in the
            group.
        report_seconds: interval of reports of the progress to the graph, which also check the connection.
        silence_seconds: duration of a write from which the consumer isn't ready.
        until_caught_up: True: stop when the group has committed all records that were on the topic at the start.
        reads_topic: True if the source is the events topic, whose progress the graph stores; False for an archive.
    """

    backoff: BackoffPolicy = field(default_factory=BackoffPolicy)
    drain_seconds: float = 20.0
    close_seconds: float = 2.0
    idle_seconds: float = 0.1
    busy_seconds: float = 0.01
    stall_seconds: float = 5.0
    report_seconds: float = 5.0
    silence_seconds: float = 30.0
    until_caught_up: bool = False
    reads_topic: bool = True


@dataclass(frozen=True, slots=True)
class LoopParts:
    """Parts that the loop drives.

    Attributes:
        start: function that prepares topics and graph; called in the lane until it succeeds, before the group is
            joined.
        finish: function that closes the lane's resources; called in the lane, last.
        committed: called with the committed offsets, and the duration of the commit in seconds.
        watch: called twice a second, to show progress.
        group: the consumer group, which the graph stores as its writer.
    """

    source: RecordSource
    lane: Lane
    checkpoint_context: CheckpointContext
    preparation: BatchPreparation
    limit: BatchLimit
    start: Callable[[], None]
    finish: Callable[[], None]
    health: Health
    metrics: Metrics
    notices: Notices
    totals: ConsumerTotals
    committed: Callable[[Mapping[Partition, int], float], None]
    watch: Callable[[], None]
    group: str


class Writing:
    """The loop's side of the lane. Called only from the loop's thread.

    Args:
        parts: the lane, and the resources of its jobs.
        policy: interval of progress reports.
        clock: monotonic seconds.
        ready: called once, when topics and graph are ready.

    Attributes:
        backoff: back-off of the failed job, if any.
        started: True once topics and graph are ready.
    """

    def __init__(
        self,
        parts: LoopParts,
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
        self._policy = policy
        self._in_flight = in_flight
        self._commits = commits
        self._report = report
        self._clock = clock
        self._ready = ready
        self._job: LaneTask | None = None
        self._since = 0.0
        self._next_report = clock() + policy.report_seconds
        self._reported_last = False
        self._tracker = ProgressTracker(parts.group)
        self._seconds_per_record = 0.0
        self.backoff = backoff
        self.started = False

    @property
    def busy(self) -> bool:
        """True if the lane has a job without a result."""
        return self._job is not None

    @property
    def busy_seconds(self) -> float:
        """Seconds since the start of the lane's job; 0 without a job."""
        return self._clock() - self._since if self.busy else 0.0

    @property
    def silence(self) -> tuple[float, RetryCause]:
        """Seconds that the job has waited for the external system of its current step, and this system."""
        current = self._in_flight.current
        if current is None:
            return self.busy_seconds, RetryCause.GRAPH
        cause, since = current.waits
        # `since` may still be the start of the previous attempt.
        return min(self.busy_seconds, self._clock() - since), cause

    @property
    def left_seconds(self) -> float:
        """Estimated seconds until the current batch is written, if each record takes as long as in the last batch.

        0 if the estimate has already passed, or if nothing is being written.
        """
        current = self._in_flight.current
        if not self.busy or current is None:
            return 0.0
        return max(0.0, self._seconds_per_record * len(current.batch.records) - self.busy_seconds)

    def writes(self, partitions: Collection[Partition]) -> bool:
        """Return True if records of these partitions are being written now."""
        current = self._in_flight.current
        return self.busy and current is not None and not current.batch.offsets.keys().isdisjoint(partitions)

    def start(self) -> None:
        """Give the idle lane its next job, unless an attempt has to wait."""
        if self.busy or not self.backoff.due:
            return
        job = self._next()
        if job is not None:
            self._job, self._since = job, self._clock()
            self._reported_last = job.kind is JobKind.REPORT
            self._parts.lane.start(job.run)

    def finish(self, timeout_seconds: float) -> None:
        """Take the result of the lane's job, if it has ended.

        Raises:
            FatalError: a person has to change a setting.
        """
        result = self._parts.lane.take(timeout_seconds)
        if result is None or self._job is None:
            return
        job, self._job = self._job, None
        seconds = self._clock() - self._since
        if result.error is None:
            self._succeeded(job, seconds)
        else:
            self._failed(settled(job, result.error))

    def _next(self) -> LaneTask | None:
        in_flight = self._in_flight
        if not self.started:
            return LaneTask(JobKind.START, self._parts.start)
        if in_flight.current is None and self._report_is_due:
            self._next_report = self._clock() + self._policy.report_seconds
            return LaneTask(JobKind.REPORT, partial(self._parts.checkpoint_context.graph.report, self._progress()))
        if in_flight.current is None and in_flight.prepared is not None:
            in_flight.current, in_flight.prepared = (
                BatchCheckpoint(in_flight.prepared, self._parts.checkpoint_context),
                None,
            )
        if in_flight.current is not None:
            return LaneTask(JobKind.CHECKPOINT, in_flight.current.advance)
        return None

    @property
    def _report_is_due(self) -> bool:
        """Return True every few seconds, but not twice in a row while a batch waits to be written."""
        waits = self._in_flight.prepared is not None and self._reported_last
        return self._clock() >= self._next_report and not waits

    def _progress(self) -> list[PartitionProgress]:
        standing = self._parts.source.standing() if self._policy.reads_topic else []
        return self._tracker.progress(standing, self._commits.pending)

    def report_soon(self) -> None:
        """Make the next job a report, unless a batch is being written."""
        self._next_report = 0.0

    def _succeeded(self, job: LaneTask, seconds: float) -> None:
        self.backoff.succeeded()
        self._report.over(RetryCause.GRAPH, RetryCause.RACE)
        if job.kind is not JobKind.REPORT:
            self._report.over(RetryCause.DEAD_LETTERS, RetryCause.TOO_MANY_DEAD_LETTERS)
        if job.kind is JobKind.START:
            self.started = True
            self._ready()
        elif job.kind is JobKind.CHECKPOINT and self._in_flight.current is not None:
            if self._in_flight.current.was_split:
                self._parts.limit.halve()
            else:
                self._parts.limit.fitted(len(self._in_flight.current.batch.records), seconds)
            self._seconds_per_record = seconds / max(1, len(self._in_flight.current.batch.records))
            self._report.through(self._in_flight.current)
            self._tracker.through(self._in_flight.current.batch.records)
            self._commits.add(self._in_flight.current.batch.offsets)
            self._in_flight.current = None

    def _failed(self, error: TransientError) -> None:
        if self._policy.until_caught_up and isinstance(error, TooManyDeadLettersError):
            raise DeadLetterLimitError(str(error), setting="HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO") from error
        self.backoff.failed()
        self._report.trouble(error)


class Loop:
    """Loop of one consumer. Everything except `stop` is called from one thread.

    Args:
        clock: monotonic seconds.
        random: function that returns a number in [0, 1).
    """

    def __init__(
        self, parts: LoopParts, policy: LoopPolicy, *, clock: Callable[[], float], random: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._policy = policy
        self._clock = clock
        self._report = Reporting(
            source=parts.source,
            health=parts.health,
            metrics=parts.metrics,
            notices=parts.notices,
            totals=parts.totals,
            watch=parts.watch,
            clock=clock,
        )
        self._in_flight = InFlight(parts.limit, EarlyDecoder(parts.preparation))
        self._catch_up = CatchUp(parts.source, clock, every_seconds=_CATCH_UP_SECONDS)
        self._decode_backoff = Backoff(policy.backoff, clock, random)
        self._commits = Commits(parts.source, Backoff(policy.backoff, clock, random), parts.committed, clock)
        self._writing = Writing(
            parts,
            policy,
            in_flight=self._in_flight,
            commits=self._commits,
            report=self._report,
            backoff=Backoff(policy.backoff, clock, random),
            clock=clock,
            ready=lambda: parts.source.subscribe(self),
        )
        self._assigned: frozenset[Partition] = frozenset()
        self._prepare_seconds_per_record = 0.0
        self._end: Deadline | None = None
        self._paused = False

    def stop(self) -> None:
        """Ask `run` to write and commit the records in flight, and return. Safe from signal handlers and threads."""
        self._end = self._end or Deadline(self._policy.drain_seconds, self._clock)

    def run(self) -> None:
        """Run until asked to stop, or until caught up (by the policy); then write, commit, and leave the group.

        Raises:
            FatalError: a person has to change a setting. Earlier commits stay.
        """
        began = self._clock()
        try:
            while self._end is None and not self._caught_up():
                self.run_once()
            self.stop()
            self._drain()
        finally:
            self._parts.totals.seconds = self._clock() - began
            self._parts.lane.close(self._parts.finish, self._policy.close_seconds)
            self._parts.source.close()
            self._report.released(self._in_flight.held)

    def run_once(self) -> None:
        """Do one round: take the lane's result, give the lane its next job, prepare another batch, fetch.

        Raises:
            FatalError: see `run`.
        """
        self._report.moved()
        self._writing.finish(0)
        self._writing.start()
        self._prepare()
        self._writing.start()
        self._commits.send()
        self._fetch()
        if self._writing.busy:
            self._in_flight.decode_early()
        silent_seconds, waits_for = self._writing.silence
        if silent_seconds >= self._policy.silence_seconds:
            self._report.silent(silent_seconds, waits_for)
        self._report.show(self._in_flight, paused=self._paused, committing=self._commits.backoff.attempts == 0)

    # Fetching and preparing.

    def _prepare(self) -> None:
        """Build the next batch when a whole one is fetched, or early enough to be ready when the lane is idle."""
        in_flight = self._in_flight
        idle = in_flight.current is None
        if (
            in_flight.prepared is not None
            or not in_flight.anything_fetched
            or not (in_flight.full or idle or self._end is not None or self._should_prepare)
        ):
            return
        if not self._decode_backoff.due:
            return
        began, before = self._clock(), in_flight.fetched_records
        try:
            in_flight.prepare(partial(prepare, how=self._parts.preparation))
        except SchemasUnavailableError as error:
            self._decode_backoff.failed()
            self._report.trouble(error)
        else:
            self._decode_backoff.succeeded()
            self._report.over(RetryCause.SCHEMAS)
            self._prepare_seconds_per_record = (self._clock() - began) / max(1, before - in_flight.fetched_records)

    @property
    def _should_prepare(self) -> bool:
        """Return True if preparing the fetched records takes at least as long as the rest of the current write.

        If it were later, the database would wait for each batch that isn't full. If it were earlier, batches would be
        smaller than necessary.
        """
        needed = self._prepare_seconds_per_record * self._in_flight.fetched_records
        return self._writing.busy and not self._writing.backoff.attempts and self._writing.left_seconds < needed

    def _fetch(self) -> None:
        in_flight, source = self._in_flight, self._parts.source
        waiting = self._writing.backoff.attempts > 0 or self._decode_backoff.attempts > 0
        writing = self._writing.busy
        progressing = not waiting and not in_flight.overfull and self._writing.busy_seconds < self._policy.stall_seconds
        if in_flight.full and writing and progressing:
            # The database is the bottleneck. Pausing would discard records that librdkafka has fetched ahead. Polls of
            # single records keep rebalances and commits working.
            self._writing.finish(self._policy.idle_seconds)
            self._poll(max_records=1, max_bytes=1, timeout_seconds=0)
            return
        self._paused = in_flight.full or waiting
        if self._paused:
            source.pause()
        else:
            source.resume()
        ready = not writing and not waiting and (in_flight.prepared is not None or in_flight.anything_fetched)
        timeout = 0.0 if ready else self._policy.busy_seconds if writing else self._policy.idle_seconds
        self._poll(
            max_records=max(1, in_flight.free_records), max_bytes=max(1, in_flight.free_bytes), timeout_seconds=timeout
        )

    def _poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> None:
        polled = self._parts.source.poll(max_records=max_records, max_bytes=max_bytes, timeout_seconds=timeout_seconds)
        self._in_flight.add(polled)
        self._report.consumed(len(polled.records))

    # Callbacks of the source (`source.SourceListener`), within `poll` or `close`.

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """Take over newly assigned partitions."""
        self._set_assigned(self._assigned | partitions, Rebalance.ASSIGNED, partitions)

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """Finish and commit the current write of revoked partitions, within the drain time; drop the rest."""
        deadline = self._end or Deadline(self._policy.drain_seconds, self._clock)
        while self._writing.writes(partitions) and not deadline.passed:
            self._writing.finish(min(0.1, deadline.remaining_seconds))
        try:
            self._commits.flush(partitions)
        except BrokerUnavailableError as error:
            self._report.commit_failed(error)  # the next owner reads uncommitted records again
        self._forget(partitions)
        self._set_assigned(self._assigned - partitions, Rebalance.REVOKED, partitions)

    def lost(self, partitions: frozenset[Partition]) -> None:
        """Drop everything in flight of partitions that were lost."""
        self._forget(partitions)
        self._set_assigned(self._assigned - partitions, Rebalance.LOST, partitions)

    def committed(self, error: BrokerUnavailableError | None) -> None:
        """Handle the brokers' answer to the last commit."""
        self._commits.answered(confirmed=error is None)
        if error is not None:
            self._report.commit_failed(error)

    def _forget(self, partitions: frozenset[Partition]) -> None:
        self._report.released(self._in_flight.drop(partitions, writing=self._writing.busy))
        self._commits.drop(partitions)
        if not self._in_flight.anything_fetched:
            self._decode_backoff.succeeded()  # the records that waited for a schema were dropped with their partition

    def _set_assigned(self, partitions: frozenset[Partition], kind: Rebalance, moved: frozenset[Partition]) -> None:
        self._assigned = partitions
        self._report.rebalanced(kind, moved, len(partitions))

    # The end.

    def _caught_up(self) -> bool:
        if not (
            self._policy.until_caught_up and self._writing.started and self._in_flight.empty and self._commits.idle
        ):
            return False
        return self._catch_up.done()

    def _drain(self) -> None:
        """Write and commit the records in flight. An error ends the drain; uncommitted records are read again."""
        deadline = self._end
        if deadline is None or not self._writing.started:
            return
        self._parts.source.pause()
        while not (self._in_flight.empty and self._commits.idle) and not self._in_trouble and not deadline.passed:
            self._report.moved()
            self._writing.start()
            self._prepare()
            self._writing.finish(min(self._policy.idle_seconds, deadline.remaining_seconds))
            self._commits.send()
            # Polls for the result of the commit; a paused source returns no records.
            self._poll(max_records=1, max_bytes=1, timeout_seconds=self._policy.busy_seconds)
        if self._in_flight.current is None and not self._in_trouble:
            # The graph shows this progress until the next consumer runs.
            self._writing.report_soon()
            self._writing.start()
            self._writing.finish(min(self._policy.close_seconds, deadline.remaining_seconds))

    @property
    def _in_trouble(self) -> bool:
        return any(backoff.attempts for backoff in (self._writing.backoff, self._decode_backoff, self._commits.backoff))
