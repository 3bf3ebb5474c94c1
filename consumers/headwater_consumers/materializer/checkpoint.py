"""Checkpoint: the order of the steps that make a batch durable.

    1  commit to Neo4j                   after a crash here: applied again, which changes nothing
    2  dead letters acknowledged         after a crash here: sent again, counted once by their coordinates
    3  offsets committed to Kafka        after a crash here: nothing to do

After an error the next attempt continues at the failed step, so an unavailable dead-letter topic doesn't cause the
graph to be written again.

Steps 1 and 2 are `BatchCheckpoint.advance`, in the lane. Step 3 is `Commits`, on the loop's thread, because librdkafka
ties a consumer to one thread. It doesn't wait for the brokers, because the loop has to continue while they are
unavailable. Unconfirmed offsets are kept; the next attempt commits the newest ones.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from headwater_consumers.kafka.backoff import Backoff
from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.kafka.records import Decoded, Partition
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.batch import RecordBatch
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, DeadLetterStage
from headwater_consumers.materializer.dead_letters.topic import DeadLetterSink, DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import (
    DeadLetterReason,
    EventRefusedError,
    GraphUnavailableError,
    OverCapacityError,
    PermanentError,
    UndecidedError,
)
from headwater_consumers.materializer.graph import Fold, Folded, GraphStore, checked_fold
from headwater_consumers.materializer.limits import DeadLetterLimit
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.errors import LineageError
from headwater_schemas.tracing import span

# If a single event fails with a database error (out of memory, an internal error), the cause may be a temporary fault
# that was over when the database was probed. After this number of tries, with back-off, the event counts as the cause.
TRIES_ALONE = 4
# If a healthy database becomes unavailable repeatedly during the same write, the write may be the cause, for example
# because the process runs out of memory. For a batch that was already halved, one such failure is enough.
BREAKS = 2


class Observer(Protocol):
    """Receives the progress of a checkpoint (totals and metrics)."""

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        """Handle a committed transaction with these events."""

    def split(self, events: int, error: LineageError) -> None:
        """Handle the split of a batch of `events` events because of this error."""

    def acknowledged(self, letters: Sequence[DeadLetter], seconds: float) -> None:
        """Handle the acknowledgement of dead letters."""


@dataclass(frozen=True, slots=True)
class CheckpointContext:
    """Dependencies of all checkpoints: graph, dead-letter sink, policy and clock."""

    graph: GraphStore
    dead_letters: DeadLetterSink
    fold: Fold
    limit: DeadLetterLimit
    observer: Observer
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class _Slice:
    """Events that still have to be written together; `folded` is None if they aren't folded yet."""

    events: Sequence[Decoded]
    folded: Folded | None


class Wait(NamedTuple):
    """External system that a step needs, and the step's start in seconds of the checkpoints' clock."""

    cause: RetryCause
    since: float


