"""Backlog: the events of one outbox, in memory until they are on disk, then in its file, within size limits."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from headwater_producers.outbox.errors import OutboxClosedError, OutboxFullError
from headwater_producers.outbox.metrics import DropReason, OutboxMetrics
from headwater_producers.outbox.store import Numbered, Store, size_of
from headwater_schemas.record import Record

DEFAULT_MAX_BYTES: Final = 256 * 1024 * 1024
# Maximum size of the events in memory, which accumulate while the disk hangs.
_MAX_UNWRITTEN_BYTES: Final = 64 * 1024 * 1024
_MOVED_AT_ONCE: Final = 1_000
# Maximum number of delivered events that are still in the file: after a crash they are sent once more.
_MAX_OWED: Final = 100


class WhenFull(StrEnum):
    """Overflow policy of an outbox: the events that are dropped when it is full."""

    DROP_NEWEST = "drop_newest"
    DROP_OLDEST = "drop_oldest"


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    """Bounds of an outbox.

    Attributes:
        max_bytes: maximum size of held events, including events of dead outboxes.
        when_full: overflow policy.
    """

    max_bytes: int = DEFAULT_MAX_BYTES
    when_full: WhenFull = WhenFull.DROP_NEWEST


class Backlog:
    """Numbered events of an outbox: unwritten (in memory) or durable (in its file), until delivered or dropped."""

    def __init__(self, store: Store, limits: OutboxLimits, metrics: OutboxMetrics) -> None:
        self.store = store
        self.limits = limits
        self.metrics = metrics
        # One lock with a condition for each kind of waiting thread, so that a change wakes no other threads.
        self.lock = threading.RLock()
        self.to_write = threading.Condition(self.lock)
        self.to_relay = threading.Condition(self.lock)
        self.settled = threading.Condition(self.lock)
        # All below is guarded by the lock.
        self.closed = False
        self.disk_problem: str | None = None
        self.dropped = 0
        self.lost = 0  # events of this outbox that were accepted and later dropped
        self.relayed = 0
        self.adopted: list[Store] = []
        self._unwritten: dict[int, Record] = {}
        self._unwritten_bytes = 0
        self._last = 0
        self._last_durable = 0
        metrics.watch(self)

    # Taking

    def put(self, record: Record) -> None:
        """Put an event into memory.

        Raises:
            OutboxFullError, OutboxClosedError: the event wasn't accepted.
        """
        size = size_of(record)
        with self.lock:
            if self.closed:
                raise OutboxClosedError("the outbox is closed")
            if not self._has_room(size):
                self.dropped += 1
                self.metrics.dropped[DropReason.FULL].inc()
                raise OutboxFullError(
                    f"the event was not taken: the outbox holds {self.bytes} bytes of at most {self.limits.max_bytes}; "
                    "raise outbox_max_bytes, or see why Kafka doesn't take them"
                    + (f"; {self.disk_problem}" if self.disk_problem else "")
                )
            self._last += 1
            self._unwritten[self._last] = record
            self._unwritten_bytes += size
            self.to_write.notify_all()
            if self.disk_problem is not None:
                # The relay takes the event from memory.
                self.to_relay.notify_all()
        self.metrics.taken.inc()

    def _has_room(self, size: int) -> bool:
        if self._unwritten and self._unwritten_bytes + size > _MAX_UNWRITTEN_BYTES:
            return False
        if size > self.limits.max_bytes:
            return False
        # With drop_oldest the writer makes room; putting never waits for the disk.
        return self.limits.when_full is WhenFull.DROP_OLDEST or self.bytes + size <= self.limits.max_bytes

    # Writing

    def unwritten(self, after: int = 0, *, max_events: int) -> list[Numbered]:
        """Return the events in memory, the oldest first."""
        with self.lock:
            return list(islice(((number, r) for number, r in self._unwritten.items() if number > after), max_events))

    @property
    def any_unwritten(self) -> bool:
        """True while some events are in memory only."""
        return bool(self._unwritten)

    @property
    def unwritten_count(self) -> int:
        """Number of events that are in memory only."""
        return len(self._unwritten)

    def written(self, records: Iterable[Numbered]) -> None:
        """Mark events as durable."""
        records = list(records)
        with self.lock:
            self.store.admit(records)
            for number, _ in records:
                if not self._forget_unwritten(number):
                    # The relay sent the event from memory, and Kafka acknowledged it before the disk did.
                    self.store.forget([number])
                self._last_durable = number
            self.disk_problem = None
            self.to_relay.notify_all()
            self.settled.notify_all()

    def note_disk_problem(self, problem: str) -> None:
        """Record that the disk refuses the unwritten events; they stay in memory."""
        with self.lock:
            self.disk_problem = problem
            self.to_relay.notify_all()
        self.metrics.disk_errors.inc()

    def begin_anew(self, store: Store) -> int:
        """Copy the durable events to a new, empty file. The old file was deleted by somebody, but is still open.

        Returns:
            Number of events copied.

        Raises:
            OutboxUnusableError: the new file can't be written; nothing has changed.
        """
        after = moved = 0
        while held := self.store.read(after, max_events=_MOVED_AT_ONCE, max_bytes=_MAX_UNWRITTEN_BYTES):
            store.append(held)
            store.admit(held)
            after = held[-1][0]
            moved += len(held)
        with self.lock:
            old, self.store = self.store, store
            store.forget(set(store.numbers()).difference(old.numbers()))  # delivered or dropped meanwhile
            # The relay closes the emptied old file: at this moment it can still be reading there.
            old.forget(old.numbers())
            self.adopted.append(old)
        return moved

    def make_room(self) -> int:
        """Drop the oldest durable events while the size is above its limit; return their number."""
        with self.lock:
            stores = [*self.adopted, self.store]
        dropped = lost = 0
        for store in stores:
            if (excess := self.bytes - self.limits.max_bytes) > 0:
                gone = store.forget_oldest(excess)
                store.purge()
                dropped += gone
                lost += gone if store is self.store else 0
        if dropped:
            with self.lock:
                self.dropped += dropped
                self.lost += lost
                self.settled.notify_all()
            self.metrics.dropped[DropReason.FULL].inc(dropped)
        return dropped

    # Relaying

    def settle(self, store: Store, numbers: Iterable[int], *, delivered: bool) -> None:
        """Release events that Kafka has, or that will never be delivered."""
        numbers = list(numbers)
        with self.lock:
            count = store.forget(numbers)
            if store is self.store:
                count += sum(self._forget_unwritten(number) for number in numbers)
            if delivered:
                self.relayed += count
            else:
                self.dropped += count
                self.lost += count if store is self.store else 0
            counter = self.metrics.relayed if delivered else self.metrics.dropped[DropReason.TOO_LARGE]
            counter.inc(count)
            self.settled.notify_all()
        # Deletions from the own file are deferred: they can share the transaction and disk sync of the next event.
        if store is not self.store or store.owed >= _MAX_OWED:
            store.purge()

    def adopt(self, store: Store) -> None:
        """Take over the events of a dead outbox."""
        with self.lock:
            self.adopted.append(store)
        self.metrics.adopted.inc(store.count)

    def let_go(self, store: Store) -> None:
        """Close an adopted file. If it still has events, the next outbox takes it over."""
        with self.lock:
            self.adopted.remove(store)
        store.close()

    @property
    def newest_relayable(self) -> int:
        """Number of the last event that can be relayed: durable, or in memory while the disk refuses it."""
        return self._last if self.disk_problem is not None else self._last_durable

    def close(self) -> None:
        """Close all files."""
        for store in list(self.adopted):
            self.let_go(store)
        self.store.close()
        self.metrics.forget(self)

    # Counting and waiting

    @property
    def events(self) -> int:
        """Number of events held, in memory and on disk."""
        return len(self._unwritten) + self.store.count + sum(store.count for store in self.adopted)

    @property
    def bytes(self) -> int:
        """Size of the events held."""
        return self._unwritten_bytes + self.store.bytes + sum(store.bytes for store in self.adopted)

    def await_durable(self, timeout_seconds: float) -> int:
        """Wait until all events so far are on disk or delivered; return the number of events that are neither."""
        with self.lock:
            last = self._last
            self.settled.wait_for(lambda: not self._unwritten_until(last), timeout_seconds)
            return self._unwritten_until(last)

    def await_relayed(self, timeout_seconds: float) -> int:
        """Wait until Kafka has all events so far; return the number of this outbox's own events that Kafka lacks."""
        with self.lock:
            last = self._last
            self.settled.wait_for(lambda: not self._held_until(last), timeout_seconds)
            return len(self._unwritten) + self.store.count if self._held_until(last) else 0

    def _unwritten_until(self, last: int) -> int:
        first = next(iter(self._unwritten), None)
        return 0 if first is None or first > last else sum(number <= last for number in self._unwritten)

    def _held_until(self, last: int) -> bool:
        oldest = self.store.oldest()
        return bool(self._unwritten_until(last)) or (oldest is not None and oldest <= last)

    def _forget_unwritten(self, number: int) -> bool:
        record = self._unwritten.pop(number, None)
        if record is not None:
            self._unwritten_bytes -= size_of(record)
        return record is not None
