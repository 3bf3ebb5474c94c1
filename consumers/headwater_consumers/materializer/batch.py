"""Batch: folded events of valid records, dead letters of invalid ones, and the offsets to commit afterwards.

    record ⇒ event or dead letter    `decode_one`; pure, except for the look-up of newer schemas
    the next records ⇒ events        `EarlyDecoder`, as records arrive, while the previous batch is being written
    records ⇒ batch                  `prepare`

A batch is built when it is full, or when the previous batch has been written; until then records are added. Without
early decoding, records of a caught-up topic would be decoded only while the database is idle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from headwater_consumers.kafka.attempts import SET_ASIDE_AFTER
from headwater_consumers.kafka.records import Decoded, FetchedRecord, Partition, Unread, next_offsets
from headwater_consumers.materializer.dead_letters.letter import MATERIALIZER, DeadLetter, DeadLetterStage
from headwater_consumers.materializer.errors import DeadLetterReason, PermanentError
from headwater_consumers.materializer.future import as_counted
from headwater_consumers.materializer.graph import Fold, Folded, checked_fold
from headwater_consumers.materializer.limits import FUTURE_MAX_SECONDS
from headwater_consumers.materializer.metrics import PipelineStep
from headwater_graph.fold.rejection import Rejection
from headwater_schemas.errors import DecodeError, LineageError
from headwater_schemas.events import LineageEvent


class EventDecoder(Protocol):
    """Methods of `headwater_schemas.codec.Decoder` that this module calls."""

    def decode(self, value: bytes | None) -> LineageEvent:
        """Decode the event in a record's value.

        Raises:
            DecodeError: this version can never decode the value.
            SchemasUnavailableError: the schema can't be looked up now.
        """


Reject = Callable[[LineageEvent], Rejection | None]


def decode_one(record: FetchedRecord, how: BatchPreparation) -> Decoded | DeadLetter:
    """Decode one record.

    Raises:
        SchemasUnavailableError: a schema can't be looked up now; call again with the same record.
        FatalError: schemas can't be looked up with these settings.
    """
    if record.unread is not None:
        return unread_letter(record, record.unread)
    if record.ends_consumers:
        message = f"Consumers ended {SET_ASIDE_AFTER} times in a row while they processed this record."
        return DeadLetter(record, DeadLetterReason.SKIPPED, DeadLetterStage.DECODE, "", message)
    try:
        event = how.decoder.decode(record.value)
    except DecodeError as error:
        return _undecodable(record, error)
    if (letter := _rejected(record, event, how.reject)) is not None:
        return letter
    counted = as_counted(event, record.timestamp_ms, how.future_max_seconds)
    return Decoded(record, counted, of_future=counted is not event)


def unread_letter(record: FetchedRecord, unread: Unread, by: str = MATERIALIZER) -> DeadLetter:
    """Build the letter of a record without bytes; the letter has only coordinates."""
    reason = DeadLetterReason.TOO_LARGE if unread.fetched else DeadLetterReason.UNFETCHABLE
    return DeadLetter(record, reason, DeadLetterStage.DECODE, "", f"{unread.why[0].upper()}{unread.why[1:]}.", by=by)


def _undecodable(record: FetchedRecord, error: DecodeError) -> DeadLetter:
    return DeadLetter(
        record,
        DeadLetterReason(error.reason.value),
        DeadLetterStage.DECODE,
        error=f"{type(error).__module__}.{type(error).__name__}",
        message=str(error),
        event_id=error.event_id or "",
    )


def _rejected(record: FetchedRecord, event: LineageEvent, reject: Reject) -> DeadLetter | None:
    try:
        rejection = reject(event)
    except Exception as error:  # noqa: BLE001 - a defect that one event triggers must not stop the others
        name = type(error).__name__
        return DeadLetter(
            record, DeadLetterReason.FOLD_FAILED, DeadLetterStage.APPLY, name, f"Checking the event raised {name}."
        )
    if rejection is None:
        return None
    error_class = type(rejection)
    return DeadLetter(
        record,
        DeadLetterReason(rejection.reason.value),
        DeadLetterStage.APPLY,
        error=f"{error_class.__module__}.{error_class.__name__}",
        message=rejection.message,
        event_id=event.event_id,
    )


_AT_ONCE = 50  # some 5 ms, during which the end of a transaction isn't noticed
# Maximum number of records decoded early: events take ten times the memory of their records.
_AT_MOST = 1_000


class EarlyDecoder:
    """Decoder of the first fetched records while the database still writes the previous batch.

    Attributes:
        outcomes: event or dead letter of each record decoded so far, in the order of the records.
        seconds: time spent on decoding the records.
    """

    def __init__(self, how: BatchPreparation) -> None:
        self._how = how
        self._in_trouble = False
        self.outcomes: list[Decoded | DeadLetter] = []
        self.seconds = 0.0

    def decode_more(self, fetched: Sequence[FetchedRecord]) -> None:
        """Decode a few more records. After an error, stop: `prepare` decodes the record again and raises the error."""
        decoded = len(self.outcomes)
        if self._in_trouble or decoded >= min(len(fetched), _AT_MOST):
            return
        began = self._how.clock()
        try:
            for record in islice(fetched, decoded, min(decoded + _AT_ONCE, _AT_MOST)):
                self.outcomes.append(decode_one(record, self._how))
        except LineageError:
            self._in_trouble = True
        self.seconds += self._how.clock() - began

    def forget(self, partitions: Collection[Partition]) -> None:
        """Drop the outcomes of these partitions' records."""
        self.outcomes = [outcome for outcome in self.outcomes if outcome.record.partition not in partitions]

    def clear(self) -> None:
        """Drop all outcomes, because other records have come before the records that were decoded early."""
        self.outcomes = []

    def take(self, count: int) -> tuple[list[Decoded | DeadLetter], float]:
        """Return the outcomes of the first `count` records at most, and `seconds`. `taken` drops these outcomes."""
        return self.outcomes[:count], self.seconds

    def taken(self, count: int) -> None:
        """Drop the outcomes of the `count` records of the last batch."""
        del self.outcomes[:count]
        self.seconds = 0.0
        self._in_trouble = False


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Decoded and folded records, ready to be written.

    Attributes:
        records: all records of the batch, for rebuilding it without a revoked partition.
        folded: the folded events; None without events, or if folding them together raised.
        reached: reached end offsets of partitions, after the records.
        offsets: offsets to commit once events are written and letters acknowledged.
    """

    records: tuple[FetchedRecord, ...]
    events: tuple[Decoded, ...]
    folded: Folded | None
    letters: tuple[DeadLetter, ...]
    reached: Mapping[Partition, int]
    offsets: Mapping[Partition, int]


@dataclass(frozen=True, slots=True)
class BatchPreparation:
    """Functions and limits for building batches.

    Attributes:
        decoder: decoder of records' values. It looks new fingerprints up before it rejects them as unknown.
        reject: function that finds values of an event that the graph can't store.
        timed: called with the seconds that decoding and folding took.
        clock: monotonic seconds.
        future_max_seconds: longest time that an event's times may be ahead of its record's (`future`).
    """

    decoder: EventDecoder
    reject: Reject
    fold: Fold
    timed: Callable[[PipelineStep, float], None]
    clock: Callable[[], float]
    future_max_seconds: float = FUTURE_MAX_SECONDS


def prepare(
    records: Sequence[FetchedRecord], reached: Mapping[Partition, int], early: EarlyDecoder, how: BatchPreparation
) -> RecordBatch:
    """Decode and fold, on the thread that fetches, while the previous batch is being written.

    Args:
        reached: reported end offsets of partitions (see `records.next_offsets`).
        early: early decoder, with the outcomes of the first records.

    Raises:
        SchemasUnavailableError: call again with the same records.
        FatalError: schemas can't be looked up with these settings.
    """
    started = how.clock()
    outcomes, seconds = early.take(len(records))
    outcomes += [decode_one(record, how) for record in records[len(outcomes) :]]
    events = tuple(outcome for outcome in outcomes if isinstance(outcome, Decoded))
    letters = tuple(outcome for outcome in outcomes if isinstance(outcome, DeadLetter))
    decoded_at = how.clock()
    how.timed(PipelineStep.DECODE, seconds + decoded_at - started)
    folded: Folded | None = None
    if events:
        try:
            folded = checked_fold(how.fold, [item.event for item in events])
        except PermanentError:
            folded = None  # the checkpoint folds again, in halves, and finds the event at fault
        how.timed(PipelineStep.FOLD, how.clock() - decoded_at)
    return RecordBatch(tuple(records), events, folded, letters, reached, next_offsets(records, reached))