class BatchCheckpoint:
    """Progress of one batch. Call `advance`, from one thread at a time, until it returns without an error.

    Attributes:
        was_split: True if the batch was halved because it needed too much memory or time.
        size: original number of records of the batch, including those of revoked partitions.
        reasons: number of known dead letters among the records, by reason.
        waits: external system that the current step waits for.
    """

    def __init__(self, batch: RecordBatch, context: CheckpointContext) -> None:
        self.batch = batch
        self.was_split = False
        self.size = len(batch.records)
        self._context = context
        self._unwritten = deque([_Slice(batch.events, batch.folded)] if batch.events else [])
        self._unsent = list(batch.letters)
        self.reasons: Counter[DeadLetterReason] = Counter(letter.reason for letter in batch.letters)
        self._limit_checked = False
        self._tries_alone = 0
        self._broke = False  # True if the last attempt may have crashed the database
        self._breaks = 0  # number of such attempts on a healthy database
        self.waits = Wait(RetryCause.GRAPH, context.clock())

    @property
    def letters(self) -> int:
        """Number of known dead letters among the records."""
        return self.reasons.total()

    def disown(self, partitions: Collection[Partition]) -> None:
        """Leave these partitions out of the commit, because another member gets them, or they are assigned again.

        Their current writes continue, which is harmless.
        """
        batch = self.batch
        self.batch = replace(
            batch,
            records=tuple(record for record in batch.records if record.partition not in partitions),
            reached={p: offset for p, offset in batch.reached.items() if p not in partitions},
            offsets={p: offset for p, offset in batch.offsets.items() if p not in partitions},
        )

    def advance(self) -> None:
        """Do the rest of steps 1 and 2. Step 3 may follow only after this has returned.

        Raises:
            TransientError: call again later.
            FatalError: don't call again.
        """
        with span("checkpoint", self._attributes()):
            # Step 1: commit to Neo4j.
            self.waits = Wait(RetryCause.GRAPH, self._context.clock())
            self._write()
            # Step 2: dead letters acknowledged.
            self.waits = Wait(RetryCause.DEAD_LETTERS, self._context.clock())
            self._send_letters()
        self._context.limit.record(len(self.batch.records), self.letters)

    def _attributes(self) -> dict[str, Any]:
        """Attributes of the tracing span: offsets of the records."""
        offsets = sorted(self.batch.offsets.items())
        return {
            "messaging.system": "kafka",
            "messaging.operation.type": "process",
            "messaging.batch.message_count": len(self.batch.records),
            "headwater.partitions": [partition.number for partition, _ in offsets],
            "headwater.offsets": [offset for _, offset in offsets],
            "headwater.dead_letters": self.letters,
        }

    def _write(self) -> None:
        while self._unwritten:
            part = self._unwritten[0]
            was_healthy = self._broke
            if was_healthy:
                self._context.graph.probe()  # raises if the database isn't healthy
            started = self._context.clock()
            try:
                with span("write", {"db.system.name": "neo4j", "headwater.events": len(part.events)}):
                    folded = part.folded
                    if folded is None:
                        folded = checked_fold(self._context.fold, [item.event for item in part.events])
                    summary = self._context.graph.apply(folded)
            except OverCapacityError as error:
                self.was_split = True
                self._split_if_healthy(part, error)
            except GraphUnavailableError as error:
                self._on_unavailable(part, error, was_healthy=was_healthy)
            except UndecidedError as error:
                self._split_if_healthy(part, EventRefusedError(str(error), code=error.code))
            except PermanentError as error:
                self._split_or_reject(part, error)
            else:
                self._unwritten.popleft()
                self._broke, self._breaks = False, 0
                self._context.observer.wrote(part.events, self._context.clock() - started, summary)

    def _on_unavailable(self, part: _Slice, error: GraphUnavailableError, *, was_healthy: bool) -> None:
        """Raise the error, so that the loop waits for the database; split the part if its write is the likely cause."""
        self._breaks += was_healthy and error.broke
        self._broke = self._broke or error.broke
        if self._breaks < (1 if self.was_split and len(part.events) > 1 else BREAKS):
            raise error
        self.was_split, self._broke, self._breaks = True, True, 0
        self._split_or_reject(part, OverCapacityError(f"The write ends the database: {error}", code=error.code))

    def _split_if_healthy(self, part: _Slice, error: PermanentError) -> None:
        """Split the part if the database is healthy; a single event is rejected after `TRIES_ALONE` failures."""
        self._context.graph.probe()  # raises if the database isn't healthy: this part then stays first
        if len(part.events) == 1:
            self._tries_alone += 1
            if self._tries_alone < TRIES_ALONE:
                raise GraphUnavailableError(str(error), code=error.code) from error
        self._split_or_reject(part, error)

    def _split_or_reject(self, part: _Slice, error: PermanentError) -> None:
        """Halve the part, or make a dead letter of its only record."""
        self._tries_alone = 0
        self._unwritten.popleft()
        if len(part.events) > 1:
            self._context.observer.split(len(part.events), error)
            middle = len(part.events) // 2
            self._unwritten.extendleft([_Slice(part.events[middle:], None), _Slice(part.events[:middle], None)])
            return
        bad = part.events[0]
        name = f"{type(error).__module__}.{type(error).__name__}"
        letter = DeadLetter(bad.record, error.reason, DeadLetterStage.APPLY, name, str(error), bad.event.event_id)
        self._unsent.append(letter)
        self.reasons[letter.reason] += 1

    def _send_letters(self) -> None:
        if not self._unsent:
            return
        if not self._limit_checked:
            self._context.limit.check(len(self.batch.records), self.letters)
            self._limit_checked = True
        before = self._unsent
        started = self._context.clock()
        try:
            with span("dead letters", {"messaging.system": "kafka", "headwater.dead_letters": len(before)}):
                self._context.dead_letters.send(before)
        except DeadLettersUndeliveredError as error:
            self._unsent = list(error.remaining)
            unsent = {id(letter) for letter in self._unsent}
            sent = [letter for letter in before if id(letter) not in unsent]
            self._context.observer.acknowledged(sent, self._context.clock() - started)
            raise
        self._unsent = []
        self._context.observer.acknowledged(before, self._context.clock() - started)


