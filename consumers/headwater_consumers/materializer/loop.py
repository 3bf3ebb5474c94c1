"""The loop: drives records from the source through the lane, one step at a time.

    fetch, decode and fold batch n+1        this thread
    write, dead-letter and commit batch n   the lane's thread

Only this thread decides: what is written next, when a failed attempt is made again, what is dropped on a rebalance.
`run` is a skeleton over `run_once`, which a test or a simulation can call step by step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater_consumers.materializer.ahead import Ahead
from headwater_consumers.materializer.backoff import Backoff, Deadline
from headwater_consumers.materializer.batch import prepare
from headwater_consumers.materializer.catch_up import CatchUp
from headwater_consumers.materializer.commits import Commits
from headwater_consumers.materializer.errors import RetryCause
from headwater_consumers.materializer.in_flight import InFlight
from headwater_consumers.materializer.metrics import Rebalance
from headwater_consumers.materializer.reporting import Reporting
from headwater_consumers.materializer.writing import Writing
from headwater_schemas.errors import BrokerUnavailableError, SchemasUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.parts import LoopPolicy, Parts
    from headwater_consumers.materializer.records import Partition


class Loop:
    """One consumer. Everything but `stop` is called from one thread.

    Args:
        parts: what it drives.
        policy: how.
        clock: monotonic seconds.
        random: [0, 1).
    """

    def __init__(
        self, parts: Parts, policy: LoopPolicy, *, clock: Callable[[], float], random: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._policy = policy
        self._clock = clock
        self._report = Reporting(parts, clock)
        self._in_flight = InFlight(parts.limit, Ahead(parts.preparation))
        self._catch_up = CatchUp(parts.source, clock)
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
        self._stopping = False
        self._paused = False

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stopping

    def stop(self) -> None:
        """Ask it to drain and return. Safe from a signal handler or another thread."""
        self._stopping = True

    def run(self) -> None:
        """Go on until asked to stop, or caught up where the policy says so; then drain, commit and leave the group.

        Raises:
            FatalError: a person has to change a setting. What was committed before stays so.
        """
        began = self._clock()
        try:
            while not self._stopping and not self._caught_up():
                self.run_once()
            self._drain()
        finally:
            self._parts.totals.seconds = self._clock() - began
            self._parts.lane.close(self._parts.finish, self._policy.close_seconds)
            self._parts.source.close()
            self._report.released(self._in_flight.held)

    def run_once(self) -> None:
        """One round: take what the lane has done, give it the next, prepare another, fetch.

        Raises:
            FatalError: as `run`.
        """
        self._report.moved()
        self._writing.finish(0)
        self._writing.start()
        self._prepare()
        self._writing.start()
        self._commits.send()
        self._fetch()
        if self._writing.busy:
            self._in_flight.look_ahead()
        if self._writing.busy_seconds >= self._policy.silence_seconds:
            self._report.silent(self._writing.busy_seconds)
        self._report.show(self._in_flight, paused=self._paused, committing=self._commits.backoff.attempts == 0)

    # Fetching and preparing.

    def _prepare(self) -> None:
        """Decode and fold, once a whole batch is there; less than that only while nothing else waits to be written."""
        in_flight = self._in_flight
        idle = in_flight.current is None
        if (
            in_flight.prepared is not None
            or not in_flight.anything_fetched
            or not (in_flight.full or idle or self._stopping)
        ):
            return
        if not self._decode_backoff.due:
            return
        try:
            in_flight.prepare(partial(prepare, how=self._parts.preparation))
        except SchemasUnavailableError as error:
            self._decode_backoff.failed()
            self._report.trouble(error)
        else:
            self._decode_backoff.succeeded()
            self._report.over(RetryCause.SCHEMAS)

    def _fetch(self) -> None:
        in_flight, source = self._in_flight, self._parts.source
        waiting = self._writing.backoff.attempts > 0 or self._decode_backoff.attempts > 0
        writing = self._writing.busy
        passing = not waiting and not in_flight.overfull and self._writing.busy_seconds < self._policy.stall_seconds
        if in_flight.full and writing and passing:
            # The database is what everything waits for. Pausing would throw away what librdkafka fetched ahead; polling
            # for one record at a time keeps rebalances and commits going.
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

    # Callbacks of the source (`source.SourceListener`), within a poll or its closing.

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """These are ours now."""
        self._hold(self._assigned | partitions, Rebalance.ASSIGNED, partitions)

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """These go: finish and commit what is being written of them, while the policy allows; drop the rest."""
        deadline = Deadline(self._policy.drain_seconds, self._clock)
        while self._writing.writes(partitions) and not deadline.passed:
            self._writing.finish(min(0.1, deadline.remaining_seconds))
        try:
            self._commits.flush(partitions)
        except BrokerUnavailableError as error:
            self._report.commit_failed(error)  # its next owner reads again what isn't committed
        self._forget(partitions)
        self._hold(self._assigned - partitions, Rebalance.REVOKED, partitions)

    def lost(self, partitions: frozenset[Partition]) -> None:
        """These are gone: drop what is in flight of them."""
        self._forget(partitions)
        self._hold(self._assigned - partitions, Rebalance.LOST, partitions)

    def committed(self, error: BrokerUnavailableError | None) -> None:
        """The brokers' answer to the last commit."""
        self._commits.answered(confirmed=error is None)
        if error is not None:
            self._report.commit_failed(error)

    def _forget(self, partitions: frozenset[Partition]) -> None:
        self._report.released(self._in_flight.drop(partitions, writing=self._writing.busy))
        self._commits.drop(partitions)
        if not self._in_flight.anything_fetched:
            self._decode_backoff.succeeded()  # what couldn't be decoded is gone with its partition

    def _hold(self, partitions: frozenset[Partition], kind: Rebalance, moved: frozenset[Partition]) -> None:
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
        """Write and commit what is in flight. Trouble on the way ends it: what isn't committed is read again."""
        deadline = Deadline(self._policy.drain_seconds, self._clock)
        self._stopping = True
        if not self._writing.started:
            return
        self._parts.source.pause()
        while not (self._in_flight.empty and self._commits.idle) and not self._in_trouble and not deadline.passed:
            self._report.moved()
            self._writing.start()
            self._prepare()
            self._writing.finish(min(self._policy.idle_seconds, deadline.remaining_seconds))
            self._commits.send()
            # For the answer to the commit; paused, it brings no records.
            self._poll(max_records=1, max_bytes=1, timeout_seconds=self._policy.busy_seconds)

    @property
    def _in_trouble(self) -> bool:
        return any(backoff.attempts for backoff in (self._writing.backoff, self._decode_backoff, self._commits.backoff))
