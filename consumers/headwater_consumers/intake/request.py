"""The documents of one request: sent to the sink, each settled by what became of all of its events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from headwater_consumers.intake.receiving import Refusal, RefusalReason, receive
from headwater_consumers.intake.sink import EventSink, SinkFullError, Undeliverable
from headwater_consumers.intake.splitting import Document
from headwater_schemas.errors import EncodeError
from headwater_schemas.events import LineageEvent


@dataclass(slots=True)
class Outcome:
    """What became of a request's documents.

    Attributes:
        documents: how many there were.
        events: how many events were sent for them.
        refused: by the document's index, why it isn't taken.
        unavailable: why some could not be delivered although nothing is wrong with them; None where none are so.
    """

    documents: int = 0
    events: int = 0
    refused: dict[int, Refusal] = field(default_factory=dict)
    unavailable: str | None = None

    @property
    def accepted(self) -> int:
        """How many documents are on the topic, where nothing was unavailable."""
        return self.documents - len(self.refused)


class Request:
    """Sends documents, and calls back when all of their events are settled.

    Args:
        sink: takes the events.
        tenant: whose lineage it is.
        max_bytes: the longest document that is taken.
        done: called once, from any thread, after `send` and when the last event is settled.
    """

    def __init__(self, sink: EventSink, *, tenant: str, max_bytes: int, done: Callable[[], None]) -> None:
        self.outcome = Outcome()
        self._sink = sink
        self._tenant = tenant
        self._max_bytes = max_bytes
        self._done = done
        self._lock = threading.Lock()
        self._left = 1  # `send` itself

    def send(self, documents: Iterable[Document]) -> None:
        """Send them, as far as the sink takes them; never waits for Kafka.

        Raises:
            NotAnArrayError: as the documents are read; those before were sent, and `done` isn't called.
        """
        outcome = self.outcome
        for document in documents:
            outcome.documents += 1
            received = receive(document.data, tenant=self._tenant, max_bytes=self._max_bytes)
            if isinstance(received, Refusal):
                outcome.refused[document.index] = received
            elif not self._sent(document.index, received):
                break
        self._settle()

    def send_events(self, events: Iterable[LineageEvent]) -> None:
        """Send the events of one document, as far as the sink takes them; never waits for Kafka."""
        self.outcome.documents = 1
        self._sent(0, events)
        self._settle()

    def _sent(self, index: int, events: Iterable[LineageEvent]) -> bool:
        """Send a document's events; whether the sink takes more."""
        outcome = self.outcome
        try:
            for event in events:
                with self._lock:
                    self._left += 1
                try:
                    self._sink.send(event, partial(self._settled, index))
                except BaseException:
                    self._settle()
                    raise
                outcome.events += 1
        except EncodeError as error:
            outcome.refused[index] = Refusal(RefusalReason.BREAKS_CONTRACT, "", str(error))
        except SinkFullError as error:
            outcome.unavailable = str(error)
            return False
        return True

    def _settled(self, index: int, failure: Undeliverable | None) -> None:
        if failure is not None:
            with self._lock:
                if failure.for_good:
                    self.outcome.refused[index] = Refusal(RefusalReason.TOO_LARGE, "", failure.reason)
                else:
                    self.outcome.unavailable = failure.reason
        self._settle()

    def _settle(self) -> None:
        with self._lock:
            self._left -= 1
            last = not self._left
        if last:
            self._done()
