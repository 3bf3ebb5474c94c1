"""Events of a document on their way through the publisher: settled together, with what wasn't delivered."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from headwater.publishing import PublisherSink
from headwater_openlineage.intake.sink import SinkFullError, Undeliverable
from headwater_producers.publisher import BufferFullError, FailedEvent, FailureKind
from headwater_producers.publisher.ledger import Settled
from headwater_schemas.errors import EncodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.record import Record
from support.events import full_job_event, full_run_event


class FakePublisher:
    problem = None

    def __init__(self) -> None:
        self.taken: list[Sequence[Record]] = []
        self.settled: list[Settled] = []
        self.full = False

    def publish_records(self, records: Sequence[Record], settled: Settled) -> None:
        if self.full:
            raise BufferFullError("3 events wait")
        self.taken.append(records)
        self.settled.append(settled)


def sent(publisher: FakePublisher, *events: LineageEvent) -> list[Sequence[Undeliverable]]:
    found: list[Sequence[Undeliverable]] = []
    PublisherSink(publisher).send(events, found.append)  # type: ignore[arg-type]
    return found


def test_a_documents_events_are_settled_once_when_the_last_of_them_is() -> None:
    publisher, events = FakePublisher(), (full_run_event(), full_job_event())
    found = sent(publisher, *events)
    [records], [settled] = publisher.taken, publisher.settled
    assert [record.event_id for record in records] == [event.event_id for event in events]
    settled(None)
    assert not found
    settled(FailedEvent(events[1].event_id, "MSG_SIZE_TOO_LARGE", FailureKind.TOO_LARGE))
    assert found == [[Undeliverable(events[1].event_id, "MSG_SIZE_TOO_LARGE", for_good=True)]]


def test_of_a_document_that_breaks_the_contract_nothing_is_sent() -> None:
    publisher, broken = FakePublisher(), msgspec.structs.replace(full_job_event(), kind="RUN")
    with pytest.raises(EncodeError):
        sent(publisher, full_run_event(), broken)
    assert not publisher.taken


def test_a_full_publisher_is_a_full_sink() -> None:
    publisher = FakePublisher()
    publisher.full = True
    with pytest.raises(SinkFullError, match="3 events wait"):
        sent(publisher, full_run_event())
