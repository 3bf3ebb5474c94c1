"""Fetched records on their way to a batch: what may be committed never goes beyond what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.kafka.source import Polled
from headwater_consumers.materializer.batch import BatchPreparation, EarlyDecoder, RecordBatch, prepare
from headwater_consumers.materializer.in_flight import InFlight
from headwater_consumers.materializer.limits import BatchLimit, BatchPolicy
from headwater_schemas.codec import Decoder
from support.materializer.events import good
from support.materializer.graph import fold_ids

ZERO, ONE = Partition("t", 0, "a"), Partition("t", 1, "a")


def record(offset: int, partition: Partition = ZERO) -> FetchedRecord:
    return FetchedRecord(partition, offset, good(offset), None, (), None)


def how() -> BatchPreparation:
    return BatchPreparation(Decoder(), lambda _: None, fold_ids, lambda *_: None, lambda: 0.0)


def in_flight_of(records: int) -> InFlight:
    return InFlight(BatchLimit(BatchPolicy(max_records=records)), EarlyDecoder(how()))


def batch(records: Sequence[FetchedRecord], reached: Mapping[Partition, int], ahead: EarlyDecoder) -> RecordBatch:
    return prepare(records, reached, ahead, how())


def prepared(in_flight: InFlight) -> RecordBatch:
    in_flight.prepare(batch)
    assert in_flight.prepared is not None
    made, in_flight.prepared = in_flight.prepared, None
    return made


def polled(*records: FetchedRecord, reached: Mapping[Partition, int] | None = None) -> Polled:
    return Polled(records=records, reached=dict(reached or {}))


def test_an_end_is_committed_only_with_the_last_of_what_was_fetched_before_it() -> None:
    """Offset 5 was reached behind records 0 to 2: committed with the first two, record 2 would never be written."""
    in_flight = in_flight_of(2)
    in_flight.add(polled(record(0), record(1), record(2), reached={ZERO: 5}))
    assert prepared(in_flight).offsets == {ZERO: 2}
    assert prepared(in_flight).offsets == {ZERO: 5}
    assert in_flight.empty


def test_an_end_right_behind_the_last_record_is_no_batch_of_its_own() -> None:
    in_flight = in_flight_of(10)
    in_flight.add(polled(record(0), record(1), reached={ZERO: 2}))
    assert prepared(in_flight).reached == {}
    in_flight.add(polled(reached={ZERO: 2}))
    assert not in_flight.anything_fetched, "2 is committed with record 1 already"


def test_an_end_beyond_control_records_is_committed_without_a_record() -> None:
    in_flight = in_flight_of(10)
    in_flight.add(polled(record(0)))
    prepared(in_flight)
    in_flight.add(polled(reached={ZERO: 3}))
    assert in_flight.anything_fetched
    assert prepared(in_flight).offsets == {ZERO: 3}
    in_flight.add(polled(reached={ZERO: 3}))
    assert not in_flight.anything_fetched, "once"


def test_a_partition_that_went_away_takes_its_records_and_ends_along() -> None:
    in_flight = in_flight_of(10)
    in_flight.add(polled(record(0), record(7, ONE), reached={ZERO: 4, ONE: 9}))
    in_flight.drop([ZERO], writing=False)
    assert prepared(in_flight).offsets == {ONE: 9}


def test_a_prepared_batch_with_a_lost_partition_is_made_again_without_it() -> None:
    in_flight = in_flight_of(10)
    in_flight.add(polled(record(0), record(7, ONE), reached={ZERO: 4, ONE: 9}))
    in_flight.prepare(batch)
    in_flight.add(polled(record(9, ONE), reached={ONE: 12}))
    in_flight.drop([ZERO], writing=False)
    again = prepared(in_flight)
    assert [(each.partition, each.offset) for each in again.records] == [(ONE, 7), (ONE, 9)]
    assert again.offsets == {ONE: 12}, "the later end of the two"


def test_a_batch_holds_one_record_however_large_it_is() -> None:
    in_flight = InFlight(BatchLimit(BatchPolicy(max_records=10, max_bytes=1)), EarlyDecoder(how()))
    in_flight.add(polled(record(0), record(1)))
    assert prepared(in_flight).offsets == {ZERO: 1}
    assert prepared(in_flight).offsets == {ZERO: 2}


def test_a_batch_that_is_taken_back_keeps_the_end_it_reached() -> None:
    in_flight = in_flight_of(10)
    in_flight.add(polled(record(0), record(7, ONE), reached={ZERO: 4, ONE: 9}))
    in_flight.prepare(batch)
    in_flight.drop([ZERO], writing=False)
    assert prepared(in_flight).offsets == {ONE: 9}


def test_an_end_is_not_committed_after_a_record_that_lies_beyond_it() -> None:
    in_flight = in_flight_of(1)
    in_flight.add(polled(record(0), reached={ZERO: 4}))
    in_flight.add(polled(record(4), record(7, ONE)))
    assert [prepared(in_flight).offsets for _ in range(3)] == [{ZERO: 1}, {ZERO: 5}, {ONE: 8}]


def test_an_end_that_is_taken_back_is_not_committed_after_a_record_that_lies_beyond_it() -> None:
    in_flight = InFlight(BatchLimit(BatchPolicy(max_records=2)), EarlyDecoder(how()))
    in_flight.add(polled(record(7, ONE), record(0), reached={ZERO: 4}))
    in_flight.prepare(batch)
    in_flight.add(polled(record(4)))
    in_flight.drop([ONE], writing=False)
    in_flight.add(polled(record(5), record(6)))
    assert [prepared(in_flight).offsets for _ in range(2)] == [{ZERO: 5}, {ZERO: 7}]
