"""Interval events of a streaming query: its buffered micro-batches, and the record of its last emitted one.

    batch 7 8 9 10│11│12│13 …        a new plan in 11, a stop after 12
    event └──────┘ └┘ └┘

A completed micro-batch is sent alone or with others in one IntervalEvent. It waits for others only if the previous one
ended within the last second; micro-batches of slower queries are sent at once. The buffer is sent when it is full or
old enough, when the stream stops or is flushed, and before a micro-batch that isn't the next one. A change of the plan
or of a quality assertion's result doesn't wait: the buffer is sent, and so is the micro-batch with the change, with the
change as the reason.

The last emitted micro-batch of each query is kept for the next process that starts it:

    <outbox>/<destination>/queries/<query id>.json

The checkpoint records neither the last emitted micro-batch nor its plan, quality and versions. The file only decides
whether micro-batches that were purged from the checkpoint are a gap, and whether the first micro-batch of a start
changes the version. No event is left out because of the file. It is written without waiting for the disk, and is as
durable as the outbox's path. Without the file, the last emitted micro-batch is unknown.
"""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from headwater_producers.outbox.locked_file import make_private
from headwater_producers.spark.events.context import Emit, EventContext
from headwater_producers.spark.streaming.checkpoint import StreamCheckpoint
from headwater_schemas.codec import encode
from headwater_schemas.events import (
    EmissionReason,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    Provenance,
    RunRef,
    Versions,
    build,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Limits of buffering micro-batches for one event.

    Attributes:
        max_batches: maximum number of micro-batches in one event; 1: none waits.
        max_seconds: maximum wait of the first micro-batch in the buffer. A micro-batch that ended this long after the
            previous one doesn't wait.
    """

    max_batches: int = 64
    max_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class ReadyInterval:
    """Consecutive micro-batches to be sent as one event.

    Attributes:
        reason: reason for sending them now.
    """

    entries: tuple[IntervalEntry, ...]
    reason: EmissionReason
    at: datetime


class IntervalBuffer:
    """Buffer of one run's micro-batches that aren't sent yet."""

    def __init__(self, coalescing: Coalescing) -> None:
        self._coalescing = coalescing
        self._entries: list[IntervalEntry] = []
        self._at: datetime | None = None
        self._since = 0.0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: IntervalEntry, at: datetime, change: EmissionReason | None, now: float) -> list[ReadyInterval]:
        """Buffer a micro-batch.

        Args:
            change: reason for sending it at once; None if nothing changed.
            now: monotonic seconds.

        Returns:
            The intervals to be sent, in order.
        """
        out = []
        follows_fast = self._at is not None and (at - self._at).total_seconds() < self._coalescing.max_seconds
        if self._entries and (change is not None or entry.batch_id != self._entries[-1].batch_id + 1):
            out += self.take(EmissionReason.CHECKPOINT)
        if not self._entries:
            self._since = now
        self._entries.append(entry)
        self._at = at
        if change is not None:
            out += self.take(change)
        elif not follows_fast or len(self._entries) >= self._coalescing.max_batches:
            out += self.take(EmissionReason.CHECKPOINT)
        return out

    def overdue_in(self, now: float) -> float:
        """Return the seconds until the buffer is due; infinite if it is empty."""
        return max(0.0, self._since + self._coalescing.max_seconds - now) if self._entries else math.inf

    def overdue(self, now: float) -> list[ReadyInterval]:
        """Take the buffered micro-batches if they are due."""
        return [] if self.overdue_in(now) else self.take(EmissionReason.CHECKPOINT)

    def take(self, reason: EmissionReason) -> list[ReadyInterval]:
        """Take all micro-batches."""
        if not self._entries or self._at is None:
            return []
        due = ReadyInterval(tuple(self._entries), reason, self._at)
        self._entries = []
        return [due]


_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
# Queries that weren't started for this time are forgotten, so that their files don't accumulate.
_KEPT_SECONDS: Final = 400 * 86_400.0

Quality = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEmitted:
    """Last emitted micro-batch of one query.

    Attributes:
        plan_digest, quality, versions: facts of that micro-batch; `versions` as from `version_text`, None if unknown.
    """

    last: int
    plan_digest: str | None = None
    quality: Quality = ()
    versions: str | None = None


class LastEmittedStore:
    """Store of the last emitted micro-batch of each query, for one destination.

    Only for the worker's thread. If the disk fails, only the records are lost.

    Args:
        folder: folder of the records, which needn't exist; None: no records are kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}
        self._complained = False
        if folder is not None:
            self._forget_old(folder)

    def read(self, query_id: str) -> LastEmitted | None:
        """Read the record of the last process; None if it is missing or unreadable."""
        if (path := self._path(query_id)) is None:
            return None
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            quality = tuple((str(name), bool(passed)) for name, passed in known["quality"])
            return LastEmitted(
                last=int(known["last"]),
                plan_digest=known["plan_digest"],
                quality=quality,
                versions=known["versions"],
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._complain(error)
            return None

    def write(self, query_id: str, last: LastEmitted) -> None:
        """Replace the record of a query, all or nothing."""
        if (path := self._path(query_id)) is None:
            return
        part = f"{path}.part"
        text = json.dumps(
            {
                "last": last.last,
                "plan_digest": last.plan_digest,
                "quality": last.quality,
                "versions": last.versions,
            }
        ).encode()
        try:
            try:
                _write(part, text)
            except FileNotFoundError:
                make_private(path.parent)
                _write(part, text)
            os.replace(part, path)  # noqa: PTH105 - runs for each micro-batch; a Path takes as long as the disk
        except OSError as error:
            self._complain(error)

    def _path(self, query_id: str) -> Path | None:
        if query_id not in self._paths and self._folder is not None and _ID.fullmatch(query_id):
            if len(self._paths) >= _REMEMBERED_QUERIES:
                self._paths.clear()
            self._paths[query_id] = self._folder / f"{query_id}.json"
        return self._paths.get(query_id)

    def _forget_old(self, folder: Path) -> None:
        oldest = time.time() - _KEPT_SECONDS
        with suppress(OSError):
            for path in folder.iterdir():
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            logger.warning(
                "lineage capture: the last emitted micro-batch can't be saved (%s); after a crash, gaps are reported "
                "as unknown",
                error,
            )


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(file, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(file)


# Queries remembered after they ended, for their next start in the same application.
_REMEMBERED_QUERIES: Final = 1_000


@dataclass(slots=True)
class EmittedChain:
    """Chain of the micro-batches that this process has emitted of one query, over all its runs.

    Attributes:
        first, last: first and last of consecutive micro-batches; None before any.
        noted: last micro-batch that this or the previous process has recorded as sent.
        plan_digest, quality, versions: facts of the last emitted micro-batch of any process; `versions` is None if
            unknown.
    """

    first: int | None = None
    last: int | None = None
    noted: int | None = None
    plan_digest: str | None = None
    quality: frozenset[tuple[str, bool]] = frozenset()
    versions: str | None = None

    @classmethod
    def after(cls, last: LastEmitted | None) -> EmittedChain:
        """Return the chain before this process emits any micro-batch; `last`: the record of an earlier process."""
        if last is None:
            return cls()
        return cls(
            noted=last.last, plan_digest=last.plan_digest, quality=frozenset(last.quality), versions=last.versions
        )

    @property
    def emitted_until(self) -> int | None:
        """Last micro-batch emitted by any process; None if unknown."""
        known = [batch for batch in (self.last, self.noted) if batch is not None]
        return max(known, default=None)

    def sent(self, last: int) -> LastEmitted:
        """Record that micro-batches up to `last` are being sent; return the record to store."""
        self.noted = max(last, self.noted if self.noted is not None else last)
        return LastEmitted(
            last=self.noted,
            plan_digest=self.plan_digest,
            quality=tuple(sorted(self.quality)),
            versions=self.versions,
        )

    def set_back(self, committed: int) -> None:
        """Go back to `committed`, even if later micro-batches were emitted: the checkpoint was rewound."""
        if self.first is not None and self.last is not None:
            self.first, self.last = (self.first, committed) if self.first <= committed else (None, None)
        if self.noted is not None:
            self.noted = committed if committed >= 0 else None

    def add(self, batch_id: int) -> range:
        """Record an emitted micro-batch; return the ids of unemitted micro-batches right before it."""
        if self.first is None or self.last is None:
            self.first = self.last = batch_id
            return range(0)
        missed = range(self.last + 1, batch_id)
        self.last = max(self.last, batch_id)
        return missed

    def change(self, entry: IntervalEntry, versions: str) -> EmissionReason | None:
        """Record a micro-batch as the last one; return the reason for sending it at once, if it brings a change."""
        before = (self.plan_digest, self.versions, self.quality)
        quality = frozenset((result.assertion, result.passed) for result in entry.quality)
        # A foreachBatch function that wrote nothing, because its frame was empty, has no plan to compare.
        digest = entry.plan_digest or before[0]
        self.plan_digest, self.versions, self.quality = digest, versions, quality
        if before[1] is None:
            return None  # the query's first micro-batch, or the first after one whose versions are unknown
        if versions != before[1] or before[0] not in (None, digest):
            return EmissionReason.VERSION_CHANGE
        return EmissionReason.QUALITY_CHANGE if before[2] != quality else None

    def has(self, batch_id: int) -> bool:
        """Return True if this process has emitted the micro-batch."""
        return self.first is not None and self.last is not None and self.first <= batch_id <= self.last


class EmittedChains:
    """Chains of an application's queries, by query id. Only the latest started queries are remembered.

    Args:
        store: records of earlier processes.
    """

    def __init__(self, store: LastEmittedStore) -> None:
        self._store = store
        self._chains: OrderedDict[str, EmittedChain] = OrderedDict()

    def of(self, query_id: str) -> EmittedChain:
        """Return the chain of a query that starts."""
        if query_id not in self._chains:
            self._chains[query_id] = EmittedChain.after(self._store.read(query_id))
        self._chains.move_to_end(query_id)
        if len(self._chains) > _REMEMBERED_QUERIES:
            self._chains.popitem(last=False)
        return self._chains[query_id]


def version_text(versions: Versions) -> str:
    """Return a query's code, configuration and engine versions as JSON; another text means another version."""
    engine = versions.engine
    return json.dumps([versions.code, versions.config, engine and [engine.name, engine.version]])


@dataclass(slots=True, kw_only=True)
class QueryRun:
    """One start of a streaming query: its identity, and its emitted and buffered micro-batches.

    Attributes:
        query_id, run_id, name: Spark's ids and name of the query.
        job: job of the query; None before START is emitted.
        checkpoint: root of the checkpoint; None if unknown.
        buffer: micro-batches that wait to be sent with others.
    """

    query_id: str
    run_id: str
    name: str | None
    started_at: datetime
    job: JobRef | None = None
    checkpoint: StreamCheckpoint | None = None
    buffer: IntervalBuffer = field(default_factory=lambda: IntervalBuffer(Coalescing()))
    chain: EmittedChain = field(default_factory=EmittedChain)

    def known_job(self) -> JobRef:
        """Return the job.

        Raises:
            RuntimeError: START wasn't emitted yet.
        """
        if self.job is None:
            raise RuntimeError(f"run {self.run_id}: START must be emitted first")
        return self.job


class IntervalSender:
    """Sender of micro-batches, alone or several in one event.

    Args:
        emit: function that emits an event; returns False if refused.
    """

    def __init__(self, context: EventContext, emit: Emit, store: LastEmittedStore) -> None:
        self._context = context
        self._versions = version_text(context.versions)
        self._emit = emit
        self._store = store

    def add(self, run: QueryRun, entry: IntervalEntry, ended: datetime, *, now: float, waits: bool) -> None:
        """Buffer a new micro-batch, and send the micro-batches that are due.

        Args:
            now: monotonic seconds.
            waits: True if it may wait for others.
        """
        due = run.buffer.add(entry, ended, run.chain.change(entry, self._versions), now)
        if not waits:
            due += run.buffer.take(EmissionReason.CHECKPOINT)
        self.send(run, due)

    def add_again(self, run: QueryRun, entry: IntervalEntry, at: datetime) -> None:
        """Send a micro-batch again, with the sink commits that are known now."""
        due = run.buffer.take(EmissionReason.CHECKPOINT)
        self.send(run, [*due, ReadyInterval((entry,), EmissionReason.SINK_COMMIT, at)])

    def send(self, run: QueryRun, due: Iterable[ReadyInterval]) -> None:
        """Emit the intervals that are due."""
        for each in due:
            taken = [self._emit(event) for event in fitting(each.entries, partial(self._event, run, each))]
            if False not in taken:
                self._store.write(run.query_id, run.chain.sent(each.entries[-1].batch_id))

    def _event(self, run: QueryRun, due: ReadyInterval, entries: Sequence[IntervalEntry]) -> LineageEvent:
        body = IntervalEvent(
            query_id=run.query_id,
            entries=tuple(entries),
            query_name=run.name,
            checkpoint_location=run.checkpoint.root.path if run.checkpoint is not None else None,
            versions=self._context.versions,
            reason=due.reason,
            provenance=Provenance.OBSERVED,
        )
        return build.lineage_event(
            body,
            job=run.known_job(),
            run=RunRef(run.run_id),
            producer=self._context.producer,
            event_time=due.at,
            tenant=self._context.tenant,
        )


# A quarter of the topic's default limit: 50 micro-batches of 64 partitions, or 10 of 100 files.
MAX_BYTES: Final = 256 * 1024


def fitting(
    entries: Sequence[IntervalEntry],
    event_of: Callable[[Sequence[IntervalEntry]], LineageEvent],
    max_bytes: int = MAX_BYTES,
) -> Iterator[LineageEvent]:
    """Yield consecutive micro-batches as one event, or as several if one would exceed `max_bytes`.

    A micro-batch is never divided: the publisher refuses a single one that is too large.
    """
    event = event_of(entries)
    if len(entries) == 1 or len(encode(event)) <= max_bytes:
        yield event
        return
    middle = len(entries) // 2
    yield from fitting(entries[:middle], event_of, max_bytes)
    yield from fitting(entries[middle:], event_of, max_bytes)
