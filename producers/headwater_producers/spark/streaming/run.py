"""StreamRun: one start of a streaming query, its buffered intervals, and up to which micro-batch it was emitted.

    batch 7 8 9 10│11 12│13 …        a new plan in 11, a stop after 12
    event └──────┘ └───┘

A completed micro-batch is sent alone or with others in one IntervalEvent, a pack. It waits for others only if the one
before it ended within the last second; that of a slower query is sent at once. What is buffered is sent when it is many
or old enough, when the stream stops or is flushed, and before a micro-batch that isn't the next one. A change, of the
plan or of a quality assertion's result, doesn't wait: what came before it is sent, and so is the micro-batch that
brought it, under the change's name.

The last emitted micro-batch of each query is kept for the next process that starts it:

    <outbox>/<destination>/queries/<query id>.json

A checkpoint knows neither it nor its plan, quality and versions. That file decides two things alone: whether
micro-batches that were purged from the checkpoint are a gap, and whether the first micro-batch of a start is a change
of version. Nothing is left out because of it. It is written without waiting for the disk, and is as durable as the
outbox's path. Where there is none, nothing is known.
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
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from headwater_producers.outbox.locked_file import make_private
from headwater_producers.spark.connectors.answer import StreamLog
from headwater_producers.spark.events.datasets import schema_read, schema_written
from headwater_producers.spark.events.writes import Write, made_from
from headwater_producers.spark.plan import PlanDescription
from headwater_producers.spark.streaming.checkpoint import Checkpoint
from headwater_producers.spark.streaming.gaps import Gap
from headwater_producers.spark.streaming.interval import SinkCommits
from headwater_producers.spark.streaming.links import MicroBatch
from headwater_producers.spark.streaming.progress import Progress, StateTally
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    EmissionReason,
    IntervalEntry,
    JobRef,
    RunError,
    RunEventType,
    Versions,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Limits within which micro-batches may wait for one another.

    Attributes:
        max_batches: in one event; 1: none waits.
        max_seconds: from when the first one was added. One that ended so long after the one before it doesn't wait.
    """

    max_batches: int = 64
    max_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class ReadyInterval:
    """Consecutive micro-batches to be sent as one event.

    Attributes:
        entries: at least one.
        reason: why now.
        at: when the last one had ended.
    """

    entries: tuple[IntervalEntry, ...]
    reason: EmissionReason
    at: datetime


