"""Chain: up to which micro-batch a query was emitted, over all its runs in this process, and what it was like then."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headwater_producers.spark.streaming.notes import Note, Notes
from headwater_schemas.events import EmissionReason

if TYPE_CHECKING:
    from headwater_schemas.events import IntervalEntry, Versions

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
