"""Buffered intervals, and up to which micro-batch a query was emitted.

    batch 7 8 9 10│11 12│13 …        a new plan in 11, a stop after 12
    event └──────┘ └───┘

A completed micro-batch is sent alone or with others in one IntervalEvent. What is buffered is sent when it is many or
old enough, when the stream stops or is flushed, and before a micro-batch that isn't the next one. A change, of the plan
or of a quality assertion's result, doesn't wait: what came before it is sent, and so is the micro-batch that brought
it, under the change's name.

The last emitted micro-batch of each query is kept for the next process that starts it:

    <outbox>/<destination>/queries/<query id>.json

A checkpoint knows neither it nor its plan, quality and versions. That file decides two things alone: whether
micro-batches that were purged from the checkpoint are a gap, and whether the first micro-batch of a start is a change
of version. Nothing is left out because of it. It is written without waiting for the disk, and is as durable as the
outbox's path. Where there is none, nothing is known.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from headwater_schemas.events import EmissionReason, IntervalEntry

if TYPE_CHECKING:
    from pathlib import Path

    from headwater_schemas.events import Versions

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Coalescing:
    """How long micro-batches may wait for one another.

    Attributes:
        max_batches: in one event; 1: none waits.
        max_seconds: from when the first one was added.
    """

    max_batches: int = 1
    max_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Due:
    """Consecutive micro-batches to be sent as one event.

    Attributes:
        entries: at least one.
        reason: why now.
        at: when the last one had ended.
    """

    entries: tuple[IntervalEntry, ...]
    reason: EmissionReason
    at: datetime


class Waiting:
    """The buffered micro-batches of one run that aren't sent yet.

    Args:
        coalescing: how long they may wait.
    """

    def __init__(self, coalescing: Coalescing) -> None:
        self._coalescing = coalescing
        self._entries: list[IntervalEntry] = []
        self._at: datetime | None = None
        self._since = 0.0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, entry: IntervalEntry, at: datetime, change: EmissionReason | None, now: float) -> list[Due]:
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
        if self._entries and (change is not None or entry.batch_id != self._entries[-1].batch_id + 1):
            out += self.take(EmissionReason.CHECKPOINT)
        if not self._entries:
            self._since = now
        self._entries.append(entry)
        self._at = at
        if change is not None:
            out += self.take(change)
        elif len(self._entries) >= self._coalescing.max_batches:
            out += self.take(EmissionReason.CHECKPOINT)
        return out

    def replace(self, entry: IntervalEntry) -> bool:
        """More has become known of a micro-batch; False where it was sent already."""
        for index, waiting in enumerate(self._entries):
            if waiting.batch_id == entry.batch_id:
                self._entries[index] = entry
                return True
        return False

    def overdue(self, now: float) -> list[Due]:
        """What has waited long enough."""
        if self._entries and now - self._since >= self._coalescing.max_seconds:
            return self.take(EmissionReason.CHECKPOINT)
        return []

    def take(self, reason: EmissionReason) -> list[Due]:
        """All that waits."""
        if not self._entries or self._at is None:
            return []
        due = Due(tuple(self._entries), reason, self._at)
        self._entries = []
        return [due]


_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
# Queries that nobody has started for so long are forgotten: their files would only grow in number.
_KEPT_SECONDS: Final = 400 * 86_400.0

Quality = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of one query.

    Attributes:
        last: the last micro-batch emitted.
        plan_digest, quality, versions: of that one; `versions` as `version_text` has it, None where it isn't known.
    """

    last: int
    plan_digest: str | None = None
    quality: Quality = ()
    versions: str | None = None


class Notes:
    """The notes of one destination. The worker's alone; a disk that fails costs nothing but the notes.

    Args:
        folder: may not exist; None: nothing is noted.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._complained = False
        if folder is not None:
            self._forget_old(folder)

    def read(self, query_id: str) -> Note | None:
        """What the last process has noted; None: nothing, or nothing that can be read."""
        if (path := self._path(query_id)) is None:
            return None
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            quality = tuple((str(name), bool(passed)) for name, passed in known["quality"])
            return Note(
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

    def write(self, query_id: str, note: Note) -> None:
        """Replaces what was noted of a query, all or nothing."""
        if (path := self._path(query_id)) is None:
            return
        part = path.with_suffix(".part")
        text = json.dumps(asdict(note))
        try:
            try:
                part.write_text(text, encoding="utf-8")
            except FileNotFoundError:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                part.write_text(text, encoding="utf-8")
            part.replace(path)
        except OSError as error:
            self._complain(error)

    def _path(self, query_id: str) -> Path | None:
        if self._folder is None or not _ID.fullmatch(query_id):
            return None
        return self._folder / f"{query_id}.json"

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


# Queries remembered after they ended, for their next start in the same application.
_REMEMBERED: Final = 1_000


@dataclass(slots=True)
class Chain:
    """The micro-batches that this process has emitted of one query, over all its runs.

    Attributes:
        first, last: micro-batches, with all between them; None before any.
        noted: the last micro-batch that was sent, as far as this process or the one before has noted that.
        plan_digest, quality, versions: of the last one emitted, by whichever process; `versions` is None where none was
            observed, or nobody has noted it.
    """

    first: int | None = None
    last: int | None = None
    noted: int | None = None
    plan_digest: str | None = None
    quality: frozenset[tuple[str, bool]] = frozenset()
    versions: str | None = None

    @classmethod
    def after(cls, note: Note | None) -> Chain:
        """Of a query of which this process hasn't emitted any yet; `note`: what another one has noted."""
        if note is None:
            return cls()
        return cls(
            noted=note.last, plan_digest=note.plan_digest, quality=frozenset(note.quality), versions=note.versions
        )

    @property
    def emitted_until(self) -> int | None:
        """The last micro-batch emitted, by whichever process; None: not known."""
        known = [batch for batch in (self.last, self.noted) if batch is not None]
        return max(known, default=None)

    def sent(self, last: int) -> Note:
        """Micro-batches up to `last` are on their way; what is to be noted of that."""
        self.noted = max(last, self.noted if self.noted is not None else last)
        return Note(
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
        """What a micro-batch changes against the one that was emitted before it; from now on it is the last one.

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
        """Whether this process has emitted it."""
        return self.first is not None and self.last is not None and self.first <= batch_id <= self.last


class Chains:
    """The chains of an application's queries, by query id. Those of the latest starts are remembered.

    Args:
        notes: what earlier processes have noted.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._chains: OrderedDict[str, Chain] = OrderedDict()

    def of(self, query_id: str) -> Chain:
        """The chain of a query that starts."""
        if query_id not in self._chains:
            self._chains[query_id] = Chain.after(self._notes.read(query_id))
        self._chains.move_to_end(query_id)
        if len(self._chains) > _REMEMBERED:
            self._chains.popitem(last=False)
        return self._chains[query_id]


def version_text(versions: Versions) -> str:
    """What makes two starts of a query different ones: code, configuration and engine."""
    engine = versions.engine
    return json.dumps([versions.code, versions.config, engine and [engine.name, engine.version]])
