"""Documents of one request: sent to the sink, and settled by the outcomes of their events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from headwater_openlineage.intake.receiving import Refusal, RefusalReason, receive
from headwater_openlineage.intake.sink import IntakeSink, SinkFullError, Undeliverable
from headwater_openlineage.lenient import IntakeNote
from headwater_schemas.errors import EncodeError
from headwater_schemas.events import LineageEvent


@dataclass(slots=True)
class RequestOutcome:
    """Result of a request.

    Attributes:
        events: number of events sent for the documents.
        refused: refusals by the document's index.
        notes: values that were filled in or not read, by the index of the accepted document.
        unavailable: reason why some valid documents could not be delivered; None if all were delivered.
    """

    documents: int = 0
    events: int = 0
    refused: dict[int, Refusal] = field(default_factory=dict)
    notes: dict[int, tuple[IntakeNote, ...]] = field(default_factory=dict)
    unavailable: str | None = None

    @property
    def accepted(self) -> int:
        """Number of documents on the topic, if nothing was unavailable."""
        return self.documents - len(self.refused)


class IntakeRequest:
    """Sends documents, and calls back when all of their events are settled.

    Args:
        max_bytes: maximum length of a document.
        strict: whether to refuse documents that would otherwise be repaired, with notes.
        redacting: whether to remove likely credentials, with a note.
        done: called once, from any thread, when `send` has ended and the last event is settled.
    """

    def __init__(
        self,
        sink: IntakeSink,
        *,
        tenant: str,
        max_bytes: int,
        done: Callable[[], None],
        strict: bool = False,
        redacting: bool = True,
    ) -> None:
        self.outcome = RequestOutcome()
        self._sink = sink
        self._tenant = tenant
        self._max_bytes = max_bytes
        self._strict = strict
        self._redacting = redacting
        self._done = done
        self._lock = threading.Lock()
        self._unsettled = 1  # `send` itself counts as one

    def send(self, documents: Iterable[bytes]) -> None:
        """Send documents until the sink accepts no more events; never waits for Kafka."""
        outcome = self.outcome
        for index, document in enumerate(documents):
            outcome.documents += 1
            received = receive(
                document,
                tenant=self._tenant,
                max_bytes=self._max_bytes,
                strict=self._strict,
                redacting=self._redacting,
            )
            if isinstance(received, Refusal):
                outcome.refused[index] = received
                continue
            if received.notes:
                outcome.notes[index] = received.notes
            if not self._sent(index, received.events):
                break
        self._settle()

    def send_events(self, events: Sequence[LineageEvent]) -> None:
        """Send the events of one document, one by one, until the sink accepts no more; never waits for Kafka.

        A document may have more events than the sink accepts at once.
        """
        self.outcome.documents = 1
        for event in events:
            if not self._sent(0, [event]) or self.outcome.refused:
                break
        self._settle()

    def _sent(self, index: int, events: Sequence[LineageEvent]) -> bool:
        """Send a document's events; return True if the sink accepts more."""
        outcome = self.outcome
        with self._lock:
            self._unsettled += 1
        try:
            self._sink.send(events, partial(self._settled, index))
        except EncodeError as error:
            outcome.refused[index] = Refusal(RefusalReason.BREAKS_CONTRACT, "", str(error))
        except SinkFullError as error:
            outcome.unavailable = str(error)
            self._settle()
            return False
        else:
            outcome.events += len(events)
            return True
        self._settle()
        return True

    def _settled(self, index: int, failures: Sequence[Undeliverable]) -> None:
        for failure in failures:
            with self._lock:
                if failure.for_good:
                    self.outcome.refused[index] = Refusal(RefusalReason.TOO_LARGE, "", failure.reason)
                else:
                    self.outcome.unavailable = failure.reason
        self._settle()

    def _settle(self) -> None:
        with self._lock:
            self._unsettled -= 1
            last = not self._unsettled
        if last:
            self._done()
