"""Spacing: micro-batches of a streaming query are held back, so that those of some minutes share one document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

import msgspec

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_schemas.events import IntervalEvent, LineageEvent
from headwater_schemas.identity import event_id

MOST_MICRO_BATCHES: Final = 500
"""Maximum number of held micro-batches per query: their common document must not be too large for collectors."""


class Released(NamedTuple):
    """An event that is to be sent now.

    Attributes:
        event: original event, or one with the micro-batches of several events.
        record: record of the event, or of the last of several events.
    """

    event: LineageEvent
    record: FetchedRecord


@dataclass(slots=True)
class _Held:
    """Held micro-batches of one query and run.

    Attributes:
        event: latest event with micro-batches.
        since: time from which the micro-batches are held, in monotonic seconds.
    """

    event: LineageEvent
    body: IntervalEvent
    record: FetchedRecord
    offset: int
    since: float

    def released(self) -> Released:
        event = msgspec.structs.replace(self.event, interval_event=self.body)
        return Released(msgspec.structs.replace(event, event_id=event_id(event)), self.record)


_Key: TypeAlias = tuple[Partition, str, str | None]


class Spacing:
    """Holds micro-batches back, separately for each query, and joins consecutive ones.

    The micro-batches of a query are released together

    - after `minutes`, by the clock or by their processing times;
    - before another event of their run;
    - before a micro-batch that isn't the next one.

    Their records' offsets must not be committed earlier (`committable`), so a crash loses no micro-batch.

    Args:
        minutes: minutes between two documents of a query.
        clock: monotonic seconds.
    """

    def __init__(self, minutes: float, clock: Callable[[], float]) -> None:
        self._seconds = minutes * 60
        self._clock = clock
        self._held: dict[_Key, _Held] = {}

    def through(self, event: LineageEvent, record: FetchedRecord) -> Iterator[Released]:
        """Add an event, and return the events to be sent now, in order."""
        body = event.interval_event
        if body is None or event.document is not None:
            yield from self._of_run(event)
            yield Released(event, record)
            return
        key = (record.partition, body.query_id, None if event.run is None else event.run.run_id)
        held = self._held.pop(key, None)
        if held is not None and not _follows(held, event, body):
            yield held.released()
            held = None
        if held is None:
            held = _Held(event, body, record, record.offset, self._clock())
        else:
            entries = held.body.entries + body.entries
            held.event, held.record = event, record
            held.body = msgspec.structs.replace(body, entries=entries)
        if len(held.body.entries) >= MOST_MICRO_BATCHES or _span(held.body) >= timedelta(seconds=self._seconds):
            yield held.released()
        else:
            self._held[key] = held

    def due(self) -> list[Released]:
        """Release the micro-batches that have been held for the whole interval."""
        until = self._clock() - self._seconds
        return self._release(key for key, held in self._held.items() if held.since <= until)

    def all(self) -> list[Released]:
        """Release all micro-batches that are held."""
        return self._release(self._held)

    def forget(self, partitions: Collection[Partition]) -> None:
        """Drop micro-batches of partitions that another member now reads from the committed offset."""
        for key in [key for key in self._held if key[0] in partitions]:
            del self._held[key]

    def committable(self, offsets: Mapping[Partition, int]) -> dict[Partition, int]:
        """Return the offsets, lowered to that of the first held micro-batch in each partition."""
        found = dict(offsets)
        for (partition, _, _), held in self._held.items():
            if partition in found:
                found[partition] = min(found[partition], held.offset)
        return found

    def _of_run(self, event: LineageEvent) -> list[Released]:
        if event.run is None:
            return []
        run_id = event.run.run_id
        return self._release(key for key in self._held if key[2] == run_id)

    def _release(self, keys: Collection[_Key] | Iterator[_Key]) -> list[Released]:
        return [self._held.pop(key).released() for key in list(keys)]


def _follows(held: _Held, event: LineageEvent, body: IntervalEvent) -> bool:
    """Return True if an event's micro-batches can share an event with the held ones."""
    before = held.body
    if body.entries[0].batch_id != before.entries[-1].batch_id + 1:
        return False
    same = msgspec.structs.replace(before, entries=body.entries, reason=body.reason) == body
    return same and (event.job, event.producer) == (held.event.job, held.event.producer)


def _span(body: IntervalEvent) -> timedelta:
    times: list[datetime] = [entry.processing_time for entry in body.entries if entry.processing_time is not None]
    return max(times) - min(times) if times else timedelta()