class IntervalBuffer:
    """The buffered micro-batches of one run that aren't sent yet.

    Args:
        coalescing: how long they may wait.
    """

    def __init__(self, coalescing: Coalescing) -> None:
        self._coalescing = coalescing
        self._entries: list[IntervalEntry] = []
        self._at: datetime | None = None
        self._since = 0.0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: IntervalEntry, at: datetime, change: EmissionReason | None, now: float) -> list[ReadyInterval]:
        """Buffers a micro-batch.

        Args:
            entry: the micro-batch.
            at: when it had ended.
            change: what it changes; None: nothing.
            now: monotonic seconds.

        Returns:
            What is to be sent, in order.
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
        """Seconds until something has waited long enough; infinite where nothing waits."""
        return max(0.0, self._since + self._coalescing.max_seconds - now) if self._entries else math.inf

    def overdue(self, now: float) -> list[ReadyInterval]:
        """Take the micro-batches that have waited long enough."""
        return [] if self.overdue_in(now) else self.take(EmissionReason.CHECKPOINT)

    def take(self, reason: EmissionReason) -> list[ReadyInterval]:
        """All that waits."""
        if not self._entries or self._at is None:
            return []
        due = ReadyInterval(tuple(self._entries), reason, self._at)
        self._entries = []
        return [due]


_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
# Queries that nobody has started for so long are forgotten: their files would only grow in number.
_KEPT_SECONDS: Final = 400 * 86_400.0

Quality = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEmitted:
    """Last emitted micro-batch of one query.

    Attributes:
        last: the last micro-batch emitted.
        plan_digest, quality, versions: of that one; `versions` as `version_text` has it, None where it isn't known.
    """

    last: int
    plan_digest: str | None = None
    quality: Quality = ()
    versions: str | None = None


class LastEmittedStore:
    """The last emitted micro-batch of each query, for one destination.

    The worker's alone; a disk that fails costs nothing but what it would have kept.

    Args:
        folder: may not exist; None: nothing is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}
        self._complained = False
        if folder is not None:
            self._forget_old(folder)

    def read(self, query_id: str) -> LastEmitted | None:
        """Read the note of the last process; None where it wrote none, or none that can be read."""
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
        """Replaces what was written of a query, all or nothing."""
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
            os.replace(part, path)  # noqa: PTH105 - for each micro-batch, where a Path takes as long as the disk
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
class Chain:
    """The micro-batches that this process has emitted of one query, over all its runs.

    Attributes:
        first, last: micro-batches, with all between them; None before any.
        noted: the last micro-batch that was sent, as far as this process or the one before has written that.
        plan_digest, quality, versions: of the last one emitted, by whichever process; `versions` is None where none was
            observed, or nobody has written it.
    """

    first: int | None = None
    last: int | None = None
    noted: int | None = None
    plan_digest: str | None = None
    quality: frozenset[tuple[str, bool]] = frozenset()
    versions: str | None = None

    @classmethod
    def after(cls, last: LastEmitted | None) -> Chain:
        """Chain of a query before this process emits any micro-batch; `last`: written by an earlier process."""
        if last is None:
            return cls()
        return cls(
            noted=last.last, plan_digest=last.plan_digest, quality=frozenset(last.quality), versions=last.versions
        )

    @property
    def emitted_until(self) -> int | None:
        """The last micro-batch emitted, by whichever process; None: not known."""
        known = [batch for batch in (self.last, self.noted) if batch is not None]
        return max(known, default=None)

    def sent(self, last: int) -> LastEmitted:
        """Micro-batches up to `last` are on their way; what is to be kept of that."""
        self.noted = max(last, self.noted if self.noted is not None else last)
        return LastEmitted(
            last=self.noted,
            plan_digest=self.plan_digest,
            quality=tuple(sorted(self.quality)),
            versions=self.versions,
        )

    def set_back(self, committed: int) -> None:
        """The query goes on after `committed`, whatever was emitted beyond it: somebody has set its checkpoint back."""
        if self.first is not None and self.last is not None:
            self.first, self.last = (self.first, committed) if self.first <= committed else (None, None)
        if self.noted is not None:
            self.noted = committed if committed >= 0 else None

    def add(self, batch_id: int) -> range:
        """A micro-batch is emitted; returns those right before it that weren't."""
        if self.first is None or self.last is None:
            self.first = self.last = batch_id
            return range(0)
        missed = range(self.last + 1, batch_id)
        self.last = max(self.last, batch_id)
        return missed

    def change(self, entry: IntervalEntry, versions: str) -> EmissionReason | None:
        """Compare a micro-batch with the last emitted one, and make it the last one; the reason to emit it, or None.

        Args:
            entry: the micro-batch.
            versions: it ran with, as `version_text` has them.
        """
        before = (self.plan_digest, self.versions, self.quality)
        quality = frozenset((result.assertion, result.passed) for result in entry.quality)
        # A foreachBatch function that wrote nothing, its frame being empty, gives no plan to compare.
        digest = entry.plan_digest or before[0]
        self.plan_digest, self.versions, self.quality = digest, versions, quality
        if before[1] is None:
            return None  # the first one, or the first that was observed
        if versions != before[1] or before[0] not in (None, digest):
            return EmissionReason.VERSION_CHANGE
        return EmissionReason.QUALITY_CHANGE if before[2] != quality else None

    def has(self, batch_id: int) -> bool:
        """True when this process has emitted the micro-batch."""
        return self.first is not None and self.last is not None and self.first <= batch_id <= self.last


class Chains:
    """The chains of an application's queries, by query id. Those of the latest starts are remembered.

    Args:
        store: what earlier processes have written.
    """

    def __init__(self, store: LastEmittedStore) -> None:
        self._store = store
        self._chains: OrderedDict[str, Chain] = OrderedDict()

    def of(self, query_id: str) -> Chain:
        """The chain of a query that starts."""
        if query_id not in self._chains:
            self._chains[query_id] = Chain.after(self._store.read(query_id))
        self._chains.move_to_end(query_id)
        if len(self._chains) > _REMEMBERED_QUERIES:
            self._chains.popitem(last=False)
        return self._chains[query_id]


