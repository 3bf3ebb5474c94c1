"""Several posts at once: in order for each key, none twice for another's sake; failures are reported by `flush`."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator

import pytest

from headwater_consumers.forward.collectors import (
    CollectorUnavailableError,
    CollectorUnusableError,
    DocumentRefusedError,
    OutgoingDocument,
)
from headwater_consumers.forward.parallel import ParallelCollector
from support.waiting import patience

KEYS = [f"run:shop/job-{number}" for number in range(20)]


class Recorder:
    """Keeps what it is given; raises or refuses what its test names, once each."""

    def __init__(self) -> None:
        self.delivered: list[OutgoingDocument] = []
        self.failing: dict[bytes, Exception] = {}
        self.flushed = 0
        self.closed = False

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        failure = self.failing.get(document.data)
        if isinstance(failure, DocumentRefusedError):
            refused(failure)
        elif failure is not None:
            del self.failing[document.data]
            raise failure
        else:
            self.delivered.append(document)

    def flush(self) -> None:
        self.flushed += 1

    def close(self) -> None:
        self.closed = True


def document(key: str, number: int) -> OutgoingDocument:
    return OutgoingDocument(f"{key} {number}".encode(), key)


DOCUMENTS = [document(key, number) for number in range(5) for key in KEYS]


@pytest.fixture
def recorders() -> list[Recorder]:
    return [Recorder() for _ in range(4)]


@pytest.fixture
def collector(recorders: list[Recorder]) -> Iterator[ParallelCollector]:
    collector = ParallelCollector(recorders)
    yield collector
    collector.close()
    assert all(recorder.closed for recorder in recorders)


def send(collector: ParallelCollector) -> list[DocumentRefusedError]:
    refused: list[DocumentRefusedError] = []
    for each in DOCUMENTS:
        collector.deliver(each, refused.append)
    collector.flush()
    return refused


def lane_of(data: bytes, recorders: list[Recorder]) -> Recorder:
    """Recorder that a document comes through."""
    return recorders[zlib.crc32(data.decode().rpartition(" ")[0].encode()) % len(recorders)]


def all_of(recorders: list[Recorder]) -> list[OutgoingDocument]:
    return [each for recorder in recorders for each in recorder.delivered]


def in_order(recorders: list[Recorder]) -> bool:
    """True when each key's documents came through one collector, in order, each once."""
    for key in KEYS:
        found = [[each for each in recorder.delivered if each.key == key] for recorder in recorders]
        if [each for each in found if each] != [[document(key, number) for number in range(5)]]:
            return False
    return True


def test_documents_of_a_key_stay_in_order(collector: ParallelCollector, recorders: list[Recorder]) -> None:
    assert send(collector) == []
    assert in_order(recorders)
    assert all(recorder.delivered and recorder.flushed == 1 for recorder in recorders)


def test_two_are_posted_at_once() -> None:
    meeting = threading.Barrier(2, timeout=patience(30))

    class Meeting(Recorder):
        def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
            meeting.wait()
            super().deliver(document, refused)

    both: list[Recorder] = [Meeting(), Meeting()]
    collector = ParallelCollector(both)
    of_the_first = [key for key in KEYS if not zlib.crc32(key.encode()) % 2]
    of_the_second = [key for key in KEYS if key not in of_the_first]
    for key in (*of_the_first[:2], *of_the_second[:2]):
        collector.deliver(document(key, 1), lambda _: None)
    collector.flush()
    assert [len(each.delivered) for each in both] == [2, 2]
    collector.close()


def test_after_a_failure_only_what_is_missing_is_delivered_again(
    collector: ParallelCollector, recorders: list[Recorder]
) -> None:
    for recorder in recorders:
        recorder.failing[document(KEYS[7], 2).data] = CollectorUnavailableError("503", after_seconds=3)
        recorder.failing[document(KEYS[4], 1).data] = CollectorUnavailableError("503", after_seconds=9)
    failures: list[float | None] = []
    while any(recorder.failing for recorder in recorders) and len(failures) < 3:
        try:
            send(collector)
        except CollectorUnavailableError as error:
            failures.append(error.after_seconds)
        for recorder in recorders:
            recorder.failing = {
                data: failure for data, failure in recorder.failing.items() if recorder is lane_of(data, recorders)
            }
    assert sorted(filter(None, failures)) in ([3, 9], [9]), "both at once, or one after the other"
    send(collector)
    assert in_order(recorders)
    assert send(collector) == [], "a batch that was flushed is forgotten"
    assert len(all_of(recorders)) == 2 * len(DOCUMENTS)


def test_a_refusal_is_reported_again_with_the_batch(collector: ParallelCollector, recorders: list[Recorder]) -> None:
    for recorder in recorders:
        recorder.failing[DOCUMENTS[0].data] = DocumentRefusedError("422")
        recorder.failing[DOCUMENTS[-1].data] = CollectorUnavailableError("503")
    with pytest.raises(CollectorUnavailableError):
        send(collector)
    assert [str(refusal) for refusal in send(collector)] == ["422"]
    assert len(all_of(recorders)) == len(DOCUMENTS) - 1


def test_what_a_person_has_to_change_wins() -> None:
    barrier = threading.Barrier(4, timeout=patience(30))

    class Together(Recorder):
        """All fail at once: none is asked only after another one's failure."""

        def __init__(self, failure: Exception) -> None:
            super().__init__()
            self.failure = failure

        def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
            barrier.wait()
            raise self.failure

    unusable = CollectorUnusableError("401", setting="--to")
    away = CollectorUnavailableError("503")
    collector = ParallelCollector([Together(away), Together(away), Together(unusable), Together(away)])
    with pytest.raises(CollectorUnusableError):
        send(collector)
    collector.close()