class Commits:
    """Offsets of processed records (in the graph or on the dead-letter topic) that have to be committed.

    Args:
        confirmed: called with the committed offsets, and the duration of the commit.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        source: RecordSource,
        backoff: Backoff,
        confirmed: Callable[[Mapping[Partition, int], float], None],
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._confirmed = confirmed
        self._clock = clock
        self._pending: dict[Partition, int] = {}
        self._sent: dict[Partition, int] | None = None
        self._sent_at = 0.0
        self.backoff = backoff

    @property
    def idle(self) -> bool:
        """True if every commit is confirmed."""
        return not self._pending

    @property
    def pending(self) -> Mapping[Partition, int]:
        """Unconfirmed offsets; all records before them have passed steps 1 and 2."""
        return self._pending

    def add(self, offsets: Mapping[Partition, int]) -> None:
        """Add the offsets of a batch after its steps 1 and 2."""
        self._pending.update(offsets)

    def send(self) -> None:
        """Send pending offsets, unless a commit is running or a retry has to wait.

        Raises:
            FatalError: the offsets can't be committed without a change of settings.
        """
        if self._pending and self._sent is None and self.backoff.due:
            self._sent, self._sent_at = dict(self._pending), self._clock()
            self._source.commit(self._sent)

    def answered(self, *, confirmed: bool) -> None:
        """Handle the brokers' answer to the last commit."""
        sent, self._sent = self._sent, None
        if sent is None:
            return
        if confirmed:
            self.backoff.succeeded()
            self._settle(sent)
        elif self._pending:
            self.backoff.failed()

    def flush(self, partitions: Iterable[Partition]) -> None:
        """Commit pending offsets of these partitions and wait, before another member gets the partitions.

        Raises:
            BrokerUnavailableError: the commit isn't confirmed.
            FatalError: the offsets can't be committed without a change of settings.
        """
        leaving = {p: self._pending[p] for p in partitions if p in self._pending}
        if leaving:
            self._sent_at = self._clock()
            self._source.commit_now(leaving)
            self._settle(leaving)

    def drop(self, partitions: Iterable[Partition]) -> None:
        """Drop these partitions. Another member owns them now, and starts at the confirmed offsets."""
        for partition in partitions:
            self._pending.pop(partition, None)
        if not self._pending:
            self.backoff.succeeded()  # no pending commit is left that could fail

    def _settle(self, offsets: dict[Partition, int]) -> None:
        for partition, offset in offsets.items():
            if self._pending.get(partition) == offset:
                del self._pending[partition]
        self._confirmed(offsets, self._clock() - self._sent_at)
