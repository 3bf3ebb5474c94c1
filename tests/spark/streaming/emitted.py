"""Emitted micro-batches of a query, as lines of text.

    0 read in 0:[0,3) 1:[0,2) rows=5
    0 wrote out delta@4 STREAMING UPDATE rows=5 files=1 +bytes
    1 read table delta after 3 to 4:2 UPPER_BOUND

A certainty is shown where it isn't EXACT. Ids that are drawn by lot are numbered as they come: `S1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater_schemas.events import Certainty, DatasetUse, IntervalEntry, LineageEvent, Position, Provenance
from headwater_schemas.ranges import partition_text


@dataclass
class Lines:
    """Shortens names by a case's prefix and folder."""

    prefix: str
    _lots: dict[str, str] = field(default_factory=dict)

    def of(self, entries: Iterable[IntervalEntry]) -> list[str]:
        found = []
        for entry in entries:
            found += [f"{entry.batch_id} read {self._use(use)}" for use in entry.inputs]
            found += [f"{entry.batch_id} wrote {self._use(use)}" for use in entry.outputs]
            if not entry.inputs:
                found.append(f"{entry.batch_id} read nothing that is known")
        return found

    def _use(self, use: DatasetUse) -> str:
        name = use.dataset.name.rstrip("/").rsplit("/", 1)[-1]
        name = name.removeprefix(f"{self.prefix}-").replace(re.sub(r"\W", "_", f"{self.prefix}_"), "")
        words = [name, *self._position(use.position)]
        if use.position is not None and use.certainty is not Certainty.EXACT:
            words.append(use.certainty.value)
        words += [f"{what}={count}" for what, count in (("rows", use.rows), ("files", use.files)) if count is not None]
        return " ".join([*words, *(["+bytes"] if use.bytes is not None else [])])

    def _position(self, position: Position | None) -> list[str]:
        if position is None:
            return ["?"]
        if position.kafka is not None:
            return [partition_text(part.partition, part.from_, part.to_exclusive) for part in position.kafka.ranges]
        if position.table_range is not None:
            part = position.table_range
            after = ["after", self._bound(part.from_)] if part.from_ is not None else []
            return [part.format, *after, "to", self._bound(part.to)]
        if position.table_snapshot is not None:
            snapshot = position.table_snapshot
            return [f"{snapshot.format}@{self._bound(snapshot.snapshot_id)}", snapshot.operation or "?"]
        if position.files is not None:
            return ["the files"]
        if position.opaque is not None:
            return [f"{_json(position.opaque.from_json)}→{_json(position.opaque.to_json)}"]
        return ["position"]

    def _bound(self, text: str) -> str:
        """Delta's versions are small numbers, Iceberg's are drawn."""
        version, colon, files = text.partition(":")
        if len(version) > 4:
            version = self._lots.setdefault(version, f"S{len(self._lots) + 1}")
        return f"{version}{colon}{files}"


def _json(text: str | None) -> str:
    # Times differ from run to run.
    return "…" if text is None else re.sub(r"\d{6,}", "…", text)


def observed(events: Iterable[LineageEvent], query_id: str, how: Provenance) -> dict[int, IntervalEntry]:
    """The micro-batches of a query by their ids, as they were emitted last."""
    return {
        entry.batch_id: entry
        for event in events
        if event.interval_event and event.interval_event.query_id == query_id
        if event.interval_event.provenance is how
        for entry in event.interval_event.entries
    }


def event_ids(events: Iterable[LineageEvent], query_id: str) -> dict[int, str]:
    """The event of each micro-batch that was emitted alone."""
    return {
        event.interval_event.entries[0].batch_id: event.event_id
        for event in events
        if event.interval_event and event.interval_event.query_id == query_id
        if len(event.interval_event.entries) == 1
    }