def version_text(versions: Versions) -> str:
    """JSON text of a query's code, configuration and engine versions; another text means another version."""
    engine = versions.engine
    return json.dumps([versions.code, versions.config, engine and [engine.name, engine.version]])


WATERMARK_POLICY: Final = "spark.sql.streaming.multipleWatermarkPolicy"
"""Spark property that selects the least or the greatest of several watermarks: `min` or `max`."""
# Micro-batches kept after they were emitted, for writes that are reported late.
_REMEMBERED_BATCHES: Final = 16


class Query(Protocol):
    """A running streaming query."""

    def is_planned(self) -> bool:
        """True when `describe` has a plan to read."""

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        """Its plan; `topics` are those of the sources that subscribe to a pattern, by index."""

    def checkpoint_location(self) -> str | None:
        """Root of its checkpoint."""

    def sink_name(self) -> str:
        """Short name of its sink."""

    def sink_description(self) -> str:
        """Its sink as a progress describes it."""

    def sink_snapshots(self) -> StreamLog | None:
        """The snapshots that it makes, where its sink is an Iceberg table."""

    def is_continuous(self) -> bool:
        """True for a query with a continuous trigger."""

    def event_time(self) -> dict[str, Any]:
        """Watermarks and state, by its plan."""


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a run.

    Attributes:
        kind: a terminal state.
        error: why, where it failed.
        at: when that was observed.
        deadline: monotonic; by then it is emitted, whatever may still be on its way.
    """

    kind: RunEventType
    error: RunError | None
    at: datetime
    deadline: float


@dataclass(slots=True)
class StreamRun:
    """One start of a streaming query.

    Attributes:
        query_id, run_id, name: Spark's.
        started_at: when it started.
        query: the query itself; None where it was gone before it could be read.
        description: its plan, once it is known.
        job: its job, from when START was emitted.
        plan_digest: of the column lineage of its own plan.
        checkpoint: None where it has none or it isn't known.
        called: micro-batches that were handed to a foreachBatch function.
        writes: those made inside foreachBatch, by micro-batch.
        pending: committed micro-batches whose writes may not all have been reported yet; with the monotonic time by
            which they are emitted anyway.
        emitted: the last micro-batches that were emitted.
        last: the last of them; `batches` of this start were emitted, which read `rows_read` as far as is known.
        ending: how it has ended, while writes inside foreachBatch may still be reported.
        commits: of its sink; None while its plan isn't known.
        is_continuous: whether it reports no progress, and is backfilled from its checkpoint.
        event_time: watermarks and state, by its plan.
        state: what its stateful operators keep and have dropped.
        buffer: those of them that wait to be sent with others.
        chain: the emitted micro-batches of its query, by whichever run.
        reads: all datasets read so far.
        written: all datasets written so far, with what each was made from; None: from all that the run reads.
        schemas_read, schemas_written: digests of the schemas of those that have one, as they were seen last.
        left_out: micro-batches to backfill from the checkpoint, if nobody has emitted them by then: it had them when
            START was emitted, and they seemed to be the run's own, by the clock; or emitting them has failed.
        gaps: micro-batches of its query that can't be recovered any more, as far as this run has met them;
            `gaps_emitted` of them were emitted.
    """

    query_id: str
    run_id: str
    name: str | None
    started_at: datetime
    query: Query | None
    description: PlanDescription | None = None
    job: JobRef | None = None
    plan_digest: str | None = None
    checkpoint: Checkpoint | None = None
    called: set[int] = field(default_factory=set)
    writes: dict[int, list[Write]] = field(default_factory=dict)
    pending: dict[int, tuple[Progress, float]] = field(default_factory=dict)
    emitted: OrderedDict[int, Progress] = field(default_factory=OrderedDict)
    last: Progress | None = None
    batches: int = 0
    rows_read: int = 0
    ending: Ending | None = None
    commits: SinkCommits | None = None
    is_continuous: bool = False
    event_time: dict[str, Any] = field(default_factory=dict)
    state: StateTally = field(default_factory=StateTally)
    buffer: IntervalBuffer = field(default_factory=lambda: IntervalBuffer(Coalescing()))
    chain: Chain = field(default_factory=Chain)
    reads: set[DatasetRef] = field(default_factory=set)
    written: dict[DatasetRef, set[DatasetRef] | None] = field(default_factory=dict)
    schemas_read: dict[DatasetRef, str] = field(default_factory=dict)
    schemas_written: dict[DatasetRef, str] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    gaps_emitted: int = 0

    def take_left_out(self, before: int | None = None) -> list[int]:
        """Those left out and still not emitted; with its first micro-batch the run shows which were its own after all.

        Clocks are set back: what an earlier process planned may seem to be later than the run's start.
        """
        left, self.left_out = sorted(set(self.left_out)), []
        return [batch for batch in left if (before is None or batch < before) and not self.chain.has(batch)]

    def remember(self, progress: Progress) -> None:
        """A micro-batch was emitted; what is older than the last few is forgotten with its writes."""
        if progress.batch_id not in self.emitted:
            self.last = progress
            self.batches += 1
            self.rows_read += sum(source.rows or 0 for source in progress.sources)
        self.emitted[progress.batch_id] = progress
        while len(self.emitted) > _REMEMBERED_BATCHES:
            old, _ = self.emitted.popitem(last=False)
            self.writes.pop(old, None)
            self.called.discard(old)

    @property
    def has_patterns(self) -> bool:
        """True when one of its sources subscribes to a pattern of topics."""
        link = self.description.streaming if self.description is not None else None
        return link is not None and bool(link.pattern_sources)

    def read_topics(self, topics: Mapping[int, Collection[str]]) -> bool:
        """Describes the query anew where sources that subscribe to a pattern read other topics than it lists."""
        link = self.description.streaming if self.description is not None else None
        if self.query is None or self.description is None or link is None:
            return False
        inputs = self.description.inputs
        known = {
            index: {each.dataset.name for each in inputs if each.source_index == index}
            for index in link.pattern_sources
        }
        read = {index: names.union(topics.get(index, ())) for index, names in known.items()}
        if read == known:
            return False
        self.description = self.query.describe(read)
        return True

    def touch(self, description: PlanDescription, *, inside: bool = False) -> bool:
        """Adds a plan's datasets to those seen; whether the run has more datasets, sources or other schemas by that.

        Args:
            description: the plan.
            inside: whether it is of a write inside foreachBatch: others read and write beside it.
        """
        before = self._touched()
        self.reads.update(source.dataset for source in description.inputs)
        for source in description.inputs:
            if (digest := schema_read(source)) is not None:
                self.schemas_read[source.dataset] = digest
        sources = made_from(description) if inside else None
        for output in description.outputs:
            if (digest := schema_written(output)) is not None:
                self.schemas_written[output.dataset] = digest
            known = self.written.setdefault(output.dataset, set())
            if sources is None or known is None:
                self.written[output.dataset] = None
            else:
                known.update(sources)
        return before != self._touched()

    def _touched(self) -> tuple[object, ...]:
        sources = {output: made and len(made) for output, made in self.written.items()}
        return len(self.reads), sources, dict(self.schemas_read), dict(self.schemas_written)

    def inputs(self) -> tuple[DatasetUse, ...]:
        """The datasets read so far, without positions: those are in the intervals."""
        return tuple(
            DatasetUse(dataset=dataset, schema_digest=self.schemas_read.get(dataset)) for dataset in sorted(self.reads)
        )

    def outputs(self) -> tuple[DatasetUse, ...]:
        """The datasets written so far, each with what it was made from where that is known."""
        return tuple(
            DatasetUse(
                dataset=output,
                inputs=None if sources is None else tuple(sorted(sources)),
                schema_digest=self.schemas_written.get(output),
            )
            for output, sources in sorted(self.written.items())
        )


class Runs(dict[str, StreamRun]):
    """By run id, in the order of their starts."""

    def latest_of(self, query_id: str) -> StreamRun | None:
        """The latest run of a query, which is the only one that may be active."""
        return next((run for run in reversed(self.values()) if run.query_id == query_id), None)

    def executing(self, batch: MicroBatch) -> StreamRun | None:
        """The run that executes, or has executed, a micro-batch."""
        return self.latest_of(batch.query_id) if batch.run_id is None else self.get(batch.run_id)
